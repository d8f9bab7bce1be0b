//! An engine as a provider of chat replies.

use super::{Engine, Generate};
use crate::{Fault, Provider, Request};
use aske_chat::{Reply, Trace, Usage};
use futures_util::future::BoxFuture;

/// A model that runs in this process.
///
/// Sampling that a request leaves open is that of the engine: temperature 1, no limits. The request's seed is
/// always used, so the same request gives the same reply.
#[derive(Clone)]
pub struct Local {
    engine: Engine,
    traced: bool,
}

impl Local {
    /// Serves chat requests with this engine.
    pub fn new(engine: Engine) -> Self {
        Self { engine, traced: false }
    }

    /// Replies carry their tokens and log-probabilities.
    #[must_use]
    pub fn traced(self) -> Self {
        Self { traced: true, ..self }
    }

    /// The engine below.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl Provider for Local {
    fn attempt<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, Fault>> {
        Box::pin(async move {
            let vocabulary = self.engine.vocabulary();
            let generate = Generate {
                prompt: vocabulary.prompt(&request.messages)?,
                max_tokens: request.max_tokens as usize,
                sampling: request.sampling.clone(),
                seed: request.seed.into(),
                logprobs: self.traced,
                ..Generate::default()
            };
            let written = self.engine.generate(generate).await?;
            let mut content = vocabulary.decode(&written.tokens);
            let stops = request.sampling.stop.iter().flatten().filter(|stop| !stop.is_empty());
            if let Some(end) = stops.filter_map(|stop| content.find(stop.as_str())).min() {
                content.truncate(end);
            }
            let usage = Usage {
                prompt: written.prompt as u64,
                cached: written.cached as u64,
                completion: written.tokens.len() as u64,
                reasoning: 0,
            };
            let trace = written.logprobs.map(|logprobs| Trace { tokens: written.tokens, logprobs });
            Ok(Reply { content, reasoning: None, finish: written.finish, usage, trace })
        })
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, Fault>> {
        let parameters = grouped(self.engine.config().parameters());
        Box::pin(std::future::ready(Ok(format!("a network of {parameters} parameters in this process"))))
    }
}

/// A number with a comma before every three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_grouped_by_three_digits() {
        assert_eq!([7, 820, 1_820, 1_820_000].map(super::grouped), ["7", "820", "1,820", "1,820,000"]);
    }
}
