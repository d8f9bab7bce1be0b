//! Why the environment cannot start or go on.

use aske_bench::PlanError;
use aske_chat::Hint;
use aske_config::ConfigError;
use aske_diversity::{EmbedError, NoveltyError};
use aske_record::RunError;

/// What can go wrong.
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
    /// The embedder cannot be had.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The embedder gives what the history cannot hold.
    #[error(transparent)]
    Novelty(#[from] NoveltyError),
    /// The server cannot start.
    #[error(transparent)]
    Http(#[from] aske_http::HttpError),
}

impl ServeError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint.clone(),
            Self::Plan(error) => Some(error.hint.clone()),
            Self::Run(error) => error.hint().map(str::to_owned),
            Self::Http(error) => Some(error.hint().to_owned()),
            Self::Embed(error) => error.hint().map(Into::into),
            Self::Novelty(error) => error.hint().map(Into::into),
        }
    }
}
