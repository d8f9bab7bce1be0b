//! What is wrong with a configuration, where, and what to do.

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{what}", place.as_deref().map(|place| format!("{place}: ")).unwrap_or_default())]
pub struct ConfigError {
    /// The file and line, variable, flag or key.
    pub place: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: Option<String>,
}

impl ConfigError {
    /// An error at a place.
    pub fn at(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: Some(place.into()), what: what.into(), hint: None }
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
