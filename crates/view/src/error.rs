//! Why the viewer cannot start or go on.

use aske_record::RunError;
use std::io;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No folder was named.
    #[error("no run to show")]
    NoRuns,
    /// A folder cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The port cannot be had.
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Bind {
        /// The port.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
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
            Self::Bind { .. } => Some("another program has that port; choose one with --port, or 0 for any"),
            Self::Stopped(_) => None,
        }
    }
}
