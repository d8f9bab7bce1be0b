//! The error of a configuration: where it is, what is wrong and what to do about it.

use crate::environment::SETS_NOTHING;
use aske_chat::Hint;
use std::borrow::Cow;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", location.as_deref().map(|location| format!("{location}: ")).unwrap_or_default())]
pub struct ConfigError {
    /// The file and line, environment variable, flag or key.
    pub(crate) location: Option<String>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl ConfigError {
    /// An error at a location: a key, a file, a variable or a flag.
    pub fn at(location: impl Into<String>, message: impl Into<String>) -> Self {
        Self { location: Some(location.into()), message: message.into(), hint: None }
    }

    /// Another error, with its hint, at a location.
    pub fn caused_by(location: impl Into<String>, error: &impl Hint) -> Self {
        Self { hint: error.hint().map(Cow::into_owned), ..Self::at(location, error.to_string()) }
    }

    /// The same error with a location in front of its own.
    #[must_use]
    pub fn inside(mut self, location: impl Into<String>) -> Self {
        let location = location.into();
        self.location = Some(self.location.map_or(location.clone(), |inner| format!("{location}: {inner}")));
        self
    }

    /// Whether a variable, which is the location, names no key.
    pub(crate) fn is_unknown_variable(&self) -> bool {
        self.message == SETS_NOTHING || self.message.starts_with("unknown key ")
    }

    /// Sets the hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Hint for ConfigError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        self.hint.as_deref().map(Cow::Borrowed)
    }
}
