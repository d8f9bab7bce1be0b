//! [`Settings`]: a validated configuration with all names resolved.

use crate::secret::first_secret;
use crate::{
    AnswerComparison, Config, ConfigError, Layers, ModelSection, ProviderKind, RunSection, closest,
    load_pack, sampling,
};
use aske_answer::{NotationPolicy, Rules};
use aske_model::Sampling;
use aske_session::{Domain, Pack, Protocol};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A role: its model and sampling.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleSettings {
    /// The model's name.
    pub model: String,
    /// The model's sampling with the role's overrides.
    pub sampling: Sampling,
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The dialogue's numbers.
    pub protocol: Protocol,
    /// What questions are about.
    pub domain: Domain,
    /// The prompts.
    pub pack: Arc<Pack>,
    /// The asker.
    pub asker: RoleSettings,
    /// The boundary solvers, in the order of the set.
    pub solvers: Vec<RoleSettings>,
    /// The cross-check solver.
    pub check: RoleSettings,
    /// The equivalence checker and its token limit.
    pub equivalence: Option<(RoleSettings, u32)>,
    /// How the plan is executed.
    pub run: RunSection,
    /// The models in use.
    pub models: BTreeMap<String, ModelSection>,
}

impl Layers {
    /// Checks the configuration.
    pub fn settings(&self) -> Result<Settings, ConfigError> {
        Settings::check(self)
    }

    /// A role besides those of the run: its settings and the section of its model.
    pub fn extra_role(
        &self,
        key: &str,
        name: &str,
        over: &Sampling,
    ) -> Result<(RoleSettings, ModelSection), ConfigError> {
        let mut models = Models { layers: self, used: BTreeMap::new() };
        let role = models.role(key, name, over)?;
        let section = models.used.remove(name).unwrap_or_default();
        Ok((role, section))
    }
}

impl Settings {
    fn check(layers: &Layers) -> Result<Self, ConfigError> {
        let config = layers.config();
        check_names(config)?;
        check_run(&config.run)?;
        let domain = domain(config)?;
        let pack = match &config.protocol.prompts {
            Some(name) => load_pack(name)?,
            None => Pack::builtin(&domain),
        };
        let mut models = Models { layers, used: BTreeMap::new() };
        let asker = models.required("asker", config.asker.model.as_deref(), &config.asker.sampling)?;
        let solvers = solvers(&mut models)?;
        let check = models.required("check", config.check.model.as_deref(), &config.check.sampling)?;
        let equivalence = match &config.equivalence.model {
            Some(name) => {
                let role = models.role("equivalence.model", name, &config.equivalence.sampling)?;
                Some((role, config.equivalence.max_tokens))
            }
            None => None,
        };
        let protocol = protocol(config)?;
        let (run, models) = (config.run.clone(), models.used);
        Ok(Self { protocol, domain, pack: Arc::new(pack), asker, solvers, check, equivalence, run, models })
    }
}

/// Resolves models and collects those in use.
pub(crate) struct Models<'c> {
    pub(crate) layers: &'c Layers,
    pub(crate) used: BTreeMap<String, ModelSection>,
}

impl Models<'_> {
    fn required(
        &mut self,
        role: &str,
        name: Option<&str>,
        over: &Sampling,
    ) -> Result<RoleSettings, ConfigError> {
        let key = format!("{role}.model");
        let name = name.ok_or_else(|| {
            ConfigError::at(key.clone(), format!("no model is named for the {role}"))
                .with_hint(format!("set `model` in [{role}] to one of `aske models`"))
        })?;
        self.role(&key, name, over)
    }

    pub(crate) fn role(
        &mut self,
        key: &str,
        name: &str,
        over: &Sampling,
    ) -> Result<RoleSettings, ConfigError> {
        let config = self.layers.config();
        let Some(section) = config.models.get(name) else {
            return Err(self.layers.unknown_model(name).inside(key));
        };
        let needs_no_model = matches!(section.provider, Some(ProviderKind::Fixed | ProviderKind::Staircase));
        if needs_no_model && key != "asker.model" {
            return Err(ConfigError::at(key, format!("`{name}` can only ask"))
                .with_hint("name a model that answers; `aske models` lists them"));
        }
        if needs_no_model && config.protocol.domain != "math" {
            return Err(ConfigError::at(key, format!("`{name}` asks mathematics only"))
                .with_hint("set `protocol.domain = \"math\"`, or name another asker"));
        }
        if !self.used.contains_key(name) {
            check_model(name, section)?;
            self.used.insert(name.to_owned(), section.clone());
        }
        let sampling = over.over(&section.sampling);
        sampling::check(key, name, &sampling)?;
        Ok(RoleSettings { model: name.to_owned(), sampling })
    }
}

