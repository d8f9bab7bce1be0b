//! A run folder that rollouts are written to.

use aske_bench::Replay;
use aske_record::{GradeLine, Manifest, Record, RunDir, RunError, SessionId};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// An open run folder.
pub(crate) struct RunFolder {
    pub(crate) dir: RunDir,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Sessions in progress.
    running: HashSet<String>,
    /// Records, and records with a grade, that are in the folder by now.
    recorded: HashSet<String>,
    graded: HashSet<String>,
}

/// A session in progress; it is free again when this is dropped.
pub(crate) struct Claim(Arc<RunFolder>, String);

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.state.lock().running.remove(&self.1);
    }
}

impl RunFolder {
    /// Opens the folder, or creates it.
    pub(crate) fn open(path: &Path, manifest: &Manifest) -> Result<Self, RunError> {
        let dir = RunDir::open(path, manifest)?;
        let graded = dir.grades().iter().map(|line| line.record.clone()).collect();
        Ok(Self { dir, state: Mutex::new(State { graded, ..State::default() }) })
    }

    /// Claims a session; none if it is in progress.
    pub(crate) fn claim(self: &Arc<Self>, id: &SessionId) -> Option<Claim> {
        let name = id.to_string();
        self.state.lock().running.insert(name.clone()).then(|| Claim(self.clone(), name))
    }

    /// Whether a session is in progress or finished.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        let state = self.state.lock();
        state.running.contains(name) || state.recorded.contains(name) || self.dir.index().contains(name)
    }

    /// The stored replies of a session, with the asker's tokens.
    pub(crate) fn replies(&self, name: &str) -> Result<Replay, RunError> {
        let mut replies = self.dir.calls().of_record(name)?;
        let mut traces = self.dir.calls().traces(name)?;
        for (slot, call) in &mut replies {
            if slot.role == aske_session::Role::Asker {
                call.reply.trace = traces.remove(&slot.turn);
            }
        }
        Ok(replies)
    }

    /// Adds the record and the grade of a session where they are missing; returns whether the record was.
    pub(crate) fn add(&self, record: &Record, grade: &GradeLine) -> Result<bool, RunError> {
        let name = &grade.record;
        let mut state = self.state.lock();
        let fresh = !self.dir.index().contains(name) && !state.recorded.contains(name);
        if fresh {
            self.dir.add_record(record)?;
            state.recorded.insert(name.clone());
        }
        if !state.graded.contains(name) {
            self.dir.add_grade(grade)?;
            state.graded.insert(name.clone());
        }
        Ok(fresh)
    }
}
