//! Observers of a run: progress bars, the live view, tests.

use crate::{PlannedSession, RunFailure};
use aske_chat::Reply;
use aske_record::SessionRecord;
use aske_session::{Grade, Slot, Turn};

/// Receives the events of a run. All methods do nothing by default.
pub trait Observer {
    /// A model replied; `stored` replies come from the run folder and cost nothing.
    fn replied(&self, _session: &PlannedSession, _slot: Slot, _model: &str, _reply: &Reply, _stored: bool) {}
    /// An asker's turn was parsed: it has a question or an error.
    fn asked(&self, _session: &PlannedSession, _number: u32, _turn: &Turn) {}
    /// Both solvers have answered a turn's question.
    fn solved(&self, _session: &PlannedSession, _number: u32, _turn: &Turn) {}
    /// A session is finished and graded.
    fn graded(&self, _record: &SessionRecord, _grade: &Grade) {}
    /// A session or its grading failed.
    fn failed(&self, _failure: &RunFailure) {}
}

/// Ignores every event.
impl Observer for () {}
