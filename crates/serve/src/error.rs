//! Why the environment cannot start, and the responses to steps that fail.

use crate::episode::EpisodeError;
use aske_bench::{CallError, PlanError};
use aske_chat::Hint;
use aske_config::ConfigError;
use aske_diversity::{EmbedError, NoveltyError};
use aske_http::{ApiError, HttpError};
use aske_model::ErrorCause;
use aske_record::RunError;
use aske_session::FeedError;
use axum::http::StatusCode;
use std::borrow::Cow;

/// Why the environment or the model endpoint cannot start, or the history cannot be extended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A model cannot be prepared.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There are no pairs.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The run folder or the history cannot be read or written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The embedder cannot be loaded or fails.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The embeddings do not fit the history.
    #[error(transparent)]
    Novelty(#[from] NoveltyError),
    /// The server cannot start.
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl Hint for ServeError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Config(error) => Hint::hint(error),
            Self::Plan(error) => Hint::hint(error),
            Self::Run(error) => Hint::hint(error),
            Self::Http(error) => error.hint(),
            Self::Embed(error) => error.hint(),
            Self::Novelty(error) => error.hint(),
        }
    }
}

/// Why a step was not answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Feed(#[from] FeedError),
}

impl From<StepError> for ApiError {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Episode(error @ EpisodeError::AnswerCount { .. }) => {
                Self::bad_request(error.to_string()).with_hint("send as many answers as `draws` says")
            }
            StepError::Episode(error) => Self::conflict(error.to_string()).with_hint(
                "repeat a step only with the same body; the response to the last step says what is needed next",
            ),
            StepError::Call(error @ CallError::Halted) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
                    .with_hint("the environment is shutting down, or its budget is used up")
            }
            StepError::Call(error) => {
                let status = match &error {
                    CallError::Model(error)
                        if error.cause.is_transient() || error.cause == ErrorCause::Halted =>
                    {
                        StatusCode::SERVICE_UNAVAILABLE
                    }
                    CallError::Model(_) => StatusCode::BAD_GATEWAY,
                    _ => StatusCode::INTERNAL_SERVER_ERROR,
                };
                Self::from_error(status, &error)
            }
            StepError::Feed(error) => Self::internal(error.to_string()),
        }
    }
}
