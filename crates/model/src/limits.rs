//! Concurrency, rate limits, deadlines and retries of a model.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Concurrency, rates, deadlines and retries of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum number of calls in flight; throttling lowers it for a while.
    pub concurrency: usize,
    /// Maximum number of requests per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpm: Option<f64>,
    /// Maximum number of tokens per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpm: Option<f64>,
    /// Deadline of one attempt, in seconds.
    pub timeout_s: f64,
    /// Maximum number of attempts of a call.
    pub attempts: u32,
    /// Deadline of a call, in seconds: no attempt begins later than this after the first.
    pub deadline_s: f64,
    /// How long to wait for a server that cannot be reached, in seconds; attempts in that time are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconnect_s: Option<f64>,
    /// Maximum `Retry-After` that is honoured, in seconds.
    pub retry_after_cap_s: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 64,
            rpm: None,
            tpm: None,
            timeout_s: 600.0,
            attempts: 8,
            deadline_s: 3600.0,
            reconnect_s: None,
            retry_after_cap_s: 60.0,
        }
    }
}

/// The first pause between attempts; it doubles from there.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause where the server asks for none.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

impl Limits {
    /// How long to wait before the attempt after `attempt` (counted from 1): `Retry-After` up to
    /// the cap, else doubling from half a second; `jitter` in 0..1 spreads the upper half of the pause.
    pub(crate) fn pause(&self, attempt: u32, retry_after: Option<Duration>, jitter: f64) -> Duration {
        if let Some(asked) = retry_after {
            let asked = asked.min(seconds(self.retry_after_cap_s));
            return asked + Duration::from_millis(100).mul_f64(jitter);
        }
        let doubled = FIRST_PAUSE.saturating_mul(1 << (attempt.saturating_sub(1)).min(16));
        doubled.min(LONGEST_PAUSE).mul_f64(0.5 + 0.5 * jitter)
    }
}

/// A setting in seconds.
pub(crate) fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_with_jitter_up_to_a_cap() {
        let limits = Limits::default();
        let millis = |attempt, jitter| limits.pause(attempt, None, jitter).as_millis();
        assert_eq!([millis(1, 1.0), millis(2, 1.0), millis(3, 1.0)], [500, 1000, 2000]);
        assert_eq!([millis(1, 0.0), millis(40, 1.0), millis(40, 0.0)], [250, 30_000, 15_000]);
    }

    #[test]
    fn retry_after_is_honoured_within_a_cap() {
        let limits = Limits { retry_after_cap_s: 5.0, ..Limits::default() };
        assert_eq!(limits.pause(1, Some(Duration::from_secs(3)), 0.0), Duration::from_secs(3));
        assert_eq!(limits.pause(1, Some(Duration::from_hours(1)), 0.0), Duration::from_secs(5));
    }
}
