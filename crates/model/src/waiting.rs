//! What the calls of a model are waiting for. Progress displays show it, and so does the summary of an interrupted run.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// A call counts as waiting once it has failed for this long; shorter failures pass unnoticed.
const FAILING: Duration = Duration::from_secs(1);
/// A call without an answer counts as waiting after this time.
const SILENT: Duration = Duration::from_secs(10);
/// Maximum characters of a reason.
const MAX_REASON: usize = 120;

/// The calls of a model that wait for its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The model's name.
    pub model: String,
    /// Calls that wait.
    pub calls: usize,
    /// Why: the message of the last failed attempt, or since when there is no answer. Bounded, on one line.
    pub reason: String,
    /// The last failed attempt of the call that has failed most often, if any has.
    pub attempt: Option<u32>,
    /// Maximum number of attempts; none while a server that cannot be reached is waited for.
    pub attempts: Option<u32>,
    /// When the next attempt begins; none while it is under way.
    pub retry_in: Option<Duration>,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.model, self.reason)?;
        if let Some(attempt) = self.attempt {
            write!(f, ", attempt {attempt}")?;
            if let Some(attempts) = self.attempts {
                write!(f, " of {attempts}")?;
            }
            match self.retry_in {
                Some(wait) => write!(f, ", retry in {} s", wait.as_secs_f64().ceil())?,
                None => f.write_str(", retrying now")?,
            }
        }
        if self.calls > 1 { write!(f, " ({} calls)", self.calls) } else { Ok(()) }
    }
}

/// The calls of a model in progress.
#[derive(Debug, Default)]
pub(crate) struct CallsInProgress {
    next: AtomicU64,
    calls: Mutex<BTreeMap<u64, Progress>>,
}

#[derive(Debug, Default)]
struct Progress {
    /// When the attempt in flight began.
    sent: Option<Instant>,
    failed: Option<FailedAttempt>,
}

#[derive(Debug)]
struct FailedAttempt {
    reason: String,
    attempt: u32,
    attempts: Option<u32>,
    /// When the first attempt failed.
    first: Instant,
    retry_at: Instant,
}

/// A call in progress; it ends when this is dropped.
pub(crate) struct TrackedCall<'c> {
    calls: &'c CallsInProgress,
    id: u64,
}

impl CallsInProgress {
    /// Begins a call.
    pub(crate) fn begin(&self) -> TrackedCall<'_> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.calls.lock().insert(id, Progress::default());
        TrackedCall { calls: self, id }
    }

    /// The calls that wait: those that have failed, else those without an answer within [`SILENT`].
    pub(crate) fn waiting(&self, model: &str, timeout: Duration) -> Option<Waiting> {
        let now = Instant::now();
        let calls = self.calls.lock();
        let failed = calls.values().filter_map(|call| Some((call, call.failed.as_ref()?)));
        let failed: Vec<_> = failed.filter(|(_, failed)| now - failed.first >= FAILING).collect();
        if let Some((call, last)) = failed.iter().max_by_key(|(_, failed)| failed.attempt) {
            return Some(Waiting {
                model: model.to_owned(),
                calls: failed.len(),
                reason: last.reason.clone(),
                attempt: Some(last.attempt),
                attempts: last.attempts,
                retry_in: call.sent.is_none().then(|| last.retry_at.saturating_duration_since(now)),
            });
        }
        let silent = calls.values().filter_map(|call| Some(now - call.sent?));
        let silent: Vec<Duration> = silent.filter(|silent| *silent >= SILENT).collect();
        let longest = silent.iter().max()?;
        Some(Waiting {
            model: model.to_owned(),
            calls: silent.len(),
            reason: format!(
                "no answer for {} s, timeout after {} s",
                longest.as_secs(),
                timeout.as_secs_f64()
            ),
            attempt: None,
            attempts: None,
            retry_in: None,
        })
    }
}

impl TrackedCall<'_> {
    /// An attempt was sent.
    pub(crate) fn sent(&self) {
        self.update(|call| call.sent = Some(Instant::now()));
    }

    /// An attempt failed; the next one begins after this wait. `attempts` is the maximum, if there is one.
    pub(crate) fn failed(&self, attempt: u32, attempts: Option<u32>, message: &str, wait: Duration) {
        let now = Instant::now();
        self.update(|call| {
            let first = call.failed.as_ref().map_or(now, |failed| failed.first);
            let retry_at = now.checked_add(wait).unwrap_or(now);
            let reason = on_one_line(message);
            *call = Progress {
                sent: None,
                failed: Some(FailedAttempt { reason, attempt, attempts, first, retry_at }),
            };
        });
    }

    fn update(&self, change: impl FnOnce(&mut Progress)) {
        if let Some(call) = self.calls.calls.lock().get_mut(&self.id) {
            change(call);
        }
    }
}

impl Drop for TrackedCall<'_> {
    fn drop(&mut self) {
        self.calls.calls.lock().remove(&self.id);
    }
}

/// A message of a server, bounded and without control characters.
fn on_one_line(message: &str) -> String {
    let mut characters = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = characters.by_ref().take(MAX_REASON).collect();
    if characters.next().is_some() {
        line.push('…');
    }
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_mins(1);

    async fn pass(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    fn shown(calls: &CallsInProgress) -> Option<String> {
        calls.waiting("m", TIMEOUT).map(|waiting| waiting.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn a_failing_call_shows_its_cause_attempt_and_pause() {
        let calls = CallsInProgress::default();
        let call = calls.begin();
        call.sent();
        call.failed(1, Some(8), "connection\nrefused", Duration::from_secs(5));
        assert_eq!(shown(&calls), None, "it may pass in a moment");
        pass(2).await;
        assert_eq!(shown(&calls).unwrap(), "m: connection refused, attempt 1 of 8, retry in 3 s");
        let other = calls.begin();
        other.sent();
        other.failed(2, None, &"x".repeat(500), Duration::from_secs(9));
        call.sent();
        assert_eq!(shown(&calls).unwrap(), "m: connection refused, attempt 1 of 8, retrying now");
        pass(1).await;
        let long = shown(&calls).unwrap();
        assert_eq!(long, format!("m: {}…, attempt 2, retry in 8 s (2 calls)", "x".repeat(MAX_REASON)));
        drop(other);
        drop(call);
        assert_eq!(shown(&calls), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_an_answer_shows_since_when() {
        let calls = CallsInProgress::default();
        let (queued, call) = (calls.begin(), calls.begin());
        call.sent();
        pass(9).await;
        assert_eq!(shown(&calls), None);
        pass(3).await;
        assert_eq!(shown(&calls).unwrap(), "m: no answer for 12 s, timeout after 60 s");
        drop((queued, call));
    }
}
