//! Several servers of one model: the least loaded is asked, a failing one is set aside and tried later.

use super::http::{HttpClient, Way};
use crate::{EndpointError, ErrorCause, ProviderError, redact_url};
use reqwest::Url;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a server is set aside after its first failure; it doubles with each further one.
const ASIDE: Duration = Duration::from_secs(1);
/// The longest a server is set aside.
const LONGEST_ASIDE: Duration = Duration::from_mins(1);

pub(super) struct Replicas(Vec<Replica>);

struct Replica {
    way: Way,
    in_flight: AtomicUsize,
    health: Mutex<Health>,
}

#[derive(Default)]
struct Health {
    failures: u32,
    aside_until: Option<Instant>,
}

/// A replica with one more call in flight.
pub(super) struct Picked<'r> {
    replica: &'r Replica,
    /// The model has further replicas.
    has_others: bool,
    /// How the call went is known; a call that is dropped before that hung.
    noted: bool,
}

impl Replicas {
    pub(super) fn new(http: &HttpClient, urls: &[String]) -> Result<Self, EndpointError> {
        urls.iter().map(|url| Replica::new(http, url)).collect::<Result<_, _>>().map(Self)
    }

    /// The least loaded replica that is not set aside; if all are, the one that comes back first.
    pub(super) fn pick(&self) -> Picked<'_> {
        let now = Instant::now();
        let by_load = |replica: &&Replica| {
            let aside = replica.aside_until().filter(|until| *until > now);
            (aside, replica.in_flight.load(Ordering::Relaxed))
        };
        let replica = match self.0.as_slice() {
            [only] => only,
            all => all.iter().min_by_key(by_load).unwrap_or(&all[0]),
        };
        self.take(replica)
    }

    /// Each replica in turn.
    pub(super) fn each(&self) -> impl Iterator<Item = Picked<'_>> {
        self.0.iter().map(|replica| self.take(replica))
    }

    fn take<'r>(&self, replica: &'r Replica) -> Picked<'r> {
        replica.in_flight.fetch_add(1, Ordering::Relaxed);
        Picked { replica, has_others: self.0.len() > 1, noted: false }
    }
}

impl Replica {
    fn new(http: &HttpClient, base: &str) -> Result<Self, EndpointError> {
        let bad = || EndpointError::Url { url: redact_url(base) };
        let url = Url::parse(base).map_err(|_| bad())?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(bad());
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            let host = url.host_str().unwrap_or_default().to_owned();
            return Err(EndpointError::Credentials { host });
        }
        let way = Way::new(http, base, &url).ok_or_else(bad)?;
        Ok(Self { way, in_flight: AtomicUsize::new(0), health: Mutex::default() })
    }

    fn aside_until(&self) -> Option<Instant> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).aside_until
    }
}

impl Picked<'_> {
    /// The way to this replica.
    pub(super) fn way(&self) -> &Way {
        &self.replica.way
    }

    /// Notes how the call went. What the server merely refused says nothing of its health.
    pub(super) fn ended(mut self, cause: Option<ErrorCause>) {
        self.noted = true;
        self.note(cause);
    }

    /// The fault as the model's: what is wrong with one of several replicas for good is passing for the model.
    pub(super) fn of_model(&self, mut fault: ProviderError) -> ProviderError {
        if self.has_others && fault.cause.is_lasting() {
            fault.message = format!("one of several servers: {}: {}", fault.cause, fault.message);
            fault.cause = ErrorCause::Server;
        }
        fault
    }

    fn note(&self, cause: Option<ErrorCause>) {
        let mut health = self.replica.health.lock().unwrap_or_else(PoisonError::into_inner);
        match cause {
            None => *health = Health::default(),
            Some(cause) if cause != ErrorCause::Throttled && cause != ErrorCause::Rejected => {
                let now = Instant::now();
                // Calls that were in flight together fail together: that is one failure.
                if health.aside_until.is_none_or(|until| until <= now) {
                    let aside = ASIDE.saturating_mul(1 << health.failures.min(6)).min(LONGEST_ASIDE);
                    health.failures += 1;
                    health.aside_until = now.checked_add(aside);
                }
            }
            Some(_) => {}
        }
    }
}

impl Drop for Picked<'_> {
    fn drop(&mut self) {
        self.replica.in_flight.fetch_sub(1, Ordering::Relaxed);
        if !self.noted {
            self.note(Some(ErrorCause::Timeout));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicas(urls: &[&str]) -> Result<Replicas, EndpointError> {
        let urls: Vec<_> = urls.iter().map(ToString::to_string).collect();
        Replicas::new(&HttpClient::new(1).unwrap(), &urls)
    }

    /// Which replica was picked, counted from 0.
    fn place(all: &Replicas, picked: &Picked<'_>) -> usize {
        all.0.iter().position(|replica| std::ptr::eq(replica, picked.replica)).unwrap()
    }

    /// Picks, and lets the call end in a way that says nothing of the server's health.
    fn next(all: &Replicas) -> usize {
        let picked = all.pick();
        let place = place(all, &picked);
        picked.ended(Some(ErrorCause::Rejected));
        place
    }

    #[tokio::test(start_paused = true)]
    async fn the_least_loaded_is_asked_and_a_failing_one_rests() {
        let both = replicas(&["http://a/v1", "https://b/v1/"]).unwrap();
        let (first, second, third) = (both.pick(), both.pick(), both.pick());
        assert_eq!([&first, &second, &third].map(|picked| place(&both, picked)), [0, 1, 0]);
        first.ended(Some(ErrorCause::Server));
        third.ended(Some(ErrorCause::Server)); // in flight together: one failure
        second.ended(None);
        for _ in 0..3 {
            assert_eq!(next(&both), 1, "the first rests");
        }
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(next(&both), 0, "the first is tried again");
        drop(both.pick()); // the first again, and it hangs
        tokio::time::advance(Duration::from_millis(1500)).await;
        assert_eq!(next(&both), 1, "the first rests longer the second time");
        both.pick().ended(Some(ErrorCause::Network));
        assert_eq!(next(&both), 0, "both rest: the one that comes back first");
    }

    #[test]
    fn addresses_hold_no_secrets() {
        for bad in ["localhost:8000", "ftp://x/v1", "http://", "nonsense"] {
            assert!(matches!(replicas(&[bad]), Err(EndpointError::Url { .. })), "{bad}");
        }
        for secret in [
            "https://user:hunter2@host/v1",
            "https://host/v1?key=hunter2",
            "user:hunter2@host/v1",
            "http://user:hun?ter2@host/v1",
            "//user:hunter2@host",
        ] {
            let error = replicas(&[secret]).err().unwrap();
            assert!(!error.to_string().contains("ter2"), "{error}");
        }
    }
}