fn solvers(models: &mut Models<'_>) -> Result<Vec<RoleSettings>, ConfigError> {
    let config = models.layers.config();
    let (key, names) = match (&config.boundary.solvers, &config.boundary.set) {
        (solvers, _) if !solvers.is_empty() => ("boundary.solvers".to_owned(), solvers),
        (_, Some(set)) => {
            let section = config.sets.get(set).ok_or_else(|| unknown_set(config, set))?;
            (format!("sets.{set}.solvers"), &section.solvers)
        }
        (none, None) => ("boundary.solvers".to_owned(), none),
    };
    let distinct: BTreeSet<_> = names.iter().collect();
    if distinct.len() < names.len() {
        return Err(ConfigError::at(key, "a solver is named twice").with_hint("name each solver once"));
    }
    if names.len() < 2 {
        let what = format!(
            "a pair needs two solvers, and {} named",
            if names.is_empty() { "none is" } else { "one is" }
        );
        return Err(ConfigError::at(key, what)
            .with_hint("name at least two in `boundary.solvers`, or a `boundary.set`"));
    }
    names.iter().map(|name| models.role(&key, name, &config.boundary.sampling)).collect()
}

fn unknown_set(config: &Config, set: &str) -> ConfigError {
    let known: Vec<_> = config.sets.keys().map(String::as_str).collect();
    let hint = match known.as_slice() {
        [] => format!("define [sets.{set}], or extend a file that does, such as paper-models"),
        known => format!("defined here: {}", known.join(", ")),
    };
    ConfigError::at("boundary.set", format!("unknown set `{set}`")).with_hint(hint)
}

/// Whether this is a valid name of a model or a dataset in records, in files and on the command line.
pub fn is_valid_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(in_name)
}

