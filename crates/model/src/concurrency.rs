//! Limits the calls in flight: additive increase while calls succeed, multiplicative decrease when throttled.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Throttling within this time of a reduction belongs to the same burst.
const ONE_BURST: Duration = Duration::from_secs(1);

/// The share of throttled responses below which nothing is changed: such calls are repeated, and halving for each of them
/// would leave few permits whatever the server can take.
const TOLERATED: f64 = 0.05;

#[derive(Debug)]
pub(crate) struct ConcurrencyLimiter {
    permits: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    limit: usize,
    max: usize,
    /// Permits to take away when their calls end.
    owed: usize,
    /// Successes since the last change.
    successes: usize,
    reduced_at: Option<Instant>,
    recent: Recent,
}

/// Recent responses, older ones with less weight.
#[derive(Debug, Default)]
struct Recent {
    succeeded: f64,
    throttled: f64,
}

impl Recent {
    /// Counts a response; `window` is how many are recent.
    fn count(&mut self, succeeded: bool, window: usize) {
        *(if succeeded { &mut self.succeeded } else { &mut self.throttled }) += 1.0;
        if self.succeeded + self.throttled > window as f64 {
            self.succeeded /= 2.0;
            self.throttled /= 2.0;
        }
    }

    fn throttled_share(&self) -> f64 {
        self.throttled / (self.succeeded + self.throttled).max(1.0)
    }
}

impl State {
    /// How many responses are recent: a few for each permit.
    fn window(&self) -> usize {
        self.limit.saturating_mul(4).max(64)
    }
}

impl ConcurrencyLimiter {
    pub(crate) fn new(max: usize) -> Self {
        let max = max.clamp(1, Semaphore::MAX_PERMITS);
        let recent = Recent::default();
        let state = State { limit: max, max, owed: 0, successes: 0, reduced_at: None, recent };
        Self { permits: Semaphore::new(max), state: Mutex::new(state) }
    }

    /// Waits for a permit.
    pub(crate) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.acquire().await.ok()
    }

    /// Returns a permit, or takes it out of use when permits are owed.
    pub(crate) fn release(&self, permit: Option<SemaphorePermit<'_>>) {
        let mut state = self.state.lock();
        if state.owed > 0
            && let Some(permit) = permit
        {
            state.owed -= 1;
            permit.forget();
        }
    }

    /// Records a success: one more permit after as many successes as there are permits.
    pub(crate) fn succeeded(&self) {
        let mut state = self.state.lock();
        let window = state.window();
        state.recent.count(true, window);
        if state.limit >= state.max {
            return;
        }
        state.successes += 1;
        if state.successes >= state.limit {
            state.successes = 0;
            state.limit += 1;
            if state.owed > 0 {
                state.owed -= 1;
            } else {
                self.permits.add_permits(1);
            }
        }
    }

    /// Records that the server asked to slow down: halves the permits, once per burst, unless it rarely asks. Returns the new
    /// limit where it changed.
    pub(crate) fn throttled(&self) -> Option<usize> {
        let mut state = self.state.lock();
        let now = Instant::now();
        let window = state.window();
        state.recent.count(false, window);
        if state.recent.throttled_share() < TOLERATED {
            return None;
        }
        if state.reduced_at.is_some_and(|at| now.duration_since(at) < ONE_BURST) {
            return None;
        }
        let lower = (state.limit / 2).max(1);
        // Unused permits are taken away at once, the others when their calls end.
        let cut = state.limit - lower;
        state.owed += cut - self.permits.forget_permits(cut);
        state.limit = lower;
        state.successes = 0;
        state.reduced_at = Some(now);
        Some(lower)
    }

    #[cfg(test)]
    fn limit(&self) -> usize {
        self.state.lock().limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit after 100,000 responses, 500 per second, of which one in `every` is throttled.
    async fn limit_after(every: usize) -> usize {
        let limiter = ConcurrencyLimiter::new(500);
        for n in 1..=100_000 {
            if n % every == 0 {
                limiter.throttled();
            } else {
                limiter.succeeded();
            }
            tokio::time::advance(Duration::from_millis(2)).await;
        }
        limiter.limit()
    }

    #[tokio::test(start_paused = true)]
    async fn rare_throttling_is_tolerated_and_frequent_throttling_is_not() {
        assert_eq!(limit_after(100).await, 500);
        assert_eq!(limit_after(25).await, 500);
        assert!(limit_after(10).await < 50);
        assert!(limit_after(2).await < 50);
    }

    #[tokio::test(start_paused = true)]
    async fn throttling_halves_and_success_adds_one_by_one() {
        let limiter = ConcurrencyLimiter::new(8);
        let mut permits = Vec::new();
        for _ in 0..8 {
            permits.push(limiter.acquire().await);
        }
        limiter.throttled();
        limiter.throttled();
        assert_eq!(limiter.limit(), 4, "one burst, one reduction");
        for permit in permits {
            limiter.release(permit);
        }
        assert_eq!(limiter.permits.available_permits(), 4);
        for _ in 0..4 {
            limiter.succeeded();
        }
        assert_eq!((limiter.limit(), limiter.permits.available_permits()), (5, 5));
        tokio::time::advance(Duration::from_secs(2)).await;
        limiter.throttled();
        assert_eq!(limiter.limit(), 2);
        for _ in 0..50 {
            limiter.succeeded();
        }
        assert_eq!(limiter.limit(), 8, "never above the maximum");
        assert_eq!(limiter.permits.available_permits(), 8);
        tokio::time::advance(Duration::from_secs(2)).await;
        limiter.throttled();
        assert_eq!(limiter.permits.available_permits(), 4, "unused permits are taken away at once");
    }
}
