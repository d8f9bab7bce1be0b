//! The error for a dataset that cannot be used.

use aske_chat::Hint;
use std::borrow::Cow;
use std::path::Path;

/// A dataset that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {message}")]
pub struct DataError {
    /// The dataset, or the file and the row.
    pub location: String,
    /// What is wrong.
    pub message: String,
    hint: String,
}

impl DataError {
    /// An error at a location, with a hint.
    pub fn new(location: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { location: location.into(), message: message.into(), hint: hint.into() }
    }

    /// A file that cannot be read.
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::new(path.display().to_string(), error.to_string(), "name an existing file that you can read")
    }
}

impl Hint for DataError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.hint))
    }
}
