//! Why the viewer cannot start.

use aske_chat::Hint;
use aske_http::{HttpError, WorkerError};
use aske_record::RunError;
use std::borrow::Cow;

/// Why the viewer cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No run folder was given.
    #[error("no run to show")]
    NoRuns,
    /// No run folder can be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The server cannot start.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// Reading the runs panicked.
    #[error(transparent)]
    Worker(#[from] WorkerError),
}

impl Hint for ViewError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::NoRuns => Some("name a folder written by `aske bench`".into()),
            Self::Run(error) => Hint::hint(error),
            Self::Http(error) => error.hint(),
            Self::Worker(error) => error.hint(),
        }
    }
}
