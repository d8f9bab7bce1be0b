//! The environment: boundary solvers with connection pools, retries and limits, and rollouts against them.

use crate::history::History;
use crate::judge::{JudgeCache, PolicyEndpoint};
use crate::rollout::{RolloutModels, rollout};
use crate::session::Session;
use crate::{RolloutFailure, to_python};
use aske_bench::{Dialogue, provider};
use aske_chat::Hint;
use aske_config::{ConfigError, Layers, ProviderKind, Settings};
use aske_model::{HttpClient, Model};
use aske_record::{PairId, SessionId};
use aske_session::Seed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Idle connections per host.
const POOL: usize = 512;

/// Ask-E with the boundary solvers of a configuration. Create one per process and share it between rollouts.
#[pyclass(frozen, module = "aske_env")]
pub(crate) struct Environment(Arc<Inner>);

struct Inner {
    settings: Settings,
    http: HttpClient,
    /// Boundary solvers, and the cross-check solver if it is not the policy.
    models: BTreeMap<String, Arc<Model>>,
    judges: JudgeCache,
    /// The history of all workers' questions, and the weight of novelty.
    history: Option<(History, f64)>,
}

#[pymethods]
impl Environment {
    /// The environment of a configuration, which is a bundled one or a file; `options` override it as `KEY=VALUE`.
    /// The diversity reward needs a history of questions, kept by `aske serve env` at `diversity_url`.
    #[new]
    #[pyo3(signature = (config = "paper-train", options = Vec::new(), diversity_url = None))]
    #[expect(clippy::needless_pass_by_value, reason = "Python's list arrives as a vector")]
    fn new(config: &str, options: Vec<String>, diversity_url: Option<&str>) -> PyResult<Self> {
        let layers = load(config, &options).map_err(|error| value_error(&error))?;
        let settings = layers.settings().map_err(|error| value_error(&error))?;
        if settings.equivalence.is_some() {
            let error =
                ConfigError::at("equivalence", "the environment does not support an equivalence checker");
            return Err(value_error(
                &error.with_hint("remove the section, as training in the paper does without it"),
            ));
        }
        let http = HttpClient::new(POOL).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let models = models(&settings, &http).map_err(|error| value_error(&error))?;
        let history = diversity_url.map(|url| History::new(&http, url)).transpose();
        let history = history.map_err(|error| value_error(&error))?;
        let history = history.map(|history| (history, layers.config().train.diversity_coef));
        Ok(Self(Arc::new(Inner { settings, http, models, judges: JudgeCache::default(), history })))
    }

    /// Every pair of boundary solvers, as `a:b`.
    fn pairs(&self) -> Vec<String> {
        let names: Vec<&str> = self.0.settings.solvers.iter().map(|solver| solver.model.as_str()).collect();
        PairId::all(&names).map(|pair| pair.to_string()).collect()
    }

    /// The seed of the run, which determines the order of pairs, which solver is Model 1, and every draw.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.settings.run.seed
    }

    /// Whether the policy is its own cross-check solver.
    #[getter]
    fn self_judged(&self) -> bool {
        self.0.settings.check.model == self.0.settings.asker.model
    }

    /// Token limits of the asker's probing turns and of its final turn.
    #[getter]
    fn asker_tokens(&self) -> (u32, u32) {
        (self.0.settings.protocol.asker_tokens, self.0.settings.protocol.asker_final_tokens)
    }

    /// A session whose calls you make yourself.
    fn session(&self) -> Session {
        let Settings { protocol, pack, domain, .. } = &self.0.settings;
        Session::new(protocol.clone(), pack.clone(), *domain)
    }

    /// Runs one session with the asker at `url` and all other models as configured. Awaitable: returns a dictionary, or
    /// raises `RolloutFailure` if infrastructure failed. A self-judge is called at `judge_url`, or at `url`.
    #[pyo3(signature = (pair, sample = 0, *, url, model, key = None, judge_url = None, judge_key = None, cache_salt = None))]
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
    ) -> PyResult<Bound<'py, PyAny>> {
        let pair: PairId = pair
            .parse()
            .map_err(|error: aske_record::PairIdError| PyValueError::new_err(error.to_string()))?;
        let id = SessionId { pair, sample };
        let asker = PolicyEndpoint { url, model, key, salt: None };
        let judge = match judge_url {
            Some(url) => PolicyEndpoint { url, key: judge_key, salt: cache_salt, ..asker.clone() },
            None => PolicyEndpoint { salt: cache_salt, ..asker.clone() },
        };
        let models = self.0.rollout_models(&id, &asker, &judge).map_err(|error| value_error(&error))?;
        let inner = self.0.clone();
        pyo3_async_runtimes::tokio::future_into_py(py, async move {
            let finished = rollout(&inner.settings, id, &models, inner.history.as_ref())
                .await
                .map_err(|error| RolloutFailure::new_err(error.to_string()))?;
            Python::attach(|py| to_python(py, &finished).map(Bound::unbind))
        })
    }
}

impl Inner {
    fn rollout_models(
        &self,
        id: &SessionId,
        asker: &PolicyEndpoint,
        judge: &PolicyEndpoint,
    ) -> Result<RolloutModels, ConfigError> {
        let Settings { asker: policy, check, run, .. } = &self.settings;
        let limits = || {
            self.settings.models.get(&policy.model).map(|section| section.limits.clone()).unwrap_or_default()
        };
        let find = |name: &str| {
            self.models.get(name).cloned().ok_or_else(|| {
                let known = self.models.keys().cloned().collect::<Vec<_>>().join(", ");
                ConfigError::at("pair", format!("no boundary solver `{name}`"))
                    .with_hint(format!("use one of {known}"))
            })
        };
        let [one, two] = id.solvers(Seed(run.seed));
        Ok(RolloutModels {
            asker: Arc::new(asker.connect(&self.http, &policy.model, limits())?),
            solvers: [find(&one)?, find(&two)?],
            check: if check.model == policy.model {
                self.judges.get(judge, || judge.connect(&self.http, &check.model, limits()))?
            } else {
                find(&check.model)?
            },
        })
    }
}

fn load(config: &str, options: &[String]) -> Result<Layers, ConfigError> {
    let flag = |option: &String| {
        let (flag, key, value) = Layers::parse_override(option)?;
        Ok((flag.replacen("--override", "option", 1), key, value))
    };
    let flags = options.iter().map(flag).collect::<Result<Vec<_>, ConfigError>>()?;
    Layers::load(Some(config), std::env::vars(), &flags)
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
            Ok((name.clone(), Arc::new(Model::new(name, provider, section.limits.clone(), section.price))))
        })
        .collect()
}

fn value_error(error: &impl Hint) -> PyErr {
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    PyValueError::new_err(format!("{error}{hint}"))
}
