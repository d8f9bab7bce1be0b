//! [`Runner`]: runs sessions concurrently; each is recorded and graded when it ends.

use crate::{
    CallError, FinishedSession, JobSummary, Observer, PlannedSession, RunContext, is_current, run_session,
};
use aske_evidence::Tally;
use aske_record::{GradeLine, Record, RoleUsage, RunError, SessionRecord};
use aske_session::Grade;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The result of a run.
#[derive(Debug)]
pub struct RunSummary {
    /// Outcomes of all graded sessions of the plan, including earlier starts.
    pub tally: Tally,
    /// Open sessions of the plan, and failures.
    pub jobs: JobSummary,
    /// Calls, tokens and cost by role, of the whole folder.
    pub used: BTreeMap<String, RoleUsage>,
}

/// Runs plans into a folder.
pub struct Runner<'r> {
    context: &'r RunContext<'r>,
    tally: Mutex<Tally>,
    /// Sessions that this start has finished but not graded.
    records: Mutex<HashMap<String, SessionRecord>>,
    /// Grades by session, including earlier starts.
    grades: Mutex<HashMap<String, Graded>>,
    /// Sessions whose earlier record is ignored.
    reopened: Mutex<HashSet<String>>,
}

/// A session's grade.
struct Graded {
    grade: Grade,
    /// Whether the record exists too; otherwise the session is not finished.
    recorded: bool,
}

/// What was written to finish a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionWrites {
    /// The record was written.
    pub(crate) record: bool,
    /// The grade was written.
    pub(crate) grade: bool,
}

impl<'r> Runner<'r> {
    /// A runner in a context. Sessions with grades by earlier rules are graded again.
    pub fn new(context: &'r RunContext<'r>) -> Self {
        Self::keeping(context, |line| is_current(context.settings, &line.rules))
    }

    /// A runner that keeps all grades, also those by earlier rules.
    pub(crate) fn with_all_grades(context: &'r RunContext<'r>) -> Self {
        Self::keeping(context, |_| true)
    }

    fn keeping(context: &'r RunContext<'r>, keep: impl Fn(&GradeLine) -> bool) -> Self {
        let index = context.folder.index();
        let known = |line: &GradeLine| {
            let recorded = index.contains(&line.record);
            (line.record.clone(), Graded { grade: line.grade.clone(), recorded })
        };
        let grades = context.folder.grades().iter().filter(|line| keep(line)).map(known).collect();
        Self {
            context,
            tally: Mutex::default(),
            records: Mutex::default(),
            grades: Mutex::new(grades),
            reopened: Mutex::default(),
        }
    }

    /// The grade of a session, if it is finished and graded.
    pub fn grade(&self, session: &str) -> Option<Grade> {
        self.grades.lock().get(session).filter(|graded| graded.recorded).map(|graded| graded.grade.clone())
    }

    /// Ignores earlier records of these sessions: they run again with the stored replies.
    pub fn reopen<'s>(&self, sessions: impl IntoIterator<Item = &'s str>) {
        for session in sessions {
            self.grades.lock().remove(session);
            self.records.lock().remove(session);
            self.reopened.lock().insert(session.to_owned());
        }
    }

    /// Runs the unfinished sessions of a plan. Returns early only when the folder fails.
    pub async fn run(
        &self,
        plan: &[PlannedSession],
        observer: &dyn Observer,
    ) -> Result<RunSummary, RunError> {
        let mut open = Vec::new();
        for planned in plan {
            match self.grade(&planned.id.to_string()) {
                Some(grade) => self.count(planned, &grade),
                None => open.push(planned),
            }
        }
        let name = |planned: &&PlannedSession| planned.id.to_string();
        let work = async |planned: &&PlannedSession| self.finish(planned, observer).await.map(drop);
        let jobs = self.context.run_all(&open, name, work, |failure| observer.failed(failure)).await?;
        Ok(RunSummary { tally: self.tally.lock().clone(), jobs, used: self.context.folder.calls().used()? })
    }

    fn count(&self, planned: &PlannedSession, grade: &Grade) {
        self.tally.lock().add(&planned.id.pair.to_string(), planned.id.sample, grade);
    }

    /// Finishes and grades one session. A grade whose record was lost is kept if stored replies rebuild the record; with a
    /// new reply, the session is graded again.
    pub(crate) async fn finish(
        &self,
        planned: &PlannedSession,
        observer: &dyn Observer,
    ) -> Result<SessionWrites, CallError> {
        let RunContext { settings, models, folder, caller, grader } = self.context;
        let name = planned.id.to_string();
        let mut written = SessionWrites { record: false, grade: false };
        let mut known = self.grades.lock().get(&name).map(|graded| graded.grade.clone());
        let pending = self.records.lock().remove(&name);
        let stored = match pending {
            Some(record) => Some(record),
            None if self.reopened.lock().contains(&name) => None,
            None => folder.index().record(&name)?.and_then(Record::into_session),
        };
        let record = if let Some(record) = stored {
            record
        } else {
            let FinishedSession { record, replayed } =
                run_session(planned, settings, models, caller, observer).await?;
            folder.add_record(&Record::Session(record.clone()))?;
            written.record = true;
            known = known.filter(|_| replayed);
            record
        };
        let graded = if let Some(grade) = known {
            Ok(grade)
        } else {
            written.grade = true;
            grader.grade(&record.transcript, caller).await
        };
        let grade = match graded {
            Ok(grade) => grade,
            Err(error) => {
                // The session is finished nevertheless, and must not run again.
                self.records.lock().insert(name, record);
                return Err(error);
            }
        };
        if written.grade {
            folder.add_grade(&GradeLine::new(name.clone(), grade.clone(), grader.rules()))?;
        }
        self.count(planned, &grade);
        observer.graded(&record, &grade);
        self.grades.lock().insert(name, Graded { grade, recorded: true });
        Ok(written)
    }
}
