//! [`Model`]: every call passes here for its concurrency and rate limits, deadline, retries and cost.

use crate::concurrency::ConcurrencyLimiter;
use crate::limits::seconds;
use crate::rate::RateLimiter;
use crate::waiting::{CallsInProgress, TrackedCall};
use crate::{ErrorCause, Halt, Limits, ModelError, ProviderError, Request, Waiting};
use aske_chat::{Price, Reply, Usd};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;
use tracing::{debug, info, trace, warn};

/// Makes one attempt at a request. Everything around an attempt belongs to [`Model`].
pub trait Provider: Send + Sync {
    /// Makes one attempt; deadlines are up to the caller.
    fn attempt<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>>;

    /// Makes one attempt and sends its text in pieces as it is generated; in one piece where the provider cannot stream.
    fn stream<'a>(
        &'a self,
        request: &'a Request,
        deltas: UnboundedSender<String>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async move {
            let reply = self.attempt(request).await?;
            // The receiver may be gone.
            let _ = deltas.send(reply.content.clone());
            Ok(reply)
        })
    }

    /// The most bytes of messages that can fit the model's context, where known.
    fn max_prompt_bytes(&self) -> Option<usize> {
        None
    }

    /// Whether requests leave this process.
    fn is_remote(&self) -> bool {
        false
    }

    /// The names of the models that its server lists; `None` if it lists none.
    fn served(&self) -> BoxFuture<'_, Result<Option<Vec<String>>, ProviderError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Checks that the model can be reached, and describes it.
    fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok("ready".to_owned())))
    }
}

/// A reply with its latency, attempts and cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The reply.
    pub reply: Reply,
    /// From the first byte sent to the last received, in the successful attempt.
    pub latency: Duration,
    /// Attempts made.
    pub attempts: u32,
    /// Cost at the configured price.
    pub cost: Usd,
}

/// A language model with its limits and price.
pub struct Model {
    name: String,
    provider: Box<dyn Provider>,
    limits: Limits,
    concurrency: Arc<ConcurrencyLimiter>,
    requests: Option<Arc<RateLimiter>>,
    tokens: Option<Arc<RateLimiter>>,
    /// Attempts of a call that cannot reach the server, until the server has responded once.
    first_attempts: u32,
    /// Whether the server has responded.
    responded: AtomicBool,
    price: Option<Price>,
    in_progress: CallsInProgress,
    /// The command that starts its server.
    start: Option<String>,
}

/// How long a server may take to describe itself.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

impl Model {
    /// A model that is served by this provider.
    pub fn new(name: &str, provider: Box<dyn Provider>, limits: Limits, price: Option<Price>) -> Self {
        Self {
            name: name.to_owned(),
            provider,
            concurrency: Arc::new(ConcurrencyLimiter::new(limits.concurrency)),
            requests: limits.rpm.map(RateLimiter::new).map(Arc::new),
            tokens: limits.tpm.map(RateLimiter::new).map(Arc::new),
            first_attempts: u32::MAX,
            responded: AtomicBool::new(false),
            limits,
            price,
            in_progress: CallsInProgress::default(),
            start: None,
        }
    }

    /// Names the command that starts its server in the hints of errors.
    #[must_use]
    pub fn with_start(self, start: Option<String>) -> Self {
        Self { start, ..self }
    }

    /// Makes a call give up after this many attempts while its server has never responded, as its address may be wrong. A
    /// server that is waited for (`reconnect_s`) is not affected.
    #[must_use]
    pub fn with_first_attempts(self, first_attempts: u32) -> Self {
        Self { first_attempts, ..self }
    }

    /// Shares the concurrency and rate limits of another model, so that they hold for the calls of both.
    #[must_use]
    pub fn sharing_limits_of(self, other: &Self) -> Self {
        let Self { concurrency, requests, tokens, .. } = other;
        Self { concurrency: concurrency.clone(), requests: requests.clone(), tokens: tokens.clone(), ..self }
    }

    /// The name in the configuration.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The most bytes of messages that can fit its context, where known.
    pub fn max_prompt_bytes(&self) -> Option<usize> {
        self.provider.max_prompt_bytes()
    }

    /// Whether requests leave this process.
    pub fn is_remote(&self) -> bool {
        self.provider.is_remote()
    }

    /// The limits of its calls.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The configured price.
    pub fn price(&self) -> Option<Price> {
        self.price
    }

    /// The calls that wait for its server, if any; calls within this process do not count.
    pub fn waiting(&self) -> Option<Waiting> {
        if !self.is_remote() {
            return None;
        }
        self.in_progress.waiting(&self.name, seconds(self.limits.timeout_s))
    }

    /// Checks that it can be reached: one attempt with a deadline of ten seconds.
    pub async fn probe(&self) -> Result<String, ModelError> {
        self.within_deadline(self.provider.probe()).await
    }

    /// The names of the models that its server lists, `None` if it lists none: one attempt with a deadline of ten seconds.
    pub async fn served(&self) -> Result<Option<Vec<String>>, ModelError> {
        self.within_deadline(self.provider.served()).await
    }

