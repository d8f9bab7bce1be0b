//! The environment: boundary solvers with connection pools, retries and limits, and rollouts against them.

use crate::AsPython;
use crate::errors::{config_error, rollout_failure};
use crate::history::History;
use crate::judge::{PolicyCache, PolicyEndpoint};
use crate::process::PerProcess;
use crate::rollout::{RolloutModels, rollout};
use crate::runtime::future_into_py;
use crate::session::Session;
use crate::source::Source;
use aske_bench::{Dialogue, PairSchedule, provider};
use aske_config::{ConfigError, Layers, Origin, ProviderKind, Settings};
use aske_model::{HttpClient, Limits, Model};
use aske_record::{PairId, SessionId};
use aske_session::Seed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// The limits of the policy's calls.
    policy_limits: Limits,
    /// The weight of novelty.
    diversity_coef: f64,
    servers: PerProcess<Arc<Servers>>,
}

/// The connections of a process.
struct Servers {
    http: HttpClient,
    /// Boundary solvers, and the cross-check solver if it is not the policy.
    models: BTreeMap<String, Arc<Model>>,
    policies: PolicyCache,
    /// The history of all workers' questions, and the weight of novelty.
    history: Option<(History, f64)>,
}

#[pymethods]
impl Environment {
    /// The environment of a configuration: a bundled one, a file, or a dictionary with what a file would contain. `options`
    /// override it, as texts `KEY=VALUE` or a dictionary from dotted keys to values.
    /// The diversity reward needs a history of questions, kept by `aske serve env` at `diversity_url`.
    #[new]
    #[pyo3(
        signature = (config = None, options = None, diversity_url = None),
        text_signature = "(config='paper-train', options=(), diversity_url=None)"
    )]
    fn new(
        py: Python<'_>,
        config: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyAny>>,
        diversity_url: Option<String>,
    ) -> PyResult<Self> {
        let environment = Self::load(py, Source::new(config, options, diversity_url)?)?;
        environment.servers(py)?;
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

    /// Runs one session with the asker at `url` and all other models as configured. Awaitable: returns a dictionary, or
    /// raises `RolloutFailure` if infrastructure failed. A self-judge is called at `judge_url`, or at `url`. `headers` and
    /// `judge_headers` are sent with every request to these addresses.
    #[pyo3(signature = (
        pair, sample = 0, *, url, model, key = None, judge_url = None, judge_key = None, cache_salt = None,
        headers = None, judge_headers = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn rollout<'py>(
        &self,
        py: Python<'py>,
        pair: &str,
        sample: u32,
        url: String,
        model: String,
        key: Option<String>,
        judge_url: Option<String>,
        judge_key: Option<String>,
        cache_salt: Option<String>,
        headers: Option<BTreeMap<String, String>>,
        judge_headers: Option<BTreeMap<String, String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let pair: PairId = pair
            .parse()
            .map_err(|error: aske_record::PairIdError| PyValueError::new_err(error.to_string()))?;
        let id = SessionId { pair, sample };
        let asker = PolicyEndpoint { url, model, key, headers: headers.unwrap_or_default(), salt: None };
        let judge = match judge_url {
            Some(url) => PolicyEndpoint {
                url,
                key: judge_key,
                headers: judge_headers.unwrap_or_default(),
                salt: cache_salt,
                ..asker.clone()
            },
            None => PolicyEndpoint { salt: cache_salt, ..asker.clone() },
        };
        let servers = self.servers(py)?;
        let models =
            self.rollout_models(&servers, &id, &asker, &judge).map_err(|error| config_error(&error))?;
        let settings = self.settings.clone();
        let mut urls = vec![asker.url, judge.url];
        urls.dedup();
        future_into_py(py, async move {
            let finished = rollout(&settings, id, &models, servers.history.as_ref()).await;
            finished.map(AsPython).map_err(|error| rollout_failure(&*error, (&settings.asker.model, &urls)))
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyAny>)> {
        Ok((slf.get_type(), slf.get().source.arguments(slf.py())?))
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
    pub(crate) fn load(py: Python<'_>, source: Source) -> PyResult<Self> {
        let layers = source.layers().map_err(|error| config_error(&error))?;
        source.warn(py, layers.notices())?;
        let settings = layers.settings().map_err(|error| config_error(&error))?;
        if settings.equivalence.is_some() {
            let error =
                ConfigError::at("equivalence", "the environment does not support an equivalence checker");
            return Err(config_error(
                &error.with_hint("remove the section, as training in the paper does without it"),
            ));
        }
        let policy_limits = policy_limits(&layers, &settings);
        let diversity_coef = layers.config().train.diversity_coef;
        let (source, settings) = (Arc::new(source), Arc::new(settings));
        Ok(Self { source, settings, policy_limits, diversity_coef, servers: PerProcess::new() })
    }

    /// The connections of this process.
    fn servers(&self, py: Python<'_>) -> PyResult<Arc<Servers>> {
        let connected = self.servers.with(py, || self.connect().map(Arc::new), Arc::clone);
        connected.map_err(|error| config_error(&error))
    }

    fn connect(&self) -> Result<Servers, ConfigError> {
        let http = HttpClient::new(POOL).map_err(|error| ConfigError::caused_by("HTTP", &error))?;
        let models = models(&self.settings, &http)?;
        let history = self.source.diversity_url.as_deref().map(|url| History::new(&http, url)).transpose()?;
        let history = history.map(|history| (history, self.diversity_coef));
        Ok(Servers { http, models, policies: PolicyCache::default(), history })
    }

    fn rollout_models(
        &self,
        servers: &Servers,
        id: &SessionId,
        asker: &PolicyEndpoint,
        judge: &PolicyEndpoint,
    ) -> Result<RolloutModels, ConfigError> {
        let Settings { asker: policy, check, run, .. } = &*self.settings;
        let connect = |endpoint: &PolicyEndpoint| {
            servers.policies.get(endpoint, &servers.http, &policy.model, &self.policy_limits)
        };
        let find = |name: &str| {
            servers.models.get(name).cloned().ok_or_else(|| {
                let known = servers.models.keys().cloned().collect::<Vec<_>>().join(", ");
                ConfigError::at("pair", format!("no boundary solver `{name}`"))
                    .with_hint(format!("use one of {known}"))
            })
        };
        let [one, two] = id.solvers(Seed(run.seed));
        Ok(RolloutModels {
            asker: connect(asker)?,
            solvers: [find(&one)?, find(&two)?],
            check: if check.model == policy.model { connect(judge)? } else { find(&check.model)? },
        })
    }
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

/// The models of all roles but the policy's: those that are served over HTTP or scripted.
fn models(settings: &Settings, http: &HttpClient) -> Result<BTreeMap<String, Arc<Model>>, ConfigError> {
    let dialogue = Dialogue { pack: settings.pack.clone(), rounds: settings.protocol.rounds };
    let others = settings.models.iter().filter(|(name, _)| **name != settings.asker.model);
    others
        .map(|(name, section)| {
            if !matches!(section.provider, Some(ProviderKind::Openai | ProviderKind::Scripted)) {
                let key = format!("models.{name}.provider");
                return Err(ConfigError::at(key, "this model runs inside the program `aske`").with_hint(
                    "serve it over HTTP, and give its section provider = \"openai\" and its url",
                ));
            }
            let provider = provider(http, name, section, &dialogue)?;
            let model = Model::new(name, provider, section.limits.clone(), section.price);
            Ok((name.clone(), Arc::new(model.with_first_attempts(FIRST_ATTEMPTS))))
        })
        .collect()
}
