//! The environment: boundary solvers with connection pools, retries and limits, and rollouts against them.

use crate::coroutine::coroutine;
use crate::data::SavedRollout;
use crate::errors::{config_error, model_failure, rollout_failure, value_error, with_hint};
use crate::folder::RunFolder;
use crate::history::History;
use crate::judge::{PolicyCache, PolicyEndpoint};
use crate::novelty::Novelty;
use crate::pool::pool;
use crate::process::{Computation, PerProcess};
use crate::rollout::{Episode, Players};
use crate::sampling::AskerSampling;
use crate::session::Session;
use crate::source::{Source, warn};
use crate::{AsPython, episode, save};
use aske_bench::{Budget, CallError, Caller, Dialogue, PairSchedule, manifest, provider};
use aske_config::{ConfigError, Layers, Origin, ProviderKind, Settings};
use aske_model::{Halt, HttpClient, Limits, Model};
use aske_record::{PairId, RunError, SessionId};
use aske_session::Seed;
use futures_util::future::join_all;
use parking_lot::Mutex;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Idle connections per host.
const POOL: usize = 512;

/// Attempts of a call to a server that has never responded, as many as the program makes before a run.
pub(crate) const FIRST_ATTEMPTS: u32 = 3;

/// Ask-E with the boundary solvers of a configuration. Create one per process and share it between rollouts.
///
/// A copy made by pickling loads the configuration again, in the process that unpickles it. In a forked process the
/// environment opens connections of its own, and its limits hold for that process.
#[pyclass(frozen, module = "aske_env")]
pub(crate) struct Environment {
    source: Arc<Source>,
    settings: Arc<Settings>,
    folder: Option<PathBuf>,
    inner: PerProcess<Arc<Inner>>,
}

pub(crate) struct Inner {
    pub(crate) settings: Arc<Settings>,
    layers: Layers,
    http: HttpClient,
    /// Boundary solvers, and the cross-check solver if it is not the policy.
    models: BTreeMap<String, Arc<Model>>,
    /// The configured asker, if a rollout has needed it.
    asker: OnceLock<Arc<Model>>,
    policies: PolicyCache,
    /// The limits of the policy's calls.
    policy_limits: Limits,
    /// The history of all workers' questions, and the weight of novelty.
    pub(crate) history: Option<(History, f64)>,
    /// The history of this environment's questions, if it was needed.
    novelty: OnceLock<Novelty>,
    pub(crate) folder: Option<Arc<RunFolder>>,
    /// The next sample of each pair.
    next: Mutex<HashMap<PairId, u32>>,
    budget: Budget,
    pub(crate) halt: Halt,
}

/// Where a rollout's asker is, and how it samples.
struct Policy {
    asker: Option<PolicyEndpoint>,
    judge: Option<PolicyEndpoint>,
    sampling: AskerSampling,
}

impl Policy {
    /// The asker is the configured one without `url`.
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        url: Option<String>,
        model: Option<String>,
        key: Option<String>,
        judge_url: Option<String>,
        judge_key: Option<String>,
        cache_salt: Option<String>,
        sampling: Option<&Bound<'_, PyAny>>,
        headers: Option<BTreeMap<String, String>>,
        judge_headers: Option<BTreeMap<String, String>>,
    ) -> PyResult<Self> {
        let (headers, judge_headers) = (headers.unwrap_or_default(), judge_headers.unwrap_or_default());
        let sampling = AskerSampling::read(sampling)?;
        let Some(model) = model else {
            if url.is_some() || judge_url.is_some() {
                return Err(PyValueError::new_err(
                    "`url` and `judge_url` need `model`, the name that the server knows",
                ));
            }
            if !sampling.extra_body.is_empty() {
                let hint = "hint: for the configured asker, set models.NAME.extra_body in the options";
                return Err(PyValueError::new_err(format!("extra_body needs `url`\n{hint}")));
            }
            return Ok(Self { asker: None, judge: None, sampling });
        };
        let at = |url, key, headers, salt| PolicyEndpoint {
            url,
            model: model.clone(),
            key,
            headers,
            salt,
            extra: String::new(),
        };
        let judge = match (judge_url, &url) {
            (Some(url), _) => Some(at(url, judge_key, judge_headers, cache_salt)),
            (None, Some(url)) => Some(at(url.clone(), key.clone(), headers.clone(), cache_salt)),
            (None, None) => {
                return Err(PyValueError::new_err("`model` needs `url`, the address of its server"));
            }
        };
        let extra = serde_json::Value::Object(sampling.extra_body.clone()).to_string();
        let asker = url.map(|url| PolicyEndpoint { extra, ..at(url, key, headers, None) });
        Ok(Self { asker, judge, sampling })
    }

    /// Where the policy is called, if that is not in the configuration.
    fn urls(&self) -> Vec<String> {
        let both = [&self.asker, &self.judge].into_iter().flatten();
        let mut urls: Vec<String> = both.map(|endpoint| endpoint.url.clone()).collect();
        urls.dedup();
        urls
    }
}

