//! Data that cannot be used: where, what, and what to do.

use std::path::Path;

/// A dataset that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct DataError {
    /// The dataset, or the file and the row.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: String,
}

impl DataError {
    /// An error at a place.
    pub fn at(place: impl Into<String>, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), hint: hint.into() }
    }

    /// What the system said about a file.
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::at(path.display().to_string(), error.to_string(), "name a file that is there and can be read")
    }
}
