//! The models of a run, ready to be called.

use crate::{CallError, Dialogue, provider};
use aske_chat::Reply;
use aske_config::{ConfigError, ModelSection, Settings};
use aske_model::{
    ErrorCause, HttpClient, Limits, Model, ModelError, Provider, ProviderError, Request, Waiting,
};
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Minimum number of idle connections per host, also when few sessions run: a session ends with five concurrent calls.
const MIN_POOL: usize = 512;

/// Models by name.
#[derive(Clone)]
pub struct ModelRegistry(BTreeMap<String, Arc<Model>>);

impl ModelRegistry {
    /// Builds every model that the settings use.
    pub fn new(settings: &Settings) -> Result<Self, ConfigError> {
        let dialogue = Dialogue { pack: settings.pack.clone(), rounds: settings.protocol.rounds };
        Self::from_sections(&settings.models, settings.run.concurrency, &dialogue)
    }

    /// Builds these models for a number of concurrent sessions.
    pub fn from_sections(
        sections: &BTreeMap<String, ModelSection>,
        sessions: usize,
        dialogue: &Dialogue,
    ) -> Result<Self, ConfigError> {
        // Models may share a host, so the pool is sized for all of them, within what that many sessions reuse.
        let limits = sections.values().map(|section| section.limits.concurrency);
        let pool = limits.fold(1, usize::saturating_add).min(sessions.max(MIN_POOL));
        let http = HttpClient::new(pool).map_err(|error| ConfigError::caused_by("models", &error))?;
        let build = |(name, section): (&String, &ModelSection)| {
            let provider = provider(&http, name, section, dialogue)?;
            let model = Model::new(name, provider, section.limits.clone(), section.price);
            let model = model.with_start(section.start.clone());
            Ok((name.clone(), Arc::new(model)))
        };
        sections.iter().map(build).collect::<Result<_, _>>().map(Self)
    }

    /// Models of these names that never reply, for work that needs stored replies only. Requires no keys and no files.
    pub fn offline<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let model = |name: &str| Model::new(name, Box::new(Offline), Limits::default(), None);
        Self(names.map(|name| (name.to_owned(), Arc::new(model(name)))).collect())
    }

    /// Adds a model, or replaces the one of its name.
    #[must_use]
    pub fn with_model(&self, model: Model) -> Self {
        let mut models = self.0.clone();
        models.insert(model.name().to_owned(), Arc::new(model));
        Self(models)
    }

    /// The model of this name, or an error for a call to it.
    pub(crate) fn find(&self, name: &str) -> Result<&Model, CallError> {
        self.get(name).map(AsRef::as_ref).ok_or_else(|| {
            ModelError::new(name, ErrorCause::NotFound, "the model is not configured", 0).into()
        })
    }

    /// Every model, by name.
    pub fn models(&self) -> impl Iterator<Item = &Model> {
        self.0.values().map(AsRef::as_ref)
    }

    /// The models whose calls wait for their server, by name.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.models().filter_map(Model::waiting).collect()
    }

    /// The model of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Model>> {
        self.0.get(name)
    }
}

/// A provider that never replies.
struct Offline;

impl Provider for Offline {
    fn attempt<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async {
            Err(ProviderError::new(ErrorCause::NotStored, "this reply is not in calls.sqlite"))
        })
    }
}