#[pymethods]
impl Environment {
    /// The environment of a configuration: a bundled one, a file, or a dictionary with what a file would contain. `options`
    /// override it, as texts `KEY=VALUE` or a dictionary from dotted keys to values.
    /// The diversity reward over several processes needs a history of questions, kept by `aske serve env` at `diversity_url`.
    /// With `folder`, every reply is stored in this run folder before it is used.
    #[new]
    #[pyo3(
        signature = (config = None, options = None, diversity_url = None, folder = None),
        text_signature = "(config='paper-train', options=(), diversity_url=None, folder=None)"
    )]
    fn new(
        py: Python<'_>,
        config: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyAny>>,
        diversity_url: Option<String>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        // Found again from another working directory.
        let folder = folder.map(|folder| std::path::absolute(&folder).unwrap_or(folder));
        let environment = Self::load(py, Source::new(config, options, diversity_url)?, folder)?;
        environment.inner(py)?;
        Ok(environment)
    }

    /// Every pair of boundary solvers, as `a:b`: in the order of the configuration, or `shuffled` as the seed determines, which
    /// is the order of the first epoch of `aske train`.
    #[pyo3(signature = (*, shuffled = false))]
    fn pairs(&self, shuffled: bool) -> Vec<String> {
        let names: Vec<&str> = self.settings.solvers.iter().map(|solver| solver.model.as_str()).collect();
        let pairs: Vec<PairId> = PairId::all(&names).collect();
        if !shuffled {
            return pairs.iter().map(ToString::to_string).collect();
        }
        // The first epoch does not depend on the number of groups per step.
        let count = pairs.len();
        let epoch = PairSchedule::new(pairs, self.settings.run.seed, count, 1).step(0);
        epoch.iter().flat_map(|group| &group.sessions).map(|session| session.id.pair.to_string()).collect()
    }

    /// The seed of the run, which determines the order of pairs, which solver is Model 1, and every draw.
    #[getter]
    fn seed(&self) -> u64 {
        self.settings.run.seed
    }

    /// Whether the policy is its own cross-check solver.
    #[getter]
    fn self_judged(&self) -> bool {
        self.settings.check.model == self.settings.asker.model
    }

    /// Token limits of the asker's probing turns and of its final turn.
    #[getter]
    fn asker_tokens(&self) -> (u32, u32) {
        (self.settings.protocol.asker_tokens, self.settings.protocol.asker_final_tokens)
    }

    /// A session whose calls you make yourself.
    pub(crate) fn session(&self) -> Session {
        Session::new(self.source.clone(), &self.settings)
    }

    /// Runs one session with the asker at `url`, or the configured one, and all other models as configured. Coroutine: returns
    /// a dictionary, or raises `RolloutFailure` if infrastructure failed. Without `sample` it is the pair's next one. A
    /// self-judge is called at `judge_url`, or at `url`. `sampling` is laid over the asker's configured one.
    #[pyo3(signature = (pair, sample = None, *, url = None, model = None, key = None, judge_url = None, judge_key = None, cache_salt = None, sampling = None, headers = None, judge_headers = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn rollout<'py>(
        &self,
        py: Python<'py>,
        pair: &str,
        sample: Option<u32>,
        url: Option<String>,
        model: Option<String>,
        key: Option<String>,
        judge_url: Option<String>,
        judge_key: Option<String>,
        cache_salt: Option<String>,
        sampling: Option<&Bound<'py, PyAny>>,
        headers: Option<BTreeMap<String, String>>,
        judge_headers: Option<BTreeMap<String, String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let policy =
            Policy::new(url, model, key, judge_url, judge_key, cache_salt, sampling, headers, judge_headers)?;
        let inner = self.inner(py)?;
        let episode = inner.played(pair, sample, &policy)?;
        let urls = policy.urls();
        coroutine(py, async move {
            let rollout = inner.play(&episode).await;
            rollout.map(AsPython).map_err(|error| call_error(&inner, &error, &urls))
        })
    }

    /// Runs `size` sessions of one pair, its samples from `first` or the next ones. Coroutine: returns the finished rollouts,
    /// without those that failed; raises `RolloutFailure` if all failed.
    #[pyo3(signature = (pair, size, first = None, *, url = None, model = None, key = None, judge_url = None, judge_key = None, cache_salt = None, sampling = None, headers = None, judge_headers = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn group<'py>(
        &self,
        py: Python<'py>,
        pair: &str,
        size: u32,
        first: Option<u32>,
        url: Option<String>,
        model: Option<String>,
        key: Option<String>,
        judge_url: Option<String>,
        judge_key: Option<String>,
        cache_salt: Option<String>,
        sampling: Option<&Bound<'py, PyAny>>,
        headers: Option<BTreeMap<String, String>>,
        judge_headers: Option<BTreeMap<String, String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let policy =
            Policy::new(url, model, key, judge_url, judge_key, cache_salt, sampling, headers, judge_headers)?;
        let inner = self.inner(py)?;
        let last = first.unwrap_or(0).checked_add(size);
        last.ok_or_else(|| PyValueError::new_err("the last sample of the group would be above 4294967295"))?;
        let sample = |at: u32| first.map(|first| first + at);
        let episodes = (0..size).map(|at| inner.played(pair, sample(at), &policy));
        let episodes = episodes.collect::<PyResult<Vec<_>>>()?;
        let urls = policy.urls();
        coroutine(py, async move {
            let ended = join_all(episodes.iter().map(|episode| inner.play(episode))).await;
            let (mut rollouts, mut failure) = (Vec::new(), None);
            for end in ended {
                match end {
                    Ok(rollout) => rollouts.push(rollout),
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            match failure {
                Some(error) if rollouts.is_empty() => Err(call_error(&inner, &error, &urls)),
                _ => Ok(AsPython(rollouts)),
            }
        })
    }

    /// A session whose asker is the caller: `await episode.step(reply)`. Without `sample` it is the pair's next one. A
    /// self-judge is called at `judge_url`; without one, the caller judges too. `sampling` and its `max_tokens` are recorded.
    #[pyo3(signature = (pair, sample = None, *, model = None, judge_url = None, judge_key = None, cache_salt = None, sampling = None, judge_headers = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn episode(
        &self,
        py: Python<'_>,
        pair: &str,
        sample: Option<u32>,
        model: Option<String>,
        judge_url: Option<String>,
        judge_key: Option<String>,
        cache_salt: Option<String>,
        sampling: Option<&Bound<'_, PyAny>>,
        judge_headers: Option<BTreeMap<String, String>>,
    ) -> PyResult<episode::Episode> {
        let policy =
            Policy::new(None, model, None, judge_url, judge_key, cache_salt, sampling, None, judge_headers)?;
        let inner = &self.inner(py)?;
        let unused = |name: &str| {
            let folder = inner.folder.as_ref();
            folder.is_none_or(|folder| !folder.is_taken(name) && !folder.dir.calls().known.contains(name))
        };
        let id = inner.session_id(pair, sample, unused)?;
        let [one, two] = id.solvers(Seed(inner.settings.run.seed));
        let check = match &policy.judge {
            _ if !inner.is_self_judged() => Some(inner.find(&inner.settings.check.model)?),
            Some(judge) => Some(inner.connect(judge)?),
            None => None,
        };
        let players = Players { asker: None, solvers: [inner.find(&one)?, inner.find(&two)?], check };
        let claim = inner.claim(&id)?;
        let sampling = policy.sampling;
        episode::Episode::new(py, Episode::new(inner.clone(), id, players, sampling, claim))
    }

    /// Sets novelty, diversity reward and total of these rollouts, in place: their final questions are compared with each
    /// other and with those of earlier calls.
    #[expect(clippy::needless_pass_by_value, reason = "Python's list arrives as a vector")]
    fn score_diversity(&self, py: Python<'_>, rollouts: Vec<Bound<'_, PyDict>>) -> PyResult<()> {
        let inner = self.inner(py)?;
        if inner.history.is_some() {
            let hint = "hint: for scores of whole batches, leave diversity_url out";
            let what = "with diversity_url every rollout is scored when it ends";
            return Err(PyValueError::new_err(format!("{what}\n{hint}")));
        }
        let mut questions = Vec::new();
        for rollout in &rollouts {
            questions.push(field(rollout, "question")?.extract::<Option<String>>()?);
        }
        let texts: Vec<&str> = questions.iter().flatten().map(String::as_str).collect();
        let novelty = inner.novelty()?;
        let scores = py.detach(|| novelty.add(&texts)).map_err(PyValueError::new_err)?;
        let mut scores = scores.into_iter();
        let alpha = inner.layers.config().train.diversity_coef;
        for (rollout, question) in rollouts.iter().zip(&questions) {
            let novelty = question.as_ref().and_then(|_| scores.next()).unwrap_or(0.0);
            let reward = field(rollout, "reward")?.cast_into::<PyDict>()?;
            let part = |name: &str| field(&reward, name)?.extract::<f64>();
            let (calibration, format) = (part("calibration")?, part("format")?);
            let without = aske_session::Reward { calibration, format, diversity: 0.0 };
            let reward_with = without.with_novelty(alpha * novelty);
            reward.set_item("diversity", reward_with.diversity)?;
            rollout.set_item("novelty", novelty)?;
            rollout.set_item("total", reward_with.total())?;
        }
        Ok(())
    }

    /// Writes finished rollouts to a run folder, which is created or continued, and returns how many are new in it. The
    /// replies are played again and must be those of this configuration; nothing is written if one is not.
    #[expect(clippy::needless_pass_by_value, reason = "a path of Python arrives as a value")]
    fn save_run(&self, py: Python<'_>, folder: PathBuf, rollouts: &Bound<'_, PyAny>) -> PyResult<usize> {
        let rollouts = rollouts.try_iter()?.map(|rollout| SavedRollout::read(&rollout?));
        let rollouts = rollouts.collect::<PyResult<Vec<_>>>()?;
        let inner = &self.inner(py)?;
        let pool = pool(py)?;
        let checked = py.detach(|| {
            let _computation = Computation::begin();
            save::checked(inner, &rollouts)
        })?;
        let write = || {
            let _computation = Computation::begin();
            let own = inner.folder.clone().filter(|own| is_same_folder(own.dir.path(), &folder));
            let open = || open_folder(&folder, &inner.layers, &inner.settings);
            save::write(own.map_or_else(open, Ok)?.as_ref(), &checked)
        };
        py.detach(|| pool.install(write))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyAny>)> {
        let (py, environment) = (slf.py(), slf.get());
        let (config, options, url) = environment.source.arguments(py)?;
        let arguments = (config, options, url, &environment.folder).into_pyobject(py)?;
        Ok((slf.get_type(), arguments.into_any()))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}

