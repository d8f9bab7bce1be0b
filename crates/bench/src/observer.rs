//! Those who watch a run.

use crate::{PlannedSession, RunFailure};
use aske_chat::Reply;
use aske_record::SessionRecord;
use aske_session::{Grade, Slot, Turn};

/// Is told what happens, as it happens. Every method does nothing unless it is overridden.
pub trait Observer {
    /// A model replied; `stored` replies come from the run folder and cost nothing.
    fn replied(&self, _session: &PlannedSession, _slot: Slot, _model: &str, _reply: &Reply, _stored: bool) {}
    /// An asker's turn was read: it has its question or its trouble.
    fn asked(&self, _session: &PlannedSession, _number: u32, _turn: &Turn) {}
    /// Both solvers have answered a turn's question.
    fn solved(&self, _session: &PlannedSession, _number: u32, _turn: &Turn) {}
    /// A session is finished and graded.
    fn graded(&self, _record: &SessionRecord, _grade: &Grade) {}
    /// A session, or its grading, was given up for now.
    fn failed(&self, _failure: &RunFailure) {}
}
