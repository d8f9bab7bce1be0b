//! A step's sessions: run, recorded and graded like those of the benchmark, with the policy as asker and as judge.

use aske_bench::{Crew, Fleet, Group, Observer, Planned, RunFailure, Runner};
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
    fleet: &'r Fleet,
    folder: &'r RunDir,
    halt: &'r Halt,
    /// What an earlier start has finished.
    before: HashMap<String, (SessionRecord, Grade)>,
}

/// How a step's sessions ended.
#[derive(Debug, Default)]
pub struct Sampled {
    /// Those that finished, group by group, in the order of the plan.
    pub groups: Vec<Vec<Rollout>>,
    /// Sessions that infrastructure kept from finishing; they are not scored.
    pub failures: Vec<RunFailure>,
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
    pub fn new(settings: &'r Settings, fleet: &'r Fleet, folder: &'r RunDir, halt: &'r Halt) -> Self {
        let grades: HashMap<&str, &Grade> =
            folder.grades().iter().map(|line| (line.record.as_str(), &line.grade)).collect();
        let sessions = folder.records().unwrap_or_default().iter().filter_map(|record| record.session());
        let before = sessions.filter_map(|record| {
            let name = record.id().to_string();
            let grade = (*grades.get(name.as_str())?).clone();
            Some((name, (record.clone(), grade)))
        });
        Self { settings, fleet, folder, halt, before: before.collect() }
    }

    /// Runs the sessions of these groups with what the provider serves.
    pub async fn sample(
        &self,
        groups: &[Group],
        policy: Box<dyn Provider>,
        finished: &(dyn Fn() + Sync),
    ) -> Result<Sampled, RunError> {
        // The policy is in this process: nothing but its own speed limits it.
        let limits = Limits { concurrency: usize::MAX >> 3, ..Limits::default() };
        let name = &self.settings.asker.model;
        let fleet = self.fleet.with(Model::new(name, policy, limits, None));
        let crew = Crew::new(self.settings, &fleet, self.folder, self.halt)?;
        let plan: Vec<Planned> = groups.iter().flat_map(|group| group.sessions.clone()).collect();
        let notes = Notes { seen: Mutex::default(), finished };
        let ended = Runner::new(&crew).run(&plan, &notes).await?.ended;
        let fresh = notes.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut sampled =
            Sampled { halted: self.halt.is_called(), failures: ended.failures, ..Sampled::default() };
        for group in groups {
            let mut rollouts = Vec::new();
            for planned in &group.sessions {
                let name = planned.id.to_string();
                if let Some((record, grade)) = fresh.get(&name).or_else(|| self.before.get(&name)) {
                    rollouts.push(self.rollout(name, record, grade)?);
                }
            }
            sampled.groups.push(rollouts);
        }
        Ok(sampled)
    }

    /// Of these groups, the sessions of these names, which an earlier start has finished.
    pub fn finished(&self, groups: &[Group], names: &[String]) -> Result<Vec<Vec<Rollout>>, RunError> {
        let names: HashSet<&str> = names.iter().map(String::as_str).collect();
        let group = |group: &Group| {
            let each = group.sessions.iter().map(|planned| planned.id.to_string());
            let known = each.filter(|name| names.contains(name.as_str()));
            let known =
                known.filter_map(|name| self.before.get(&name).map(|(record, grade)| (name, record, grade)));
            known.map(|(name, record, grade)| self.rollout(name, record, grade)).collect()
        };
        groups.iter().map(group).collect()
    }

    /// A session as the policy lived through it: replayed from what is stored.
    fn rollout(&self, name: String, record: &SessionRecord, grade: &Grade) -> Result<Rollout, RunError> {
        let Settings { protocol, pack, domain, .. } = self.settings;
        let mut replies = self.folder.calls().of_record(&name)?;
        let mut traces = self.folder.calls().traces(&name)?;
        let mut session = Session::new(protocol.clone(), pack.clone(), *domain);
        let mut turns = Vec::new();
        while let Need::Calls(calls) = session.need() {
            let mut fed = false;
            for call in calls {
                if call.slot.role == Role::Asker
                    && let Some(trace) = traces.remove(&call.slot.turn)
                {
                    turns.push((call.messages, trace));
                }
                if let Some(stored) = replies.remove(&call.slot) {
                    fed |= session.feed(call.slot, stored.reply).is_ok();
                }
            }
            // A reply that is not there: what follows it cannot be learnt from.
            if !fed {
                break;
            }
        }
        Ok(Rollout { name, transcript: record.transcript.clone(), grade: grade.clone(), turns })
    }
}
