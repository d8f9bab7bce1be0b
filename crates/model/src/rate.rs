//! Limits requests or tokens per minute.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// Spreads units evenly over time: each reservation begins where the previous one ends.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    per_minute: f64,
    /// Start of the next reservation.
    next: Mutex<Option<Instant>>,
}

impl RateLimiter {
    pub(crate) fn new(per_minute: f64) -> Self {
        Self { per_minute: per_minute.max(1e-6), next: Mutex::new(None) }
    }

    fn share(&self, units: f64) -> Duration {
        Duration::try_from_secs_f64(units.max(0.0) * 60.0 / self.per_minute).unwrap_or(Duration::MAX)
    }

    /// Reserves `units` and waits until the reservation begins; returns the wait.
    pub(crate) async fn reserve(&self, units: f64) -> Duration {
        let now = Instant::now();
        let begin = {
            let mut next = self.next.lock();
            let begin = next.map_or(now, |next| next.max(now));
            *next = begin.checked_add(self.share(units));
            begin
        };
        tokio::time::sleep_until(begin).await;
        begin - now
    }

    /// Corrects a reservation once the actual number of units is known.
    pub(crate) fn correct(&self, reserved: f64, used: f64) {
        let mut next = self.next.lock();
        *next = next.and_then(|next| {
            if used >= reserved {
                next.checked_add(self.share(used - reserved))
            } else {
                next.checked_sub(self.share(reserved - used))
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_minute_holds_as_many_as_were_allowed() {
        let limiter = RateLimiter::new(30.0);
        let start = Instant::now();
        for _ in 0..31 {
            limiter.reserve(1.0).await;
        }
        assert_eq!(start.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_not_used_is_given_back() {
        let limiter = RateLimiter::new(6000.0);
        let start = Instant::now();
        limiter.reserve(1000.0).await;
        limiter.correct(1000.0, 100.0);
        limiter.reserve(1000.0).await;
        assert_eq!(start.elapsed().as_secs(), 1, "100 tokens at 100 a second");
        limiter.correct(1000.0, 3000.0);
        limiter.reserve(1.0).await;
        assert_eq!(start.elapsed().as_secs(), 31);
    }
}
