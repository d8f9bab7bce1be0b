//! Why the environment cannot start or go on.

use aske_bench::PlanError;
use aske_config::ConfigError;
use aske_diversity::{EmbedError, NoveltyError};
use aske_record::RunError;
use std::io;
use std::net::SocketAddr;

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
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The server stopped.
    #[error("the server stopped: {0}")]
    Stopped(io::Error),
}

impl ServeError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint.clone(),
            Self::Plan(error) => Some(error.hint.clone()),
            Self::Run(error) => error.hint().map(str::to_owned),
            Self::Bind { .. } => {
                Some("another program may have that port; choose one with --port, or 0 for any".to_owned())
            }
            Self::Embed(_) | Self::Novelty(_) | Self::Stopped(_) => None,
        }
    }
}
