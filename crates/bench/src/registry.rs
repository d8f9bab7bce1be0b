//! The models of a run, ready to be called.

use crate::gguf::gguf;
use aske_chat::Reply;
use aske_config::{ConfigError, FOLDER, ModelSection, PROVIDERS, ProviderKind, Settings, connect};
use aske_model::{
    Checkpoint, EngineOptions, ErrorCause, HttpClient, Limits, Local, Model, Provider, ProviderError, Request,
};
use aske_nano::{FreeAsker, Strategy, TAUGHT_LEVELS};
use aske_session::Pack;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Idle connections to a host that are kept even when few sessions run: a session ends with five calls at once.
const LEAST_POOL: usize = 512;

/// Models by name.
#[derive(Clone)]
pub struct ModelRegistry(BTreeMap<String, Arc<Model>>);

impl ModelRegistry {
    /// Prepares every model in use.
    pub fn new(settings: &Settings) -> Result<Self, ConfigError> {
        let dialogue = Dialogue { pack: settings.pack.clone(), rounds: settings.protocol.rounds };
        Self::from_sections(&settings.models, settings.run.concurrency, &dialogue)
    }

    /// Prepares these models for so many sessions at once.
    pub fn from_sections(
        sections: &BTreeMap<String, ModelSection>,
        sessions: usize,
        dialogue: &Dialogue,
    ) -> Result<Self, ConfigError> {
        // Models may share a host, so the pool keeps what all of them need together, within what a run of this
        // width uses again.
        let limits = sections.values().map(|section| section.limits.concurrency);
        let pool = limits.fold(1, usize::saturating_add).min(sessions.max(LEAST_POOL));
        let http = HttpClient::new(pool).map_err(|error| ConfigError::at("models", error.to_string()))?;
        let build = |(name, section): (&String, &ModelSection)| {
            let provider = provider(&http, name, section, dialogue)?;
            let model = Model::new(name, provider, section.limits.clone(), section.price);
            Ok((name.clone(), Arc::new(model)))
        };
        sections.iter().map(build).collect::<Result<_, _>>().map(Self)
    }

    /// Models of these names that give no reply: for work that stored replies are enough for. Needs no key and no file.
    pub fn offline<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let model = |name: &str| Model::new(name, Box::new(Offline), Limits::default(), None);
        Self(names.map(|name| (name.to_owned(), Arc::new(model(name)))).collect())
    }

    /// The same models with this model under its name.
    #[must_use]
    pub fn with_model(&self, model: Model) -> Self {
        let mut models = self.0.clone();
        models.insert(model.name().to_owned(), Arc::new(model));
        Self(models)
    }

    /// The model of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Model>> {
        self.0.get(name)
    }
}

/// What a free asker must know of the sessions it asks in.
#[derive(Clone, Debug)]
pub struct Dialogue {
    /// The prompts.
    pub pack: Arc<Pack>,
    /// Probing rounds.
    pub rounds: u32,
}

/// Gives no reply.
struct Offline;

impl Provider for Offline {
    fn attempt<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async {
            Err(ProviderError::new(ErrorCause::NotStored, "this reply is not in calls.sqlite"))
        })
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(async { Err(ProviderError::new(ErrorCause::NotStored, "not to be reached")) })
    }
}

fn provider(
    http: &HttpClient,
    name: &str,
    section: &ModelSection,
    dialogue: &Dialogue,
) -> Result<Box<dyn Provider>, ConfigError> {
    let free = |strategy| {
        let levels = section.levels.unwrap_or(TAUGHT_LEVELS);
        Ok(Box::new(FreeAsker::new(strategy, dialogue.pack.clone(), dialogue.rounds, levels)) as Box<_>)
    };
    if let Some(provider) = connect(http, name, section)? {
        return Ok(provider);
    }
    match section.provider {
        Some(ProviderKind::Local) => Ok(Box::new(local(name, section)?)),
        Some(ProviderKind::Llama) => gguf(name, section),
        Some(ProviderKind::Fixed) => free(Strategy::Fixed),
        Some(ProviderKind::Staircase) => free(Strategy::Staircase),
        Some(ProviderKind::Imported) => {
            Err(ConfigError::at(format!("models.{name}"), "known by its name only, from imported rollouts")
                .with_hint(format!("say who serves it: `-o models.{name}.provider=…` and what that needs")))
        }
        _ => Err(ConfigError::at(format!("models.{name}"), "no provider").with_hint(PROVIDERS)),
    }
}

/// Megabytes of conversations that a local model remembers where nothing else is said: solvers see one message each.
const CACHE_MB: usize = 4;

fn local(name: &str, section: &ModelSection) -> Result<Local, ConfigError> {
    let path = section.path.as_deref().unwrap_or_default();
    let wrong = |error: String| ConfigError::at(format!("models.{name}.path"), error).with_hint(FOLDER);
    let checkpoint = match path.strip_prefix("builtin:") {
        Some(shipped) => aske_nano::checkpoint(shipped).map_err(|error| wrong(error.to_string()))?,
        None => Checkpoint::from_folder(Path::new(path)).map_err(|error| wrong(error.to_string()))?,
    };
    let threads = section.threads.unwrap_or(1);
    let store_bytes = section.cache_mb.unwrap_or(CACHE_MB).saturating_mul(1_000_000);
    let options = EngineOptions { threads, store_bytes, ..EngineOptions::default() };
    Ok(Local::new(checkpoint.start(&options).map_err(|error| wrong(error.to_string()))?))
}