impl Environment {
    /// Loads the configuration; connects to nothing.
    pub(crate) fn load(py: Python<'_>, source: Source, folder: Option<PathBuf>) -> PyResult<Self> {
        let layers = source.layers().map_err(|error| config_error(&error))?;
        warn(py, layers.notices())?;
        let settings = layers.settings().map_err(|error| config_error(&error))?;
        if settings.equivalence.is_some() {
            let error =
                ConfigError::at("equivalence", "the environment does not support an equivalence checker");
            return Err(config_error(
                &error.with_hint("remove the section, as training in the paper does without it"),
            ));
        }
        let (source, settings) = (Arc::new(source), Arc::new(settings));
        Ok(Self { source, settings, folder, inner: PerProcess::new() })
    }

    /// What belongs to this process.
    fn inner(&self, py: Python<'_>) -> PyResult<Arc<Inner>> {
        self.inner.with(py, || Inner::new(py, self).map(Arc::new), Arc::clone)
    }
}

impl Inner {
    fn new(py: Python<'_>, environment: &Environment) -> PyResult<Self> {
        let Environment { source, settings, folder, .. } = environment;
        let failed = |error: ConfigError| config_error(&error);
        let layers = source.layers().map_err(failed)?;
        let http = HttpClient::new(POOL);
        let http = http.map_err(|error| failed(ConfigError::caused_by("HTTP", &error)))?;
        let models = models(settings, &http).map_err(failed)?;
        let history = source.diversity_url.as_deref().map(|url| History::new(&http, url)).transpose();
        let history = history.map_err(failed)?;
        let history = history.map(|history| (history, layers.config().train.diversity_coef));
        // Reads in parallel, on threads of this process.
        let pool = pool(py)?;
        let open = |path: &PathBuf| pool.install(|| open_folder(path, &layers, settings));
        let folder = folder.as_ref().map(open).transpose()?;
        let budget = match &folder {
            Some(folder) => {
                Budget::new(&settings.run, folder.dir.calls()).map_err(|error| folder_error(&error))?
            }
            None => Budget::unstored(&settings.run),
        };
        Ok(Self {
            settings: settings.clone(),
            policy_limits: policy_limits(&layers, settings),
            layers,
            http,
            models,
            asker: OnceLock::new(),
            policies: PolicyCache::default(),
            history,
            novelty: OnceLock::new(),
            folder,
            next: Mutex::default(),
            budget,
            halt: Halt::default(),
        })
    }

