//! What can stop an import.

use crate::BadLine;
use aske_record::RunError;
use std::io;
use std::path::{Path, PathBuf};

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line cannot be read, and none may be skipped.
    #[error("{0}")]
    Line(BadLine),
    /// No rollout is one that can be taken.
    #[error("there is no rollout to import{0}")]
    Nothing(String),
    /// The run folder could not be written.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl ImportError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io { .. } => Some("name files that `vf-eval` has written: results.jsonl or traces.jsonl"),
            Self::Line(_) => Some("mend or remove that line; without --strict it is skipped"),
            Self::Nothing(_) => Some("--rounds, --asker and --map say what the file does not"),
            Self::Run(error) => error.hint(),
        }
    }
}
