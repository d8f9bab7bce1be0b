//! A step's sessions: run, recorded and graded like those of the benchmark, with the policy as asker and as judge.

use aske_bench::{Group, ModelRegistry, Observer, PlannedSession, RunContext, RunFailure, Runner};
use aske_chat::{Message, Trace};
use aske_config::Settings;
use aske_model::{Halt, Limits, Model, Provider};
use aske_record::{RunDir, RunError, SessionRecord};
use aske_session::{Grade, Need, Role, Session, Transcript};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// A finished session and what the policy sampled in it.
#[derive(Clone, Debug)]
pub struct Rollout {
    /// Its name.
    pub name: String,
    /// What happened.
    pub transcript: Transcript,
    /// By the policy's own judgement.
    pub grade: Grade,
    /// The asker's turns: the conversation before each, and what was sampled.
    pub turns: Vec<(Vec<Message>, Trace)>,
}

/// Runs sessions into a folder.
pub struct Sampler<'r> {
    settings: &'r Settings,
    fleet: &'r ModelRegistry,
    folder: &'r RunDir,
    halt: &'r Halt,
    /// The records and the grades of earlier starts.
    records: HashMap<String, &'r SessionRecord>,
    grades: HashMap<&'r str, &'r Grade>,
}

/// What the policy read and wrote in each turn of a session.
type Turns = Vec<(Vec<Message>, Trace)>;

/// The rollouts of a step that earlier starts have finished.
#[derive(Debug)]
pub enum Stored {
    /// All of them, group by group.
    Whole(Vec<Vec<Rollout>>),
    /// So many are not in the folder, or not as a whole.
    Missing(usize),
}

/// How a step's sessions ended.
#[derive(Debug, Default)]
pub struct Sampled {
    /// Those that finished, group by group, in the order of the plan.
    pub groups: Vec<Vec<Rollout>>,
    /// Sessions that infrastructure kept from finishing; they are not scored.
    pub failures: Vec<RunFailure>,
    /// Finished sessions whose replies are not all in the folder; they cannot be learnt from.
    pub incomplete: Vec<String>,
    /// Not everything ran, because the run is ending.
    pub halted: bool,
}

/// Notes what was graded, and tells another.
struct Notes<'o> {
    seen: Mutex<HashMap<String, (SessionRecord, Grade)>>,
    finished: &'o (dyn Fn() + Sync),
}

impl Observer for Notes<'_> {
    fn graded(&self, record: &SessionRecord, grade: &Grade) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(record.id().to_string(), (record.clone(), grade.clone()));
        (self.finished)();
    }
}

impl<'r> Sampler<'r> {
    /// A sampler for a folder. The fleet's model of the asker's name is replaced by the policy.
    pub fn new(
        settings: &'r Settings,
        fleet: &'r ModelRegistry,
        folder: &'r RunDir,
        halt: &'r Halt,
    ) -> Result<Self, RunError> {
        let sessions = folder.records()?.iter().filter_map(|record| record.session());
        let records = sessions.map(|record| (record.id().to_string(), record)).collect();
        let grades = folder.grades().iter().map(|line| (line.record.as_str(), &line.grade)).collect();
        Ok(Self { settings, fleet, folder, halt, records, grades })
    }