    async fn within_deadline<T>(
        &self,
        attempt: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ModelError> {
        let done = tokio::time::timeout(PROBE_DEADLINE, attempt).await;
        done.unwrap_or_else(|_| Err(timed_out(PROBE_DEADLINE))).map_err(|error| self.give_up(error, 1))
    }

    /// Requests a reply; transient errors are retried within the limits.
    ///
    /// Once `halt` is triggered no further attempt begins; one in flight may finish. A call that is halted after a failed
    /// attempt returns the error of that attempt.
    pub async fn complete(&self, request: &Request, halt: &Halt) -> Result<Completion, ModelError> {
        self.complete_within(request, halt, &self.limits).await
    }

    /// The same with other limits for attempts, deadlines and pauses; concurrency and rates are those of the model.
    pub async fn complete_within(
        &self,
        request: &Request,
        halt: &Halt,
        limits: &Limits,
    ) -> Result<Completion, ModelError> {
        let begun = Instant::now();
        let tracked = self.in_progress.begin();
        let mut last: Option<ProviderError> = None;
        // Attempts while the server could not be reached, and when the first of those in a row failed.
        let (mut attempt, mut uncounted) = (0, 0);
        let mut unreachable: Option<Instant> = None;
        loop {
            attempt += 1;
            let made = self.attempt(request, halt, limits, &tracked, self.provider.attempt(request)).await;
            let error = match made {
                Ok((reply, latency)) => {
                    let cost = self.price.map_or(Usd::default(), |price| price.cost(&reply.usage));
                    debug!(model = self.name, attempt, latency = ?latency, tokens = reply.usage.total(), "reply");
                    trace!(model = self.name, attempt, content = reply.content, "reply text");
                    return Ok(Completion { reply, latency, attempts: attempt, cost });
                }
                Err(error) => error,
            };
            if let (ErrorCause::Halted, Some(last)) = (error.cause, last.take()) {
                return Err(self.give_up(last, attempt - 1));
            }
            let wait = limits.pause(attempt, error.retry_after, fastrand::f64());
            let too_late = begun.elapsed().saturating_add(wait) > seconds(limits.deadline_s);
            let cause = error.cause.as_str();
            if error.cause == ErrorCause::Network {
                let since = unreachable.get_or_insert_with(Instant::now);
                uncounted += u32::from(since.elapsed() < seconds(limits.reconnect_s.unwrap_or_default()));
            } else {
                unreachable = None;
            }
            let unknown = error.cause == ErrorCause::Network && !self.responded.load(Ordering::Relaxed);
            let attempts = if unknown { limits.attempts.min(self.first_attempts) } else { limits.attempts };
            if !error.cause.is_transient() || attempt - uncounted >= attempts || too_late {
                if error.cause != ErrorCause::Halted {
                    warn!(model = self.name, attempt, cause, message = error.message, "call failed");
                }
                return Err(self.give_up(error, attempt));
            }
            info!(model = self.name, attempt, cause, wait = ?wait, message = error.message, "retrying");
            tracked.failed(attempt, (uncounted == 0).then_some(limits.attempts), &error.message, wait);
            last = Some(error);
            halt.unless(tokio::time::sleep(wait)).await;
        }
    }

    /// Requests a reply in one attempt and sends its text as deltas. A delta cannot be taken back, so nothing is retried.
    pub async fn stream(
        &self,
        request: &Request,
        halt: &Halt,
        deltas: UnboundedSender<String>,
    ) -> Result<Reply, ModelError> {
        let tracked = self.in_progress.begin();
        let stream = self.provider.stream(request, deltas);
        let attempt = self.attempt(request, halt, &self.limits, &tracked, stream).await;
        attempt.map(|(reply, _)| reply).map_err(|error| self.give_up(error, 1))
    }

    async fn attempt(
        &self,
        request: &Request,
        halt: &Halt,
        limits: &Limits,
        tracked: &TrackedCall<'_>,
        attempt: BoxFuture<'_, Result<Reply, ProviderError>>,
    ) -> Result<(Reply, Duration), ProviderError> {
        let estimate = request.estimate();
        let Some(permit) = halt.unless(self.admit(estimate)).await else {
            return Err(ProviderError::new(ErrorCause::Halted, "the run was halted"));
        };
        tracked.sent();
        let begun = Instant::now();
        let deadline = seconds(limits.timeout_s);
        let outcome = tokio::time::timeout(deadline, attempt).await;
        let latency = begun.elapsed();
        let outcome = outcome.unwrap_or_else(|_| Err(timed_out(deadline)));
        if outcome.as_ref().err().is_none_or(|error| error.cause != ErrorCause::Network) {
            self.responded.store(true, Ordering::Relaxed);
        }
        if outcome.as_ref().is_err_and(|error| error.cause == ErrorCause::Throttled) {
            if let Some(limit) = self.concurrency.throttled() {
                info!(model = self.name, limit, "throttled: fewer calls in flight");
            }
        } else if outcome.is_ok() {
            self.concurrency.succeeded();
        }
        self.concurrency.release(permit);
        if let Some(tokens) = &self.tokens {
            let used = outcome.as_ref().map_or(0.0, |reply| reply.usage.total() as f64);
            tokens.correct(estimate, used);
        }
        outcome.map(|reply| (reply, latency))
    }

    /// Waits for the rate limits and for a permit.
    async fn admit(&self, estimate: f64) -> Option<tokio::sync::SemaphorePermit<'_>> {
        if let Some(requests) = &self.requests {
            let wait = requests.reserve(1.0).await;
            debug!(model = self.name, wait = ?wait, "waited for the rate limit of requests");
        }
        if let Some(tokens) = &self.tokens {
            let wait = tokens.reserve(estimate).await;
            debug!(model = self.name, wait = ?wait, "waited for the rate limit of tokens");
        }
        self.concurrency.acquire().await
    }

