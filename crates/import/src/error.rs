//! The error of an import.

use crate::LineError;
use aske_chat::Hint;
use aske_record::RunError;
use std::borrow::Cow;
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
        /// The cause.
        source: io::Error,
    },
    /// A line could not be read, and none may be skipped.
    #[error(transparent)]
    Line(LineError),
    /// No rollout could be imported.
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
}

impl Hint for ImportError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Io { .. } => "name files written by `vf-eval`: results.jsonl or traces.jsonl",
            Self::Line(_) => "fix or remove that line; without --strict it is skipped",
            Self::Nothing(_) => {
                "name files written by `vf-eval`; --rounds, --asker and --map give what they do not say"
            }
            Self::Run(error) => return Hint::hint(error),
        };
        Some(hint.into())
    }
}
