//! The questions of all workers, kept by `aske serve env`: how new is this one?

use aske_config::ConfigError;
use aske_model::{Halt, HttpClient, JsonService, Limits, ModelError};
use serde::Deserialize;
use serde_json::json;

/// The history that a run's workers share.
pub(crate) struct History(JsonService);

#[derive(Deserialize)]
struct Told {
    novelty: [f64; 1],
}

impl History {
    /// The history of the environment that is served at `url`.
    pub(crate) fn new(http: &HttpClient, url: &str) -> Result<Self, ConfigError> {
        let limits = Limits { timeout_s: 60.0, concurrency: 64, ..Limits::default() };
        JsonService::new(http, "diversity", url, "v1/diversity", limits).map(Self).map_err(|error| {
            ConfigError::at("diversity_url", error.to_string())
                .with_hint("the address that `aske serve env` prints, such as \"http://127.0.0.1:8078\"")
        })
    }

    /// How new a question is; from now on it is remembered.
    pub(crate) async fn novelty(&self, question: &str, halt: &Halt) -> Result<f64, ModelError> {
        // A call that is tried again under its key is remembered once.
        let key = format!("{:016x}", fastrand::u64(..));
        let body = json!({ "key": key, "questions": [question] }).to_string();
        let told = self.0.post(&body, halt).await?;
        match serde_json::from_str(&told) {
            Ok(Told { novelty: [novelty] }) => Ok(novelty),
            Err(error) => Err(ModelError {
                model: "diversity".to_owned(),
                cause: aske_model::ErrorCause::Malformed,
                message: error.to_string(),
                attempts: 1,
            }),
        }
    }
}
