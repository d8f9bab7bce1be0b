//! Why the viewer cannot start or go on.

use aske_record::RunError;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No folder was named.
    #[error("no run to show")]
    NoRuns,
    /// A folder cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The server cannot start.
    #[error(transparent)]
    Http(#[from] aske_http::HttpError),
    /// The server stopped.
    #[error("the viewer stopped: {0}")]
    Stopped(String),
}

impl ViewError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoRuns => Some("name a folder that `aske bench` has written"),
            Self::Run(error) => error.hint(),
            Self::Http(error) => Some(error.hint()),
            Self::Stopped(_) => None,
        }
    }
}
