//! The open sessions: found by name, limited in number, dropped after a time without requests.

use crate::SessionLimits;
use crate::episode::Episode;
use aske_bench::PlannedSession;
use aske_http::ApiError;
use aske_session::Seed;
use axum::http::StatusCode;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// One open session.
pub(crate) struct OpenSession {
    pub(crate) planned: PlannedSession,
    pub(crate) seed: Seed,
    /// Locked for a whole step, so that a repeated step waits for the first.
    pub(crate) episode: tokio::sync::Mutex<Episode>,
    used_at: Mutex<Instant>,
}

impl OpenSession {
    pub(crate) fn new(planned: PlannedSession, seed: Seed, episode: Episode) -> Self {
        let (episode, used_at) = (tokio::sync::Mutex::new(episode), Mutex::new(Instant::now()));
        Self { planned, seed, episode, used_at }
    }
}

/// All open sessions by name.
pub(crate) struct OpenSessions {
    sessions: Mutex<HashMap<String, Arc<OpenSession>>>,
    limits: SessionLimits,
}

impl OpenSessions {
    pub(crate) fn new(limits: SessionLimits) -> Self {
        Self { sessions: Mutex::default(), limits }
    }

    /// Fails if no further session may be opened.
    pub(crate) fn check_limit(&self) -> Result<(), ApiError> {
        let max = self.limits.sessions;
        if self.active().len() < max {
            return Ok(());
        }
        let message = format!("{max} sessions are open, which is the limit");
        Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, message)
            .with_hint("delete finished sessions, or start the environment with more --sessions"))
    }

    /// Adds a session under a new name. Names are random, so that those of an earlier start are unknown.
    pub(crate) fn add(&self, session: OpenSession) -> String {
        let mut sessions = self.active();
        loop {
            let name = format!("{:016x}", fastrand::u64(..));
            if !sessions.contains_key(&name) {
                sessions.insert(name.clone(), Arc::new(session));
                return name;
            }
        }
    }

    pub(crate) fn get(&self, name: &str) -> Result<Arc<OpenSession>, ApiError> {
        let session = self.active().get(name).cloned().ok_or_else(|| self.not_found(name))?;
        *session.used_at.lock() = Instant::now();
        Ok(session)
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), ApiError> {
        self.active().remove(name).map(drop).ok_or_else(|| self.not_found(name))
    }

    pub(crate) fn len(&self) -> usize {
        self.active().len()
    }

    /// All sessions after dropping idle ones; a session with a step in progress is not idle.
    fn active(&self) -> MutexGuard<'_, HashMap<String, Arc<OpenSession>>> {
        let mut sessions = self.sessions.lock();
        sessions.retain(|name, session| {
            let active =
                Arc::strong_count(session) > 1 || session.used_at.lock().elapsed() < self.limits.idle;
            if !active {
                tracing::info!(session = name, "dropped an idle session");
            }
            active
        });
        sessions
    }

    fn not_found(&self, name: &str) -> ApiError {
        let name: String = name.chars().filter(char::is_ascii_hexdigit).take(16).collect();
        let minutes = self.limits.idle.as_secs_f64() / 60.0;
        ApiError::not_found(format!("no session `{name}`")).with_hint(format!(
            "it was deleted, or idle for {minutes} minutes, or belongs to an earlier start; create another"
        ))
    }
}
