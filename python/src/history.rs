//! Client of the history of all workers' questions, which `aske serve env` keeps.

use aske_config::ConfigError;
use aske_model::{Halt, HttpClient, JsonService, Limits, ModelError};
use serde::Deserialize;
use serde_json::json;

/// The shared history.
pub(crate) struct History(JsonService);

#[derive(Deserialize)]
struct NoveltyResponse {
    novelty: [f64; 1],
}

impl History {
    /// The history of the environment at `url`.
    pub(crate) fn new(http: &HttpClient, url: &str) -> Result<Self, ConfigError> {
        let limits = Limits { timeout_s: 60.0, concurrency: 64, ..Limits::default() };
        JsonService::new(http, "diversity", url, "v1/diversity", limits).map(Self).map_err(|error| {
            ConfigError::at("diversity_url", error.to_string())
                .with_hint("use the address that `aske serve env` prints, such as \"http://127.0.0.1:8078\"")
        })
    }

    /// Adds a question to the history; returns its novelty.
    pub(crate) async fn novelty(&self, question: &str, halt: &Halt) -> Result<f64, ModelError> {
        // A retried request has the same key and is stored once.
        let key = format!("{:016x}", fastrand::u64(..));
        let body = json!({ "key": key, "questions": [question] }).to_string();
        let response = self.0.post(&body, halt).await?;
        match serde_json::from_str(&response) {
            Ok(NoveltyResponse { novelty: [novelty] }) => Ok(novelty),
            Err(error) => {
                Err(ModelError::new("diversity", aske_model::ErrorCause::Malformed, error.to_string(), 1))
            }
        }
    }
}
