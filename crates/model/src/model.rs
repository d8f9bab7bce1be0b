//! The one choke point of every call: places, pace, deadline, retries, cost.

use crate::gate::Gate;
use crate::pace::Pace;
use crate::{ErrorCause, Halt, Limits, ModelError, ProviderError, Request};
use aske_chat::{Price, Reply, Usd};
use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

/// Makes one attempt at a request. Everything around an attempt belongs to [`Model`].
pub trait Provider: Send + Sync {
    /// One attempt, without a deadline of its own.
    fn attempt<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>>;

    /// One attempt whose text is also said piece by piece as it comes; all at once where the provider cannot do better.
    fn stream<'a>(
        &'a self,
        request: &'a Request,
        said: UnboundedSender<String>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async move {
            let reply = self.attempt(request).await?;
            // Nobody may be listening any more.
            let _ = said.send(reply.content.clone());
            Ok(reply)
        })
    }

    /// Bytes of all messages together that can fit the model's context, where that is known.
    fn longest_prompt(&self) -> Option<usize> {
        None
    }

    /// Whether the model can be reached, and what was seen.
    fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>>;
}

/// A reply and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The reply.
    pub reply: Reply,
    /// From the first byte sent to the last received, in the attempt that succeeded.
    pub latency: Duration,
    /// Attempts made.
    pub attempts: u32,
    /// By the configured price.
    pub cost: Usd,
}

/// A language model under its name.
pub struct Model {
    name: String,
    provider: Box<dyn Provider>,
    limits: Limits,
    gate: Gate,
    requests: Option<Pace>,
    tokens: Option<Pace>,
    price: Option<Price>,
}

impl Model {
    /// A model that this provider serves.
    pub fn new(name: &str, provider: Box<dyn Provider>, limits: Limits, price: Option<Price>) -> Self {
        Self {
            name: name.to_owned(),
            provider,
            gate: Gate::new(limits.concurrency),
            requests: limits.rpm.map(Pace::new),
            tokens: limits.tpm.map(Pace::new),
            limits,
            price,
        }
    }

    /// The name in the configuration.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of all messages together that can fit its context, where that is known.
    pub fn longest_prompt(&self) -> Option<usize> {
        self.provider.longest_prompt()
    }

    /// Whether it can be reached: one attempt, ten seconds.
    pub async fn probe(&self) -> Result<String, ModelError> {
        let deadline = Duration::from_secs(10);
        let probed = tokio::time::timeout(deadline, self.provider.probe()).await;
        probed.unwrap_or_else(|_| Err(timed_out(deadline))).map_err(|fault| self.give_up(fault, 1))
    }

    /// A reply to the request: tried again while the cause is passing, within the limits.
    ///
    /// Once `halt` is called no further attempt begins; one that is under way may end.
    pub async fn complete(&self, request: &Request, halt: &Halt) -> Result<Completion, ModelError> {
        let begun = Instant::now();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let fault = match self.attempt(request, halt, self.provider.attempt(request)).await {
                Ok((reply, latency)) => {
                    let cost = self.price.map_or(Usd::default(), |price| price.cost(&reply.usage));
                    return Ok(Completion { reply, latency, attempts: attempt, cost });
                }
                Err(fault) => fault,
            };
            let pause = self.limits.pause(attempt, fault.retry_after, fastrand::f64());
            let too_late = begun.elapsed().saturating_add(pause) > self.limits.deadline();
            if !fault.cause.is_transient() || attempt >= self.limits.attempts || too_late {
                return Err(self.give_up(fault, attempt));
            }
            halt.unless(tokio::time::sleep(pause)).await;
        }
    }

    /// A reply in one attempt, its text said piece by piece. What was said cannot be taken back, so nothing is tried
    /// again.
    pub async fn stream(
        &self,
        request: &Request,
        halt: &Halt,
        said: UnboundedSender<String>,
    ) -> Result<Reply, ModelError> {
        let attempt = self.attempt(request, halt, self.provider.stream(request, said)).await;
        attempt.map(|(reply, _)| reply).map_err(|fault| self.give_up(fault, 1))
    }

    async fn attempt(
        &self,
        request: &Request,
        halt: &Halt,
        attempt: BoxFuture<'_, Result<Reply, ProviderError>>,
    ) -> Result<(Reply, Duration), ProviderError> {
        let estimate = request.estimate();
        let Some(place) = halt.unless(self.admit(estimate)).await else {
            return Err(ProviderError::new(ErrorCause::Halted, "the run was halted"));
        };
        let begun = Instant::now();
        let deadline = self.limits.timeout();
        let outcome = tokio::time::timeout(deadline, attempt).await;
        let latency = begun.elapsed();
        let outcome = outcome.unwrap_or_else(|_| Err(timed_out(deadline)));
        if outcome.as_ref().is_err_and(|fault| fault.cause == ErrorCause::Throttled) {
            self.gate.throttled();
        } else if outcome.is_ok() {
            self.gate.succeeded();
        }
        self.gate.leave(place);
        if let Some(tokens) = &self.tokens {
            let used = outcome.as_ref().map_or(0.0, |reply| reply.usage.total() as f64);
            tokens.correct(estimate, used);
        }
        outcome.map(|reply| (reply, latency))
    }

    /// Waits for its turn: the pace of requests, the pace of tokens, a place.
    async fn admit(&self, estimate: f64) -> Option<tokio::sync::SemaphorePermit<'_>> {
        if let Some(requests) = &self.requests {
            requests.reserve(1.0).await;
        }
        if let Some(tokens) = &self.tokens {
            tokens.reserve(estimate).await;
        }
        self.gate.enter().await
    }

    fn give_up(&self, fault: ProviderError, attempts: u32) -> ModelError {
        ModelError { model: self.name.clone(), cause: fault.cause, message: fault.message, attempts }
    }
}