    /// Calls the models, and stores their replies if there is a folder.
    pub(crate) fn caller(&self) -> Caller<'_> {
        let (seed, budget) = (Seed(self.settings.run.seed), self.budget.clone());
        match &self.folder {
            Some(folder) => Caller::new(folder.dir.calls(), seed, &self.halt, budget),
            None => Caller::unstored(seed, &self.halt, budget),
        }
    }

    fn is_self_judged(&self) -> bool {
        self.settings.check.model == self.settings.asker.model
    }

    /// The session of a pair; without `sample` the next one that is `unused`.
    pub(crate) fn session_id(
        &self,
        pair: &str,
        sample: Option<u32>,
        unused: impl Fn(&str) -> bool,
    ) -> PyResult<SessionId> {
        let pair: PairId = pair
            .parse()
            .map_err(|error: aske_record::PairIdError| PyValueError::new_err(error.to_string()))?;
        if let Some(name) = pair.both().into_iter().find(|name| !is_solver(&self.settings, name)) {
            return Err(self.no_solver(name));
        }
        if let Some(sample) = sample {
            return Ok(SessionId { pair, sample });
        }
        let mut next = self.next.lock();
        let next = next.entry(pair.clone()).or_default();
        let id = |sample| SessionId { pair: pair.clone(), sample };
        while !unused(&id(*next).to_string()) {
            *next += 1;
        }
        *next += 1;
        Ok(id(*next - 1))
    }

    fn claim(&self, id: &SessionId) -> PyResult<Option<crate::folder::Claim>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let busy = || {
            let hint = "hint: leave `sample` out for the next one";
            PyValueError::new_err(format!("session {id} is in progress in this folder\n{hint}"))
        };
        folder.claim(id).map(Some).ok_or_else(busy)
    }

    /// A session that the asker of this policy plays.
    fn played(self: &Arc<Self>, pair: &str, sample: Option<u32>, policy: &Policy) -> PyResult<Episode> {
        let unused = |name: &str| self.folder.as_ref().is_none_or(|folder| !folder.is_taken(name));
        let id = self.session_id(pair, sample, unused)?;
        let players = self.players(&id, policy)?;
        let claim = self.claim(&id)?;
        Ok(Episode::new(self.clone(), id, players, policy.sampling.clone(), claim))
    }

    /// Plays a session to its end.
    async fn play(&self, episode: &Episode) -> Result<crate::data::Rollout, CallError> {
        episode.advance(self.folder.is_some()).await?;
        episode.finish().await?.ok_or(CallError::Halted)
    }

    fn players(&self, id: &SessionId, policy: &Policy) -> PyResult<Players> {
        let [one, two] = id.solvers(Seed(self.settings.run.seed));
        let asker = match &policy.asker {
            Some(asker) => self.connect(asker)?,
            None => self.configured_asker()?,
        };
        let check = match &policy.judge {
            _ if !self.is_self_judged() => self.find(&self.settings.check.model)?,
            Some(judge) => self.connect(judge)?,
            None => asker.clone(),
        };
        Ok(Players { asker: Some(asker), solvers: [self.find(&one)?, self.find(&two)?], check: Some(check) })
    }

    fn connect(&self, asker: &PolicyEndpoint) -> PyResult<Arc<Model>> {
        let name = &self.settings.asker.model;
        let connected = self.policies.get(asker, &self.http, name, &self.policy_limits);
        connected.map_err(|error| config_error(&error))
    }

    /// The asker of the configuration.
    fn configured_asker(&self) -> PyResult<Arc<Model>> {
        if let Some(asker) = self.asker.get() {
            return Ok(asker.clone());
        }
        let asker = build(&self.settings, &self.http, &self.settings.asker.model).map_err(|error| {
            let hint =
                "pass the asker's `url` and `model`, or name another one: options=[\"asker.model=NAME\"]";
            value_error(&error.with_hint(hint))
        })?;
        Ok(self.asker.get_or_init(|| asker).clone())
    }

    /// A boundary solver, or the cross-check solver.
    pub(crate) fn find(&self, name: &str) -> PyResult<Arc<Model>> {
        self.models.get(name).cloned().ok_or_else(|| self.no_solver(name))
    }

    fn no_solver(&self, name: &str) -> PyErr {
        let names: Vec<&str> = self.settings.solvers.iter().map(|solver| solver.model.as_str()).collect();
        let error = ConfigError::at("pair", format!("no boundary solver `{name}`"));
        value_error(&error.with_hint(format!("use one of {}", names.join(", "))))
    }

    fn novelty(&self) -> PyResult<&Novelty> {
        if self.novelty.get().is_none() {
            let _ = self
                .novelty
                .set(Novelty::new(&self.layers.config().train).map_err(|error| value_error(&error))?);
        }
        self.novelty.get().ok_or_else(|| PyValueError::new_err("no history"))
    }
}