/// Turns a text into a valid name; returns `otherwise` for an empty one.
pub fn sanitize_name(text: &str, otherwise: &str) -> String {
    let name: String = text.chars().map(|c| if in_name(c) { c } else { '-' }).collect();
    if name.is_empty() { otherwise.to_owned() } else { name }
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

pub(crate) fn check_names(config: &Config) -> Result<(), ConfigError> {
    match config.models.keys().find(|name| !is_valid_name(name)) {
        Some(name) => Err(ConfigError::at(format!("models.\"{name}\""), "not a valid name")
            .with_hint("use letters, digits, `.`, `_` and `-`; the server's own name goes into `model`")),
        None => Ok(()),
    }
}

/// Hint for a wrong `path` of a local model.
pub const MODEL_FOLDER_HINT: &str = "`path` is a folder with config.json, model.safetensors, tokenizer.json and tokenizer_config.json, or builtin:NAME";

/// Hint for a missing `provider`.
pub const PROVIDER_HINT: &str =
    "set `provider` to \"openai\", \"local\", \"llama\", \"scripted\", \"staircase\" or \"fixed\"";

fn check_model(name: &str, section: &ModelSection) -> Result<(), ConfigError> {
    let key = format!("models.{name}");
    let missing = |what: &str, hint: &str| {
        Err(ConfigError::at(key.clone(), what.to_owned()).with_hint(hint.to_owned()))
    };
    match section.provider {
        None => return missing("no provider", PROVIDER_HINT),
        Some(ProviderKind::Openai) if section.url.is_empty() => {
            return missing("no address", "set `url`, such as \"http://localhost:8000/v1\"");
        }
        Some(ProviderKind::Scripted) if section.script.is_none() => {
            return missing("no script", "set `script` to a file of JSON lines");
        }
        Some(ProviderKind::Local) if section.path.is_none() => {
            return missing("no path", MODEL_FOLDER_HINT);
        }
        Some(ProviderKind::Llama) if section.path.is_none() => {
            return missing("no path", "set `path` to a GGUF file");
        }
        Some(_) => {}
    }
    let limits = &section.limits;
    let positive = |key: &str, value: f64| in_range(&format!("models.{name}.{key}"), value > 0.0, "above 0");
    positive("limits.concurrency", limits.concurrency as f64)?;
    positive("limits.timeout_s", limits.timeout_s)?;
    positive("limits.deadline_s", limits.deadline_s)?;
    positive("limits.attempts", f64::from(limits.attempts))?;
    positive("limits.rpm", limits.rpm.unwrap_or(1.0))?;
    positive("limits.tpm", limits.tpm.unwrap_or(1.0))?;
    positive("sampling.repetition_penalty", section.sampling.repetition_penalty.unwrap_or(1.0))?;
    let temperature = section.sampling.temperature.unwrap_or(1.0);
    in_range(&format!("models.{name}.sampling.temperature"), temperature >= 0.0, "0 or more")?;
    positive("threads", section.threads.unwrap_or(1) as f64)?;
    let levels = section.levels.unwrap_or(1);
    in_range(&format!("models.{name}.levels"), (1..=8).contains(&levels), "from 1 to 8")?;
    let reconnect = limits.reconnect_s.unwrap_or_default();
    in_range(&format!("models.{name}.limits.reconnect_s"), reconnect >= 0.0, "0 or more")?;
    let cap = limits.retry_after_cap_s;
    in_range(&format!("models.{name}.limits.retry_after_cap_s"), cap >= 0.0, "0 or more")?;
    let price = section.price.unwrap_or_default();
    let fair = [price.input, price.output, price.cached_input.unwrap_or(0.0)].iter().all(|usd| *usd >= 0.0);
    in_range(&format!("models.{name}.price"), fair, "0 or more")?;
    let extra = format!("models.{name}.extra_body");
    // Everything in this table is stored with the run.
    if let Some(key) = first_secret(&extra, &section.extra_body) {
        return Err(ConfigError::at(
            key,
            "looks like a credential, and this table is stored in the run folder",
        )
        .with_hint("put the key in an environment variable and set `api_key_env` to its name"));
    }
    match section.extra_body.keys().find(|key| matches!(key.as_str(), "model" | "messages")) {
        Some(taken) => Err(ConfigError::at(format!("{extra}.{taken}"), "the session writes this itself")
            .with_hint("the server's name for the model goes into `model`")),
        None => Ok(()),
    }
}

pub(crate) fn check_run(run: &RunSection) -> Result<(), ConfigError> {
    in_range("run.samples", run.samples > 0, "at least 1")?;
    in_range("run.concurrency", run.concurrency > 0, "at least 1")?;
    in_range("run.budget_usd", run.budget_usd.is_none_or(|usd| usd > 0.0), "above 0")?;
    in_range("run.budget_tokens", run.budget_tokens.is_none_or(|tokens| tokens > 0), "above 0")?;
    in_range("run.budget_minutes", run.budget_minutes.is_none_or(|minutes| minutes > 0.0), "above 0")
}

pub(crate) fn in_range(key: &str, ok: bool, expected: &str) -> Result<(), ConfigError> {
    if ok {
        return Ok(());
    }
    let hint = format!("`aske config {key}` shows where the value comes from");
    Err(ConfigError::at(key, format!("must be {expected}")).with_hint(hint))
}

fn domain(config: &Config) -> Result<Domain, ConfigError> {
    let written = &config.protocol.domain;
    let domain: Domain = written.parse().map_err(|error: aske_session::UnknownDomainError| {
        let error = ConfigError::at("protocol.domain", error.to_string());
        match closest(written, Domain::NAMES) {
            Some(likely) => error.with_hint(format!("did you mean `{likely}`?")),
            None => error,
        }
    })?;
    let domain = match domain {
        Domain::Math { .. } => Domain::Math { rules: rules(config)? },
        other => other,
    };
    match (domain, config.protocol.tolerance) {
        (Domain::Number { .. }, Some(tolerance)) => {
            in_range("protocol.tolerance", (0.0..1.0).contains(&tolerance), "at least 0 and below 1")?;
            Ok(Domain::Number { tolerance })
        }
        (_, Some(_)) => {
            Err(ConfigError::at("protocol.tolerance", "only the domain `number` has a tolerance")
                .with_hint("set `protocol.domain = \"number\"`, or remove the tolerance"))
        }
        (domain, None) => Ok(domain),
    }
}

/// How mathematical answers are compared.
fn rules(config: &Config) -> Result<Rules, ConfigError> {
    let section = &config.protocol;
    if section.comparison == AnswerComparison::Paper && section.policy != NotationPolicy::default() {
        return Err(ConfigError::at("protocol.policy", "only the comparison `aske` has a policy")
            .with_hint("set `protocol.comparison = \"aske\"`, or remove the policy"));
    }
    Ok(section.comparison.rules(section.policy))
}

fn protocol(config: &Config) -> Result<Protocol, ConfigError> {
    let section = &config.protocol;
    in_range("protocol.rounds", section.rounds <= 1000, "at most 1000")?;
    in_range("check.draws", (1..=100).contains(&config.check.draws), "from 1 to 100")?;
    for (key, value) in [
        ("asker_tokens", section.asker_tokens),
        ("asker_final_tokens", section.asker_final_tokens),
        ("solver_tokens", section.solver_tokens),
        ("solver_final_tokens", section.solver_final_tokens),
        ("check_tokens", section.check_tokens),
    ] {
        in_range(&format!("protocol.{key}"), value > 0, "above 0")?;
    }
    in_range("protocol.question_words", section.question_words > 0, "above 0")?;
    Ok(Protocol {
        rounds: section.rounds,
        asker_tokens: section.asker_tokens,
        asker_final_tokens: section.asker_final_tokens,
        asker_total_tokens: None,
        solver_tokens: section.solver_tokens,
        solver_final_tokens: section.solver_final_tokens,
        check_tokens: section.check_tokens,
        check_draws: config.check.draws,
        question_words: section.question_words,
        summary_chars: section.summary_chars,
    })
}
