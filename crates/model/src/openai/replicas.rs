//! Load balancing over the servers of one model. Requests go to the least loaded one; a failing server is avoided for a
//! while.

use super::transport::{HttpClient, Transport};
use crate::{EndpointError, ErrorCause, ProviderError, redact_url};
use parking_lot::Mutex;
use reqwest::Url;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use tracing::{info, trace};

/// How long a server is avoided after its first failure; doubles with each further one.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_mins(1);

pub(super) struct Replicas(Vec<Replica>);

pub(super) struct Replica {
    /// Its position among the replicas.
    pub(super) index: usize,
    /// The address for logs, with secrets masked.
    url: String,
    /// How to reach it.
    pub(super) transport: Transport,
    in_flight: AtomicUsize,
    health: Mutex<Health>,
}

#[derive(Default)]
struct Health {
    failures: u32,
    avoid_until: Option<Instant>,
}

/// A call to a replica. One that is dropped unfinished counts as timed out.
pub(super) struct ReplicaCall<'r> {
    pub(super) replica: &'r Replica,
    /// The model has other replicas.
    has_others: bool,
    finished: bool,
}

impl Replicas {
    pub(super) fn new(http: &HttpClient, urls: &[String]) -> Result<Self, EndpointError> {
        urls.iter()
            .enumerate()
            .map(|(index, url)| Replica::new(http, index, url))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The least loaded replica that is not avoided; if all are, the one that is available first.
    pub(super) fn pick(&self) -> ReplicaCall<'_> {
        let now = Instant::now();
        let by_load = |replica: &&Replica| {
            let avoided = replica.health.lock().avoid_until.filter(|until| *until > now);
            (avoided, replica.in_flight.load(Ordering::Relaxed))
        };
        let replica = match self.0.as_slice() {
            [only] => only,
            all => all.iter().min_by_key(by_load).unwrap_or(&all[0]),
        };
        trace!(url = replica.url, "picked a server");
        self.take(replica)
    }

    /// Each replica in turn.
    pub(super) fn each(&self) -> impl Iterator<Item = ReplicaCall<'_>> {
        self.0.iter().map(|replica| self.take(replica))
    }

    /// The replica at this position, without counting a call.
    pub(super) fn get(&self, index: usize) -> &Replica {
        &self.0[index]
    }

    fn take<'r>(&self, replica: &'r Replica) -> ReplicaCall<'r> {
        replica.in_flight.fetch_add(1, Ordering::Relaxed);
        ReplicaCall { replica, has_others: self.0.len() > 1, finished: false }
    }
}

impl Replica {
    fn new(http: &HttpClient, index: usize, base: &str) -> Result<Self, EndpointError> {
        let bad = || EndpointError::Url { url: redact_url(base) };
        let url = Url::parse(base).map_err(|_| bad())?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(bad());
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            let host = url.host_str().unwrap_or_default().to_owned();
            return Err(EndpointError::Credentials { host });
        }
        let transport = Transport::new(http, base, &url).ok_or_else(bad)?;
        Ok(Self {
            index,
            url: redact_url(base),
            transport,
            in_flight: AtomicUsize::new(0),
            health: Mutex::default(),
        })
    }
}

impl ReplicaCall<'_> {
    /// Records the result of the call. A request that the server rejects or throttles says nothing about its health.
    pub(super) fn finish(mut self, cause: Option<ErrorCause>) {
        self.finished = true;
        self.record(cause);
    }

    /// The error of the model: a permanent error of one replica is transient while there are others.
    pub(super) fn of_model(&self, mut error: ProviderError) -> ProviderError {
        if self.has_others && error.cause.is_lasting() {
            error.message = format!("one of several servers: {}: {}", error.cause, error.message);
            error.cause = ErrorCause::Server;
        }
        error
    }

    fn record(&self, cause: Option<ErrorCause>) {
        let mut health = self.replica.health.lock();
        match cause {
            None => *health = Health::default(),
            Some(cause) if cause != ErrorCause::Throttled && cause != ErrorCause::Rejected => {
                let now = Instant::now();
                // Calls in flight together fail together; they count as one failure.
                if health.avoid_until.is_none_or(|until| until <= now) {
                    let wait = FIRST_BACKOFF.saturating_mul(1 << health.failures.min(6)).min(MAX_BACKOFF);
                    health.failures += 1;
                    health.avoid_until = now.checked_add(wait);
                    info!(url = self.replica.url, cause = cause.as_str(), wait = ?wait, "avoiding a failing server");
                }
            }
            Some(_) => {}
        }
    }
}

impl Drop for ReplicaCall<'_> {
    fn drop(&mut self) {
        self.replica.in_flight.fetch_sub(1, Ordering::Relaxed);
        if !self.finished {
            self.record(Some(ErrorCause::Timeout));
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
    fn place(all: &Replicas, picked: &ReplicaCall<'_>) -> usize {
        all.0.iter().position(|replica| std::ptr::eq(replica, picked.replica)).unwrap()
    }

    /// Picks, and lets the call end in a transport that says nothing of the server's health.
    fn next(all: &Replicas) -> usize {
        let picked = all.pick();
        let place = place(all, &picked);
        picked.finish(Some(ErrorCause::Rejected));
        place
    }

    #[tokio::test(start_paused = true)]
    async fn the_least_loaded_is_asked_and_a_failing_one_rests() {
        let both = replicas(&["http://a/v1", "https://b/v1/"]).unwrap();
        let (first, second, third) = (both.pick(), both.pick(), both.pick());
        assert_eq!([&first, &second, &third].map(|picked| place(&both, picked)), [0, 1, 0]);
        first.finish(Some(ErrorCause::Server));
        third.finish(Some(ErrorCause::Server)); // in flight together: one failure
        second.finish(None);
        for _ in 0..3 {
            assert_eq!(next(&both), 1, "the first rests");
        }
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(next(&both), 0, "the first is tried again");
        drop(both.pick()); // the first again, and it hangs
        tokio::time::advance(Duration::from_millis(1500)).await;
        assert_eq!(next(&both), 1, "the first rests longer the second time");
        both.pick().finish(Some(ErrorCause::Network));
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
