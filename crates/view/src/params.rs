//! The parameters of a request, taken one by one; what nobody takes is an error.

use crate::problem::Problem;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use std::fmt::Display;
use std::str::FromStr;

/// Names and values; an empty value is as good as none.
#[derive(Debug)]
pub(crate) struct Params(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(pairs) = Query::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|error| Problem::bad(error.body_text()))?;
        Ok(Self(pairs))
    }
}

impl Params {
    /// Takes a text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let Some(place) = self.0.iter().position(|(key, _)| key == name) else { return Ok(None) };
        let (_, value) = self.0.swap_remove(place);
        if self.0.iter().any(|(key, _)| key == name) {
            return Err(Problem::bad(format!("`{name}` is given twice")));
        }
        Ok(Some(value).filter(|value| !value.is_empty()))
    }

    /// Takes a whole number.
    pub(crate) fn number<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, Problem> {
        match self.text(name)? {
            None => Ok(default),
            Some(text) => {
                text.parse().map_err(|_| Problem::bad(format!("`{name}={}` is not a number", brief(&text))))
            }
        }
    }

    /// Takes one of some words.
    pub(crate) fn choice<T: Copy + Display>(
        &mut self,
        name: &str,
        all: impl IntoIterator<Item = T>,
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let (mut words, mut found) = (Vec::new(), None);
        for choice in all {
            let word = choice.to_string();
            if word == text {
                found = Some(choice);
            }
            words.push(word);
        }
        let wrong = || format!("`{name}={}` is none of {}", brief(&text), words.join(", "));
        found.map(Some).ok_or_else(|| Problem::bad(wrong()))
    }

    /// All must have been taken.
    pub(crate) fn end(self) -> Result<(), Problem> {
        let unknown = self.0.into_iter().next();
        unknown.map_or(Ok(()), |(name, _)| {
            Err(Problem::bad(format!("`{}` is not a parameter here", brief(&name))))
        })
    }
}

fn brief(text: &str) -> String {
    text.chars().take(40).collect()
}
