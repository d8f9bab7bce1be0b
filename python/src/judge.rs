//! The policy at its endpoints, as the asker and as its own cross-check solver.

use crate::environment::FIRST_ATTEMPTS;
use aske_config::ConfigError;
use aske_model::{Endpoint, HttpClient, Limits, Model, OpenAi};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The endpoint of a policy.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct PolicyEndpoint {
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) key: Option<String>,
    /// Further headers of every request.
    pub(crate) headers: BTreeMap<String, String>,
    /// Separates the prefix caches of different weights; sent as `cache_salt`.
    pub(crate) salt: Option<String>,
    /// Merged into every request body: a JSON object, or empty.
    pub(crate) extra: String,
}

impl PolicyEndpoint {
    /// The server, and the name under which it knows the model.
    fn address(&self) -> (String, String) {
        (self.url.clone(), self.model.clone())
    }

    /// The policy as a model.
    fn connect(&self, http: &HttpClient, name: &str, limits: Limits) -> Result<Model, ConfigError> {
        let mut extra: Map<String, Value> = serde_json::from_str(&self.extra).unwrap_or_default();
        if let Some(salt) = &self.salt {
            extra.insert("cache_salt".to_owned(), Value::from(salt.as_str()));
        }
        let endpoint = Endpoint {
            urls: vec![self.url.clone()],
            model: self.model.clone(),
            api_key: self.key.clone(),
            extra,
            headers: self.headers.clone().into_iter().collect(),
            ..Endpoint::default()
        };
        let provider = OpenAi::new(http, endpoint)
            .map_err(|error| ConfigError::caused_by("the policy's address", &error))?;
        Ok(Model::new(name, Box::new(provider), limits, None).with_first_attempts(FIRST_ATTEMPTS))
    }
}

/// Connected policies, so that rollouts share connections and limits.
#[derive(Default)]
pub(crate) struct PolicyCache(Mutex<Policies>);

#[derive(Default)]
struct Policies {
    connected: HashMap<PolicyEndpoint, Arc<Model>>,
    /// The first model at each address, whose limits all others there share: keys and salts change with rollouts and weights.
    addresses: HashMap<(String, String), Arc<Model>>,
    /// The number of connected policies above which those that are not in use are dropped.
    capacity: usize,
}

/// Connected policies that are kept although no rollout uses them.
const IDLE: usize = 16;

impl PolicyCache {
    /// The policy behind an endpoint.
    pub(crate) fn get(
        &self,
        endpoint: &PolicyEndpoint,
        http: &HttpClient,
        name: &str,
        limits: &Limits,
    ) -> Result<Arc<Model>, ConfigError> {
        let policies = &mut *self.0.lock();
        if let Some(model) = policies.connected.get(endpoint) {
            return Ok(model.clone());
        }
        let model = endpoint.connect(http, name, limits.clone())?;
        let address = endpoint.address();
        let model = match policies.addresses.get(&address) {
            Some(first) => Arc::new(model.sharing_limits_of(first)),
            None => policies.addresses.entry(address.clone()).or_insert(Arc::new(model)).clone(),
        };
        if policies.connected.len() >= policies.capacity.max(IDLE) {
            policies.connected.retain(|_, model| Arc::strong_count(model) > 1);
            policies.capacity = 2 * policies.connected.len();
            let used = policies.connected.keys().map(PolicyEndpoint::address);
            let used: HashSet<_> = used.chain([address]).collect();
            policies.addresses.retain(|address, _| used.contains(address));
        }
        policies.connected.insert(endpoint.clone(), model.clone());
        Ok(model)
    }
}
