//! The runner: many sessions at once, each recorded and graded as it ends.

use crate::caller::held;
use crate::{Crew, Ended, Observer, Planned, Trouble, drive, is_current};
use aske_evidence::Tally;
use aske_record::{GradeLine, Record, RoleUse, RunError, SCHEMA, SessionRecord};
use aske_session::Grade;
use std::collections::{BTreeMap, HashMap};
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
    /// Sessions that are finished and not yet graded.
    records: Mutex<HashMap<String, SessionRecord>>,
    /// Grades by session, those of earlier starts included.
    grades: Mutex<HashMap<String, Grade>>,
}

impl<'r> Runner<'r> {
    /// A runner for a crew. Sessions whose grades were made by an earlier rule are graded again.
    pub fn new(crew: &'r Crew<'r>) -> Self {
        let current = crew.folder.grades().iter().filter(|line| is_current(crew.settings, line.checker));
        let grades: HashMap<String, Grade> =
            current.map(|line| (line.record.clone(), line.grade.clone())).collect();
        let sessions =
            crew.folder.records().iter().filter_map(|record| Some((record.id(), record.session()?)));
        let ungraded = sessions.filter(|(name, _)| !grades.contains_key(name));
        let records = ungraded.map(|(name, session)| (name, session.clone())).collect();
        Self { crew, tally: Mutex::default(), records: Mutex::new(records), grades: Mutex::new(grades) }
    }

    /// The grade of a session, if it has one by now.
    pub fn grade(&self, session: &str) -> Option<Grade> {
        held(&self.grades).get(session).cloned()
    }

    /// Takes these sessions for unfinished, whatever an earlier start has recorded: they run again, with the replies
    /// that are stored.
    pub fn reopen<'s>(&self, sessions: impl IntoIterator<Item = &'s str>) {
        for session in sessions {
            held(&self.grades).remove(session);
            held(&self.records).remove(session);
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
        let work = async |planned: &&Planned| self.finish(planned, observer).await;
        let ended = self.crew.all(&open, name, work, |failure| observer.failed(failure)).await?;
        Ok(Finished { tally: held(&self.tally).clone(), ended, used: self.crew.folder.calls().used()? })
    }

    fn count(&self, planned: &Planned, grade: &Grade) {
        held(&self.tally).add(&planned.id.pair.to_string(), planned.id.sample, grade);
    }

    /// One session from where it stands to its grade.
    async fn finish(&self, planned: &Planned, observer: &dyn Observer) -> Result<(), Trouble> {
        let Crew { settings, fleet, folder, caller, grader } = self.crew;
        let name = planned.id.to_string();
        let before = held(&self.records).remove(&name);
        let record = if let Some(record) = before {
            record
        } else {
            let fresh = drive(planned, settings, fleet, caller, observer).await?;
            folder.add_record(&Record::Session(fresh.clone()))?;
            fresh
        };
        let graded = grader.grade(&record.transcript, caller).await;
        let grade = match graded {
            Ok(grade) => grade,
            Err(trouble) => {
                // It is finished all the same, and must not be driven again.
                held(&self.records).insert(name, record);
                return Err(trouble);
            }
        };
        folder.add_grade(&GradeLine {
            schema: SCHEMA,
            record: name.clone(),
            grade: grade.clone(),
            check: None,
            checker: grader.rule(),
        })?;
        self.count(planned, &grade);
        observer.graded(&record, &grade);
        held(&self.grades).insert(name, grade);
        Ok(())
    }
}
