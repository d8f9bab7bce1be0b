//! The runner: many sessions at once, each recorded and graded as it ends.

use crate::caller::held;
use crate::{Crew, Driven, Ended, Observer, Planned, Trouble, drive, is_current};
use aske_evidence::Tally;
use aske_record::{GradeLine, Record, RoleUse, RunError, SCHEMA, SessionRecord};
use aske_session::Grade;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Mutex;

/// How a run ended.
#[derive(Debug)]
pub struct Finished {
    /// Outcomes of all graded sessions of the plan, earlier ones included.
    pub tally: Tally,
    /// Sessions of the plan that are not finished and graded, and why.
    pub ended: Ended,
    /// Calls, tokens and cost by role, all of the folder.
    pub used: BTreeMap<String, RoleUse>,
}

/// Runs plans into a folder.
pub struct Runner<'r> {
    crew: &'r Crew<'r>,
    tally: Mutex<Tally>,
    /// Sessions that this start has finished and not yet graded.
    records: Mutex<HashMap<String, SessionRecord>>,
    /// Grades by session, those of earlier starts included.
    grades: Mutex<HashMap<String, Graded>>,
    /// Sessions whose record of an earlier start does not count.
    reopened: Mutex<HashSet<String>>,
}

/// A session's grade.
struct Graded {
    grade: Grade,
    /// Its record is there too; without it the session is not finished.
    recorded: bool,
}

/// What it took to finish a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its record was written.
    pub record: bool,
    /// Its grade was written.
    pub grade: bool,
}

impl<'r> Runner<'r> {
    /// A runner for a crew. Sessions whose grades were made by an earlier rule are graded again.
    pub fn new(crew: &'r Crew<'r>) -> Self {
        Self::keeping(crew, |line| is_current(crew.settings, line.checker))
    }

    /// A runner that keeps all grades, whichever rule they were made by.
    pub(crate) fn with_all_grades(crew: &'r Crew<'r>) -> Self {
        Self::keeping(crew, |_| true)
    }

    fn keeping(crew: &'r Crew<'r>, keep: impl Fn(&GradeLine) -> bool) -> Self {
        let index = crew.folder.index();
        let known = |line: &GradeLine| {
            let recorded = index.contains(&line.record);
            (line.record.clone(), Graded { grade: line.grade.clone(), recorded })
        };
        let grades = crew.folder.grades().iter().filter(|line| keep(line)).map(known).collect();
        Self {
            crew,
            tally: Mutex::default(),
            records: Mutex::default(),
            grades: Mutex::new(grades),
            reopened: Mutex::default(),
        }
    }

    /// The grade of a session, if it is finished and graded by now.
    pub fn grade(&self, session: &str) -> Option<Grade> {
        held(&self.grades).get(session).filter(|graded| graded.recorded).map(|graded| graded.grade.clone())
    }

    /// Takes these sessions for unfinished, whatever an earlier start has recorded: they run again, with the replies
    /// that are stored.
    pub fn reopen<'s>(&self, sessions: impl IntoIterator<Item = &'s str>) {
        for session in sessions {
            held(&self.grades).remove(session);
            held(&self.records).remove(session);
            held(&self.reopened).insert(session.to_owned());
        }
    }

    /// Runs what is not finished yet. Returns early only when the folder fails.
    pub async fn run(&self, plan: &[Planned], observer: &dyn Observer) -> Result<Finished, RunError> {
        let mut open = Vec::new();
        for planned in plan {
            match self.grade(&planned.id.to_string()) {
                Some(grade) => self.count(planned, &grade),
                None => open.push(planned),
            }
        }
        let name = |planned: &&Planned| planned.id.to_string();
        let work = async |planned: &&Planned| self.finish(planned, observer).await.map(drop);
        let ended = self.crew.all(&open, name, work, |failure| observer.failed(failure)).await?;
        Ok(Finished { tally: held(&self.tally).clone(), ended, used: self.crew.folder.calls().used()? })
    }

    fn count(&self, planned: &Planned, grade: &Grade) {
        held(&self.tally).add(&planned.id.pair.to_string(), planned.id.sample, grade);
    }

    /// One session from where it stands to its grade. A grade whose record was lost stands as long as the stored
    /// replies make the record again; with a new reply in it, the session is graded anew.
    pub(crate) async fn finish(&self, planned: &Planned, observer: &dyn Observer) -> Result<Made, Trouble> {
        let Crew { settings, fleet, folder, caller, grader } = self.crew;
        let name = planned.id.to_string();
        let mut made = Made { record: false, grade: false };
        let mut known = held(&self.grades).get(&name).map(|graded| graded.grade.clone());
        let pending = held(&self.records).remove(&name);
        let stored = match pending {
            Some(record) => Some(record),
            None if held(&self.reopened).contains(&name) => None,
            None => folder.index().record(&name)?.and_then(Record::into_session),
        };
        let record = if let Some(record) = stored {
            record
        } else {
            let Driven { record, replayed } = drive(planned, settings, fleet, caller, observer).await?;
            folder.add_record(&Record::Session(record.clone()))?;
            made.record = true;
            known = known.filter(|_| replayed);
            record
        };
        let graded = if let Some(grade) = known {
            Ok(grade)
        } else {
            made.grade = true;
            grader.grade(&record.transcript, caller).await
        };
        let grade = match graded {
            Ok(grade) => grade,
            Err(trouble) => {
                // It is finished all the same, and must not be driven again.
                held(&self.records).insert(name, record);
                return Err(trouble);
            }
        };
        if made.grade {
            let (record, grade) = (name.clone(), grade.clone());
            let checker = grader.rule();
            folder.add_grade(&GradeLine { schema: SCHEMA, record, grade, check: None, checker })?;
        }
        self.count(planned, &grade);
        observer.graded(&record, &grade);
        held(&self.grades).insert(name, Graded { grade, recorded: true });
        Ok(made)
    }
}
