//! Query parameters, taken one by one; unknown ones are an error.

use aske_http::ApiError;
use axum::extract::Query;
use axum::http::Uri;
use serde::Serialize;
use serde_json::Value;
use std::str::FromStr;

/// The remaining parameters. An empty value counts as absent.
#[derive(Debug)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    pub(crate) fn parse(uri: &Uri) -> Result<Self, ApiError> {
        let query = Query::try_from_uri(uri).map_err(|error| ApiError::bad_request(error.body_text()))?;
        Ok(Self(query.0))
    }

    /// Takes a text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        let Some(index) = self.0.iter().position(|(key, _)| key == name) else { return Ok(None) };
        let (_, value) = self.0.swap_remove(index);
        if self.0.iter().any(|(key, _)| key == name) {
            return Err(ApiError::bad_request(format!("`{name}` is given twice")));
        }
        Ok(Some(value).filter(|value| !value.is_empty()))
    }

    /// Takes a text that must be present.
    pub(crate) fn required(&mut self, name: &str) -> Result<String, ApiError> {
        self.text(name)?.ok_or_else(|| ApiError::bad_request(format!("`{name}` is required")))
    }

    /// Takes the id of a run; `None` stands for the first one.
    pub(crate) fn run(&mut self) -> Result<Option<String>, ApiError> {
        self.text("run")
    }

    /// Takes a text that may be given several times.
    pub(crate) fn all(&mut self, name: &str) -> Vec<String> {
        let (taken, left) = std::mem::take(&mut self.0).into_iter().partition(|(key, _)| key == name);
        self.0 = left;
        let taken: Vec<(String, String)> = taken;
        taken.into_iter().map(|(_, value)| value).collect()
    }

    /// Takes a whole number.
    pub(crate) fn number<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(default) };
        text.parse()
            .map_err(|_| ApiError::bad_request(format!("`{name}={}` is not a number", shorten(&text))))
    }

    /// Takes one of several words, each the name of a value.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &str,
        all: impl IntoIterator<Item = T>,
        word: impl Fn(&T) -> String,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let choices: Vec<(String, T)> = all.into_iter().map(|choice| (word(&choice), choice)).collect();
        if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == text) {
            return Ok(Some(*choice));
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| word.as_str()).collect();
        let message = format!("`{name}={}` is not one of {}", shorten(&text), words.join(", "));
        Err(ApiError::bad_request(message))
    }

    /// Checks that no parameter is left.
    pub(crate) fn end(&self) -> Result<(), ApiError> {
        let unknown = |name: &str| format!("`{}` is not a parameter of this route", shorten(name));
        self.0.first().map_or(Ok(()), |(name, _)| Err(ApiError::bad_request(unknown(name))))
    }
}

/// The word that a value is in JSON.
pub(crate) fn json_word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}