fn timed_out(deadline: Duration) -> ProviderError {
    ProviderError::new(ErrorCause::Timeout, format!("no answer within {} s", deadline.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Fails so many times, then replies.
    struct Shaky {
        failures: u32,
        fault: ProviderError,
        made: AtomicU32,
    }

    impl Provider for Shaky {
        fn attempt<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
            let failed = self.made.fetch_add(1, Ordering::Relaxed) < self.failures;
            Box::pin(std::future::ready(if failed { Err(self.fault.clone()) } else { Ok(Reply::text("x")) }))
        }

        fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
            Box::pin(std::future::pending())
        }
    }

    fn model(failures: u32, cause: ErrorCause, limits: Limits) -> Model {
        let fault =
            ProviderError { retry_after: Some(Duration::from_secs(10)), ..ProviderError::new(cause, "no") };
        Model::new("m", Box::new(Shaky { failures, fault, made: AtomicU32::new(0) }), limits, None)
    }

    async fn attempts(model: Model) -> Result<u32, (ErrorCause, u32)> {
        let done = model.complete(&Request::user("q"), &Halt::default()).await;
        done.map(|done| done.attempts).map_err(|failure| (failure.cause, failure.attempts))
    }

    #[tokio::test(start_paused = true)]
    async fn passing_causes_are_tried_again_and_lasting_ones_are_not() {
        for cause in [
            ErrorCause::Throttled,
            ErrorCause::Timeout,
            ErrorCause::Network,
            ErrorCause::Server,
            ErrorCause::Malformed,
        ] {
            assert_eq!(attempts(model(3, cause, Limits::default())).await, Ok(4), "{cause}");
            assert_eq!(attempts(model(99, cause, Limits::default())).await, Err((cause, 8)), "{cause}");
        }
        for cause in [
            ErrorCause::Auth,
            ErrorCause::Payment,
            ErrorCause::NotFound,
            ErrorCause::Rejected,
            ErrorCause::Script,
        ] {
            assert_eq!(attempts(model(99, cause, Limits::default())).await, Err((cause, 1)), "{cause}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_attempt_begins_after_the_deadline_of_the_call() {
        // The server asks for 10 s each time, so attempts begin at about 0, 10 and 20 s.
        let limits = Limits { deadline_s: 25.0, attempts: 99, ..Limits::default() };
        assert_eq!(attempts(model(99, ErrorCause::Server, limits)).await, Err((ErrorCause::Server, 3)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_halted_call_begins_no_attempt() {
        let halt = Halt::default();
        halt.trigger();
        let model = model(0, ErrorCause::Server, Limits::default());
        assert_eq!(model.complete(&Request::user("q"), &halt).await.unwrap_err().cause, ErrorCause::Halted);
        assert_eq!(model.probe().await.unwrap_err().cause, ErrorCause::Timeout, "a probe has a deadline too");
    }
}