/// An entry of a rollout.
fn field<'py>(rollout: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let missing = || PyValueError::new_err(format!("not a rollout: it has no {name:?}"));
    rollout.get_item(name)?.ok_or_else(missing)
}

/// The exception for a call that failed: an infrastructure failure, or the folder. The policy is served at `urls`, or where the
/// configuration says.
pub(crate) fn call_error(inner: &Inner, error: &CallError, urls: &[String]) -> PyErr {
    match error {
        CallError::Halted => match inner.budget.exhausted() {
            Some(limit) => rollout_failure(&limit.to_string()),
            None => rollout_failure("the environment is shutting down"),
        },
        CallError::Model(error) if error.model == inner.settings.asker.model => model_failure(error, urls),
        CallError::Model(error) => model_failure(error, &[]),
        CallError::Folder(error) => folder_error(error),
    }
}

/// The exception for a run folder that cannot be used.
pub(crate) fn folder_error(error: &RunError) -> PyErr {
    PyOSError::new_err(with_hint(error))
}

/// Opens or creates the run folder of an environment with these settings.
fn open_folder(path: &Path, layers: &Layers, settings: &Settings) -> PyResult<Arc<RunFolder>> {
    if path.as_os_str().is_empty() {
        return Err(PyValueError::new_err("the name of the run folder is empty"));
    }
    let manifest = manifest(env!("CARGO_PKG_VERSION"), layers, settings);
    RunFolder::open(path, &manifest).map(Arc::new).map_err(|error| folder_error(&error))
}

