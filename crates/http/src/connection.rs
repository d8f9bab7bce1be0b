//! What a connection is doing, and since when.

use crate::Limits;
use std::sync::{Mutex, MutexGuard, PoisonError};
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
    /// The client does not read, since then.
    blocked: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was ever received.
    New,
    /// A request was answered, and the next has not begun.
    Idle,
    /// Headers have begun.
    Head,
    /// A body is being received.
    Body,
    /// A request is being answered.
    Answer,
}

impl Connection {
    pub(crate) fn new() -> Self {
        let state = State { phase: Phase::New, since: Instant::now(), blocked: None };
        Self { state: Mutex::new(state), close: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, phase: Phase) {
        let mut state = self.state();
        (state.phase, state.since) = (phase, Instant::now());
    }

    /// Bytes came in.
    pub(crate) fn received(&self) {
        if matches!(self.state().phase, Phase::New | Phase::Idle) {
            self.enter(Phase::Head);
        }
    }

    /// Bytes could be sent, or could not.
    pub(crate) fn sent(&self, went: bool) {
        let mut state = self.state();
        state.blocked = if went { None } else { state.blocked.or_else(|| Some(Instant::now())) };
    }

    /// A request's headers are complete, or its body is.
    pub(crate) fn answering(&self) {
        self.enter(Phase::Answer);
    }

    /// A request's body is being received.
    pub(crate) fn receiving(&self) {
        self.enter(Phase::Body);
    }

    /// A response is complete.
    pub(crate) fn answered(&self) {
        self.enter(Phase::Idle);
    }

    /// Asks its task to end.
    pub(crate) fn close(&self) {
        self.close.notify_one();
    }

    /// Completes once it must be closed.
    pub(crate) async fn closing(&self) {
        self.close.notified().await;
    }

    /// Whether it has taken longer than it may.
    pub(crate) fn is_overdue(&self, limits: &Limits) -> bool {
        let state = *self.state();
        let most = match state.phase {
            Phase::New | Phase::Head => limits.head,
            Phase::Idle => limits.idle,
            // With some time to answer that it was too slow.
            Phase::Body => 2 * limits.body,
            Phase::Answer => std::time::Duration::MAX,
        };
        state.since.elapsed() > most || state.blocked.is_some_and(|since| since.elapsed() > limits.stall)
    }

    /// How little it deserves its place when there are no more: since when it has been waiting for its client. None while
    /// its client waits for an answer, or has not been slow for longer than the grace.
    pub(crate) fn idle_since(&self, limits: &Limits) -> Option<Instant> {
        let state = *self.state();
        let slow = |since: &Instant| since.elapsed() > limits.grace;
        match state.phase {
            Phase::New | Phase::Head | Phase::Idle => Some(state.since),
            Phase::Body => Some(state.since).filter(slow),
            Phase::Answer => state.blocked.filter(slow),
        }
    }
}
