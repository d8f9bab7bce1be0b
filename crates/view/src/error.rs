//! Why the viewer cannot start.

use aske_chat::Hint;
use aske_http::{HttpError, WorkerError};
use aske_record::RunError;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

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
    /// The folder of a static copy is in use.
    #[error("{} is not empty", .0.display())]
    Occupied(PathBuf),
    /// A file of a static copy cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A static copy cannot be made.
    #[error("the static copy cannot be made: {0}")]
    Page(String),
    /// Reading the runs panicked.
    #[error(transparent)]
    Worker(#[from] WorkerError),
}

impl ViewError {
    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}

impl Hint for ViewError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::NoRuns => Some("name a folder written by `aske bench`".into()),
            Self::Occupied(_) => Some("name a folder that does not exist yet, or an empty one".into()),
            Self::Write { source, .. } => Some(aske_record::io_hint(source).into()),
            Self::Page(_) => None,
            Self::Run(error) => Hint::hint(error),
            Self::Http(error) => error.hint(),
            Self::Worker(error) => error.hint(),
        }
    }
}