    fn give_up(&self, error: ProviderError, attempts: u32) -> ModelError {
        let start = self.start.clone();
        ModelError { start, ..ModelError::new(&self.name, error.cause, error.message, attempts) }
    }
}

fn timed_out(deadline: Duration) -> ProviderError {
    ProviderError::new(ErrorCause::Timeout, format!("timed out after {} s", deadline.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Fails a number of times, then replies.
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
    async fn a_server_that_never_responded_is_given_up_early() {
        let first = |failures, cause, limits| model(failures, cause, limits).with_first_attempts(3);
        let network = first(99, ErrorCause::Network, Limits::default());
        assert_eq!(attempts(network).await, Err((ErrorCause::Network, 3)));
        // Other errors are responses, and a server that is waited for is waited for first.
        let server = first(99, ErrorCause::Server, Limits::default());
        assert_eq!(attempts(server).await, Err((ErrorCause::Server, 8)));
        let limits = Limits { reconnect_s: Some(95.0), ..Limits::default() };
        assert_eq!(attempts(first(11, ErrorCause::Network, limits)).await, Ok(12));
        // Once it has responded, all attempts are made.
        let known = first(0, ErrorCause::Network, Limits::default());
        assert!(known.complete(&Request::user("q"), &Halt::default()).await.is_ok());
        let lost = Model { provider: model(99, ErrorCause::Network, Limits::default()).provider, ..known };
        assert_eq!(attempts(lost).await, Err((ErrorCause::Network, 8)));
    }

    #[tokio::test(start_paused = true)]
    async fn limits_are_shared() {
        let one = Model::new("a", Box::new(Slow), Limits { concurrency: 2, ..Limits::default() }, None);
        let two = Model::new("a", Box::new(Slow), Limits::default(), None).sharing_limits_of(&one);
        let (request, halt) = (Request::user("q"), Halt::default());
        let begun = Instant::now();
        // Four calls of a second, two at once.
        let calls = [&one, &one, &two, &two].map(|model| model.complete(&request, &halt));
        futures_util::future::join_all(calls).await;
        assert_eq!(begun.elapsed().as_secs(), 2);
    }

    /// Replies after a second.
    struct Slow;

    impl Provider for Slow {
        fn attempt<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok(Reply::text("x"))
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_cannot_be_reached_is_waited_for() {
        // Attempts begin about every 10 s: those at 0 to 90 s are not counted, then follow two that are.
        let limits = Limits { reconnect_s: Some(95.0), attempts: 2, ..Limits::default() };
        let network = |failures| attempts(model(failures, ErrorCause::Network, limits.clone()));
        assert_eq!(network(11).await, Ok(12));
        assert_eq!(network(99).await, Err((ErrorCause::Network, 12)));
        // Other errors are counted.
        let server = model(99, ErrorCause::Server, limits.clone());
        assert_eq!(attempts(server).await, Err((ErrorCause::Server, 2)));
        // A server that responds but does not know the model (404) is not waited for.
        let unknown = model(99, ErrorCause::NotFound, limits.clone());
        assert_eq!(attempts(unknown).await, Err((ErrorCause::NotFound, 1)));
        // The deadline of the call holds.
        let limits = Limits { deadline_s: 25.0, ..limits };
        assert_eq!(attempts(model(99, ErrorCause::Network, limits)).await, Err((ErrorCause::Network, 3)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_halted_while_it_waits_returns_why_it_waited() {
        let halt = Halt::default();
        let model = model(99, ErrorCause::Throttled, Limits::default());
        let request = Request::user("q");
        let call = model.complete(&request, &halt);
        let stop = async {
            tokio::time::sleep(Duration::from_secs(15)).await;
            assert_eq!(model.waiting(), None, "this model runs in this process");
            let waiting = model.in_progress.waiting("m", Duration::ZERO).unwrap();
            assert_eq!((waiting.attempt, waiting.attempts), (Some(2), Some(8)));
            halt.trigger();
        };
        // The server asks for 10 s each time: the second attempt was the last.
        let error = tokio::join!(call, stop).0.unwrap_err();
        assert_eq!((error.cause, error.attempts), (ErrorCause::Throttled, 2));
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
