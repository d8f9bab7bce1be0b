//! The replies of the models: a pure function of the request.

mod asker;
mod draws;
mod request;
mod solver;
mod words;

pub(crate) use request::ChatRequest;

use draws::Draws;
use solver::Form;

/// The finish reason of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finish {
    Stop,
    Length,
}

impl Finish {
    /// The name in the API.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
        }
    }
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

/// The models of the server.
enum Model {
    Asker,
    Solver { ability: u64 },
    Check,
    Equiv,
}

impl Model {
    fn named(name: &str) -> Option<Self> {
        if let Some(ability) = name.strip_prefix("solver-") {
            return ability
                .parse()
                .ok()
                .filter(|ability| *ability <= 100)
                .map(|ability| Self::Solver { ability });
        }
        let starts = |prefix| name.starts_with(prefix);
        if starts("asker") {
            Some(Self::Asker)
        } else if starts("check") {
            Some(Self::Check)
        } else if starts("equiv") {
            Some(Self::Equiv)
        } else {
            None
        }
    }
}

/// Answers a request; `None` if no such model exists.
pub(crate) fn complete(request: &ChatRequest, pad_words: usize) -> Option<Completion> {
    let model = Model::named(&request.model)?;
    let draws = Draws::of(request);
    let (mut content, mut finish) = match model {
        Model::Asker => asker::reply(&draws, pad_words),
        Model::Solver { ability } => {
            let form = if request.wants_summary() { Form::Summary } else { Form::Plain };
            (solver::solver(request.last_user(), &draws, ability, form, pad_words), Finish::Stop)
        }
        Model::Check => (solver::check(request.last_user(), &draws, pad_words), Finish::Stop),
        Model::Equiv => ("no".to_owned(), Finish::Stop),
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
