//! Requests and tokens a minute.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Spreads units evenly over time: each reserves its share of the minute, behind what is reserved already.
#[derive(Debug)]
pub(crate) struct Pace {
    per_minute: f64,
    /// When the next reservation begins.
    next: Mutex<Option<Instant>>,
}

impl Pace {
    pub(crate) fn new(per_minute: f64) -> Self {
        Self { per_minute: per_minute.max(1e-6), next: Mutex::new(None) }
    }

    fn share(&self, units: f64) -> Duration {
        Duration::try_from_secs_f64(units.max(0.0) * 60.0 / self.per_minute).unwrap_or(Duration::MAX)
    }

    /// Reserves `units` and waits until their time has come.
    pub(crate) async fn reserve(&self, units: f64) {
        let begin = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let begin = next.map_or_else(Instant::now, |next| next.max(Instant::now()));
            *next = begin.checked_add(self.share(units));
            begin
        };
        tokio::time::sleep_until(begin).await;
    }

    /// Corrects a reservation once the true number is known.
    pub(crate) fn correct(&self, reserved: f64, used: f64) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
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
        let pace = Pace::new(30.0);
        let start = Instant::now();
        for _ in 0..31 {
            pace.reserve(1.0).await;
        }
        assert_eq!(start.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_not_used_is_given_back() {
        let pace = Pace::new(6000.0);
        let start = Instant::now();
        pace.reserve(1000.0).await;
        pace.correct(1000.0, 100.0);
        pace.reserve(1000.0).await;
        assert_eq!(start.elapsed().as_secs(), 1, "100 tokens at 100 a second");
        pace.correct(1000.0, 3000.0);
        pace.reserve(1.0).await;
        assert_eq!(start.elapsed().as_secs(), 31);
    }
}