fn is_same_folder(one: &Path, two: &Path) -> bool {
    matches!((one.canonicalize(), two.canonicalize()), (Ok(one), Ok(two)) if one == two)
}

/// The limits of the policy. Without one in the configuration, its calls in flight are limited by the caller, who decides how
/// many rollouts run at once.
fn policy_limits(layers: &Layers, settings: &Settings) -> Limits {
    let name = &settings.asker.model;
    let limits = settings.models.get(name).map(|section| section.limits.clone()).unwrap_or_default();
    let is_concurrency = |key: &str| {
        let model = key.strip_prefix("models.").and_then(|key| key.strip_suffix(".limits.concurrency"));
        model.is_some_and(|model| model.trim_matches('"') == name)
    };
    let is_set =
        layers.values().iter().any(|(key, _, origin)| is_concurrency(key) && *origin != Origin::Default);
    Limits { concurrency: if is_set { limits.concurrency } else { usize::MAX }, ..limits }
}

/// The models of all roles but the policy's.
fn models(settings: &Settings, http: &HttpClient) -> Result<BTreeMap<String, Arc<Model>>, ConfigError> {
    let others =
        settings.models.keys().filter(|name| **name != settings.asker.model || is_solver(settings, name));
    others.map(|name| Ok((name.clone(), build(settings, http, name)?))).collect()
}

fn is_solver(settings: &Settings, name: &str) -> bool {
    settings.solvers.iter().any(|solver| solver.model == name)
}

fn build(settings: &Settings, http: &HttpClient, name: &str) -> Result<Arc<Model>, ConfigError> {
    let dialogue = Dialogue { pack: settings.pack.clone(), rounds: settings.protocol.rounds };
    let section =
        settings.models.get(name).ok_or_else(|| ConfigError::at(format!("models.{name}"), "no section"))?;
    if section.provider == Some(ProviderKind::Llama) {
        let key = format!("models.{name}.provider");
        return Err(ConfigError::at(key, "this model runs inside the program `aske`")
            .with_hint("serve it over HTTP, and give its section provider = \"openai\" and its url"));
    }
    let provider = provider(http, name, section, &dialogue)?;
    let model = Model::new(name, provider, section.limits.clone(), section.price);
    Ok(Arc::new(model.with_first_attempts(FIRST_ATTEMPTS)))
}
