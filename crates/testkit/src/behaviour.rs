//! The replies of the models: a pure function of the request.

mod asker;
mod draws;
mod request;
mod solver;
mod words;

pub(crate) use request::ChatRequest;

use draws::Draws;
use serde::Serialize;
use solver::Form;

/// The finish reason of a reply, by its name in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Finish {
    Stop,
    Length,
}

/// A reply of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) id: String,
    pub(crate) content: String,
    pub(crate) finish: Finish,
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
}

/// Answers a request; `None` if no such model exists.
pub(crate) fn complete(request: &ChatRequest, pad_words: usize) -> Option<Completion> {
    let model = &request.model;
    let draws = Draws::of(request);
    let (mut content, mut finish) = if let Some(ability) = model.strip_prefix("solver-") {
        let ability = ability.parse().ok().filter(|ability| *ability <= 100)?;
        let form = if request.wants_summary() { Form::Summary } else { Form::Plain };
        (solver::solver(request.last_user(), &draws, ability, form, pad_words), Finish::Stop)
    } else if model.starts_with("asker") {
        asker::reply(&draws, pad_words)
    } else if model.starts_with("check") {
        (solver::check(request.last_user(), &draws, pad_words), Finish::Stop)
    } else if model.starts_with("equiv") {
        ("no".to_owned(), Finish::Stop)
    } else {
        return None;
    };
    if let Some(limit) = request.max_completion_tokens.or(request.max_tokens)
        && words::tokens(&content) > limit
    {
        words::truncate(&mut content, limit);
        finish = Finish::Length;
    }
    Some(Completion {
        id: format!("chatcmpl-{}", draws.id()),
        tokens_in: request.texts().map(words::tokens).sum(),
        tokens_out: words::tokens(&content),
        content,
        finish,
    })
}

#[cfg(test)]
mod tests;
