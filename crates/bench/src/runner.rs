//! The runner: many sessions at once, each recorded and graded as it ends.

use crate::caller::held;
use crate::{Crew, Driven, Ended, Observer, Planned, Trouble, drive};
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
    /// Sessions that this start has finished and not yet graded.
    records: Mutex<HashMap<String, SessionRecord>>,
    /// Grades by session, those of earlier starts included.
    grades: Mutex<HashMap<String, Graded>>,
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
    /// A runner for a crew.
    pub fn new(crew: &'r Crew<'r>) -> Self {
        let index = crew.folder.index();
        let graded = |line: &GradeLine| {
            let recorded = index.contains(&line.record);
            (line.record.clone(), Graded { grade: line.grade.clone(), recorded })
        };
        let grades = crew.folder.grades().iter().map(graded).collect();
        Self { crew, tally: Mutex::default(), records: Mutex::default(), grades: Mutex::new(grades) }
    }

    /// The grade of a session, if it is finished and graded by now.
    pub fn grade(&self, session: &str) -> Option<Grade> {
        held(&self.grades).get(session).filter(|graded| graded.recorded).map(|graded| graded.grade.clone())
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
        let record = if let Some(record) = pending {
            record
        } else if let Some(Record::Session(record)) = folder.index().record(&name)? {
            record
        } else {
            let Driven { record, replayed } = drive(planned, settings, fleet, caller, observer).await?;
            folder.add_record(&Record::Session(record.clone()))?;
            made.record = true;
            known = known.filter(|_| replayed);
            record
        };
        let graded = match known {
            Some(grade) => Ok(grade),
            None => {
                made.grade = true;
                grader.grade(&record.transcript, caller).await
            }
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
            folder.add_grade(&GradeLine { schema: SCHEMA, record, grade, check: None })?;
        }
        self.count(planned, &grade);
        observer.graded(&record, &grade);
        held(&self.grades).insert(name, Graded { grade, recorded: true });
        Ok(made)
    }
}
