//! The state of one connection: which phase of a request it is in, and since when.

use crate::Limits;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    state: Mutex<State>,
    close: Notify,
}

#[derive(Clone, Copy, Debug)]
struct State {
    phase: Phase,
    since: Instant,
    /// Since when the client has not been reading.
    blocked: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing has been received yet.
    New,
    /// A request was answered, and the next has not begun.
    Idle,
    /// Headers are being received.
    Headers,
    /// A body is being received.
    Body,
    /// A request is being answered.
    Response,
}

impl Connection {
    pub(crate) fn new() -> Self {
        let state = State { phase: Phase::New, since: Instant::now(), blocked: None };
        Self { state: Mutex::new(state), close: Notify::new() }
    }

    pub(crate) fn enter(&self, phase: Phase) {
        let mut state = self.state.lock();
        (state.phase, state.since) = (phase, Instant::now());
    }

    pub(crate) fn bytes_received(&self) {
        let phase = self.state.lock().phase;
        if matches!(phase, Phase::New | Phase::Idle) {
            self.enter(Phase::Headers);
        }
    }

    /// A write was attempted; it is blocked unless it was ready.
    pub(crate) fn write_polled(&self, ready: bool) {
        let mut state = self.state.lock();
        state.blocked = if ready { None } else { state.blocked.or_else(|| Some(Instant::now())) };
    }

    /// Asks the connection's task to end.
    pub(crate) fn close(&self) {
        self.close.notify_one();
    }

    /// Completes once the connection must be closed.
    pub(crate) async fn closing(&self) {
        self.close.notified().await;
    }

    /// The phase in which it has exceeded a timeout.
    pub(crate) fn overdue(&self, limits: &Limits) -> Option<Phase> {
        let state = *self.state.lock();
        let timeout = match state.phase {
            Phase::New | Phase::Headers => limits.header_timeout,
            Phase::Idle => limits.idle_timeout,
            // Twice, so that there is time to send the 408 response.
            Phase::Body => 2 * limits.body_timeout,
            Phase::Response => Duration::MAX,
        };
        let stalled = state.blocked.is_some_and(|since| since.elapsed() > limits.write_timeout);
        (stalled || state.since.elapsed() > timeout).then_some(state.phase)
    }

    /// Since when it has been waiting for its client: the longest is evicted first when the server is full. None while
    /// the client waits for a response, or has been slow for less than the grace period.
    pub(crate) fn idle_since(&self, limits: &Limits) -> Option<Instant> {
        let state = *self.state.lock();
        let slow = |since: &Instant| since.elapsed() > limits.grace;
        match state.phase {
            Phase::New | Phase::Headers | Phase::Idle => Some(state.since),
            Phase::Body => Some(state.since).filter(slow),
            Phase::Response => state.blocked.filter(slow),
        }
    }
}
