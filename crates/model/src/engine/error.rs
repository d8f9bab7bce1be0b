//! Errors in the files of a checkpoint.

use std::error::Error;
use std::path::Path;

/// What is wrong with a file.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// A checkpoint that cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {source}")]
pub struct CheckpointError {
    /// The path of the file.
    pub file: String,
    /// What is wrong with it.
    pub source: BoxError,
}

impl CheckpointError {
    pub(super) fn new(file: &str, source: impl Into<BoxError>) -> Self {
        Self { file: file.to_owned(), source: source.into() }
    }

    /// The same of a file in this folder.
    pub(super) fn below(self, folder: &Path) -> Self {
        Self { file: folder.join(self.file).display().to_string(), ..self }
    }
}
