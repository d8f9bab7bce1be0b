//! The policy as its own cross-check solver: its endpoint, called directly.

use aske_config::ConfigError;
use aske_model::{Endpoint, HttpClient, Limits, Model, OpenAi};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The endpoint of a policy.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct PolicyEndpoint {
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) key: Option<String>,
    /// Separates the prefix caches of different weights; sent as `cache_salt`.
    pub(crate) salt: Option<String>,
    /// Merged into every request body: a JSON object, or empty.
    pub(crate) extra: String,
}

impl PolicyEndpoint {
    /// The policy as a model.
    pub(crate) fn connect(
        &self,
        http: &HttpClient,
        name: &str,
        limits: Limits,
    ) -> Result<Model, ConfigError> {
        let mut extra: Map<String, Value> = serde_json::from_str(&self.extra).unwrap_or_default();
        if let Some(salt) = &self.salt {
            extra.insert("cache_salt".to_owned(), Value::from(salt.as_str()));
        }
        let endpoint = Endpoint {
            urls: vec![self.url.clone()],
            model: self.model.clone(),
            api_key: self.key.clone(),
            extra,
            ..Endpoint::default()
        };
        let provider = OpenAi::new(http, endpoint)
            .map_err(|error| ConfigError::at("the policy's address", error.to_string()))?;
        Ok(Model::new(name, Box::new(provider), limits, None))
    }
}

/// Connected judges, so that rollouts share connections and limits.
#[derive(Default)]
pub(crate) struct JudgeCache(Mutex<HashMap<PolicyEndpoint, Arc<Model>>>);

/// Maximum number of judges: the salt changes with every set of weights, and few are in use at a time.
const CAPACITY: usize = 8;

impl JudgeCache {
    /// The judge behind an endpoint.
    pub(crate) fn get(
        &self,
        served: &PolicyEndpoint,
        connect: impl FnOnce() -> Result<Model, ConfigError>,
    ) -> Result<Arc<Model>, ConfigError> {
        let mut judges = self.0.lock();
        if let Some(judge) = judges.get(served) {
            return Ok(judge.clone());
        }
        if judges.len() >= CAPACITY {
            judges.clear();
        }
        let judge = Arc::new(connect()?);
        judges.insert(served.clone(), judge.clone());
        Ok(judge)
    }
}