    /// Runs the sessions of these groups with what the provider serves.
    ///
    /// What earlier starts have stored is used as it is. A session of which a record or a reply was lost runs again
    /// with the replies that are there; as each call has its own seed, the same weights give the same session.
    pub async fn sample(
        &self,
        groups: &[Group],
        policy: Box<dyn Provider>,
        finished: &(dyn Fn() + Sync),
    ) -> Result<Sampled, RunError> {
        // The policy is in this process: nothing but its own speed limits it.
        let limits = Limits { concurrency: usize::MAX >> 3, ..Limits::default() };
        let name = &self.settings.asker.model;
        let fleet = self.fleet.with_model(Model::new(name, policy, limits, None));
        let crew = RunContext::new(self.settings, &fleet, self.folder, self.halt)?;
        let plan: Vec<PlannedSession> = groups.iter().flat_map(|group| group.sessions.clone()).collect();
        let notes = Notes { seen: Mutex::default(), finished };
        let runner = Runner::new(&crew);
        let damaged = self.damaged(&plan)?;
        runner.reopen(damaged.iter().map(String::as_str));
        let ended = runner.run(&plan, &notes).await?.jobs;
        let fresh = notes.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut sampled =
            Sampled { halted: self.halt.is_triggered(), failures: ended.failures, ..Sampled::default() };
        for group in groups {
            let mut rollouts = Vec::new();
            for planned in &group.sessions {
                let name = planned.id.to_string();
                let found = match fresh.get(&name) {
                    Some((record, grade)) => self.rollout(&name, record, grade)?,
                    None if damaged.contains(&name) => None,
                    None => self.before(&name)?,
                };
                match found {
                    Some(rollout) => rollouts.push(rollout),
                    None if fresh.contains_key(&name) => sampled.incomplete.push(name),
                    None => {}
                }
            }
            sampled.groups.push(rollouts);
        }
        Ok(sampled)
    }

    /// Of these groups, the sessions of these names, which an earlier start has finished.
    pub fn stored(&self, groups: &[Group], names: &[String]) -> Result<Stored, RunError> {
        let mut missing: HashSet<&str> = names.iter().map(String::as_str).collect();
        let mut found = Vec::new();
        for group in groups {
            let mut rollouts = Vec::new();
            for planned in &group.sessions {
                let name = planned.id.to_string();
                if missing.contains(name.as_str())
                    && let Some(rollout) = self.before(&name)?
                {
                    missing.remove(name.as_str());
                    rollouts.push(rollout);
                }
            }
            found.push(rollouts);
        }
        Ok(if missing.is_empty() { Stored::Whole(found) } else { Stored::Missing(missing.len()) })
    }

    /// Of these sessions, those that an earlier start has finished and of which something was lost.
    fn damaged(&self, plan: &[PlannedSession]) -> Result<HashSet<String>, RunError> {
        let mut damaged = HashSet::new();
        for planned in plan {
            let name = planned.id.to_string();
            let (record, grade) = (self.records.get(&name), self.grades.get(name.as_str()));
            let whole = match (record, grade) {
                (None, None) => true,
                (None, Some(_)) => false,
                (Some(_), _) => self.turns(&name)?.is_some(),
            };
            if !whole {
                self.folder.calls().forget_untraced(&name)?;
                damaged.insert(name);
            }
        }
        Ok(damaged)
    }

    /// A rollout of an earlier start; none where a part of it is not in the folder.
    fn before(&self, name: &str) -> Result<Option<Rollout>, RunError> {
        match (self.records.get(name), self.grades.get(name)) {
            (Some(record), Some(grade)) => self.rollout(name, record, grade),
            _ => Ok(None),
        }
    }

    /// A finished session as the policy lived through it; none where a reply is not in the folder.
    fn rollout(
        &self,
        name: &str,
        record: &SessionRecord,
        grade: &Grade,
    ) -> Result<Option<Rollout>, RunError> {
        Ok(self.turns(name)?.map(|turns| Rollout {
            name: name.to_owned(),
            transcript: record.transcript.clone(),
            grade: grade.clone(),
            turns,
        }))
    }

    /// The asker's turns of a finished session, replayed from what is stored; none where a part of it is not there.
    fn turns(&self, name: &str) -> Result<Option<Turns>, RunError> {
        let Settings { protocol, pack, domain, .. } = self.settings;
        let mut replies = self.folder.calls().of_record(name)?;
        let mut traces = self.folder.calls().traces(name)?;
        let mut session = Session::new(protocol.clone(), pack.clone(), *domain);
        let mut turns = Vec::new();
        while let Need::Calls(calls) = session.need() {
            for call in calls {
                let Some(stored) = replies.remove(&call.slot) else { return Ok(None) };
                if call.slot.role == Role::Asker {
                    let Some(trace) = traces.remove(&call.slot.turn) else { return Ok(None) };
                    turns.push((call.messages, trace));
                }
                if session.feed(call.slot, stored.reply).is_err() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(turns))
    }
}
