//! Runs a step's sessions like those of the benchmark, with the policy as asker and as cross-check solver.

use super::PolicyServer;
use aske_bench::{Group, ModelRegistry, Observer, PlannedSession, RunContext, RunFailure, Runner};
use aske_chat::{Message, Trace};
use aske_config::Settings;
use aske_model::{Halt, Limits, Model, Provider};
use aske_record::{RunDir, RunError, SessionRecord};
use aske_session::{Grade, Need, Role, Session, Transcript};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};

/// A finished session and what the policy sampled in it.
#[derive(Clone, Debug)]
pub struct Rollout {
    /// Its name.
    pub name: String,
    /// The transcript.
    pub transcript: Transcript,
    /// The grade, as judged by the policy itself.
    pub grade: Grade,
    /// The asker's turns: the prompt of each, and what was sampled.
    pub turns: Vec<(Vec<Message>, Trace)>,
}

/// Runs sessions into a folder.
pub struct RolloutSampler<'r> {
    settings: &'r Settings,
    models: &'r ModelRegistry,
    folder: &'r RunDir,
    halt: &'r Halt,
    /// Records and grades of earlier starts.
    records: HashMap<String, &'r SessionRecord>,
    grades: HashMap<&'r str, &'r Grade>,
}

/// Prompt and sampled tokens of each turn.
type Turns = Vec<(Vec<Message>, Trace)>;

/// The outcome of sampling a step.
#[derive(Debug, Default)]
pub struct SampledStep {
    /// Finished rollouts, group by group, in the order of the plan.
    pub groups: Vec<Vec<Rollout>>,
    /// Sessions that failed for infrastructure reasons; never scored.
    pub failures: Vec<RunFailure>,
    /// Finished sessions whose replies are not all in the folder.
    pub incomplete: Vec<String>,
    /// The run was interrupted.
    pub halted: bool,
}

/// The weights that sample a step.
pub struct PolicySource<'s> {
    /// Generates the policy's replies.
    pub provider: Box<dyn Provider>,
    /// Where it comes from.
    pub server: &'s PolicyServer,
    /// The version of its weights: the number of updates before.
    pub version: u64,
}

/// Attempts to sample a step whose weights were lost in between.
const MAX_ATTEMPTS: u32 = 3;

/// Collects graded sessions and reports each.
struct GradeCollector<'o> {
    graded: Mutex<HashMap<String, (SessionRecord, Grade)>>,
    finished: &'o (dyn Fn() + Sync),
}

impl Observer for GradeCollector<'_> {
    fn graded(&self, record: &SessionRecord, grade: &Grade) {
        self.graded.lock().insert(record.id().to_string(), (record.clone(), grade.clone()));
        (self.finished)();
    }
}

impl<'r> RolloutSampler<'r> {
    /// A sampler for a folder. The policy replaces the model with the asker's name.
    pub fn new(
        settings: &'r Settings,
        models: &'r ModelRegistry,
        folder: &'r RunDir,
        halt: &'r Halt,
    ) -> Result<Self, RunError> {
        let sessions = folder.records()?.iter().filter_map(|record| record.session());
        let records = sessions.map(|record| (record.id().to_string(), record)).collect();
        let grades = folder.grades().iter().map(|line| (line.record.as_str(), &line.grade)).collect();
        Ok(Self { settings, models, folder, halt, records, grades })
    }

    /// Runs the sessions of these groups with this policy.
    ///
    /// Sessions stored by earlier starts are reused if they were sampled by this version of the weights. If a record or a
    /// reply was lost, the session runs again with the replies that are left. If the weights were lost in between, because
    /// a server was restarted unnoticed, the sessions run again from the start.
    pub async fn sample(
        &self,
        groups: &[Group],
        policy: PolicySource<'_>,
        finished: &(dyn Fn() + Sync),
    ) -> Result<SampledStep, RunError> {
        let PolicySource { provider, server, version } = policy;
        // No other program calls the policy, so there is no rate limit; a server that was killed needs minutes to come back.
        let limits = Limits { concurrency: usize::MAX >> 3, attempts: 40, ..Limits::default() };
        let name = &self.settings.asker.model;
        let models = self.models.with_model(Model::new(name, provider, limits, None));
        let context = RunContext::new(self.settings, &models, self.folder, self.halt)?;
        let plan: Vec<PlannedSession> = groups.iter().flat_map(|group| group.sessions.clone()).collect();
        let mut damaged = self.damaged(&plan, version)?;
        let mut attempt = 1;
        let (ended, fresh) = loop {
            let collector = GradeCollector { graded: Mutex::default(), finished };
            let runner = Runner::new(&context);
            runner.reopen(damaged.iter().map(String::as_str));
            let ended = runner.run(&plan, &collector).await?.jobs;
            let fresh = collector.graded.into_inner();
            if attempt == MAX_ATTEMPTS || self.halt.is_triggered() || !server.lost_weights().await {
                break (ended, fresh);
            }
            tracing::warn!(sessions = fresh.len(), "a server lost the weights; sampling the step again");
            attempt += 1;
            for name in fresh.keys() {
                self.folder.calls().delete(name)?;
            }
            damaged.extend(fresh.into_keys());
        };
        let mut sampled = SampledStep {
            halted: self.halt.is_triggered(),
            failures: ended.failures,
            ..SampledStep::default()
        };
        for group in groups {
            let mut rollouts = Vec::new();
            for planned in &group.sessions {
                let name = planned.id.to_string();
                let found = match fresh.get(&name) {
                    Some((record, grade)) => self.rollout(&name, record, grade)?,
                    None if damaged.contains(&name) => None,
                    None => self.earlier(&name)?,
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

    /// The rollouts with these names that an earlier start has finished, group by group, and how many of them are missing or
    /// incomplete.
    pub fn stored(&self, groups: &[Group], names: &[String]) -> Result<(Vec<Vec<Rollout>>, usize), RunError> {
        let mut missing: HashSet<&str> = names.iter().map(String::as_str).collect();
        let mut found = Vec::new();
        for group in groups {
            let mut rollouts = Vec::new();
            for planned in &group.sessions {
                let name = planned.id.to_string();
                if missing.contains(name.as_str())
                    && let Some(rollout) = self.earlier(&name)?
                {
                    missing.remove(name.as_str());
                    rollouts.push(rollout);
                }
            }
            found.push(rollouts);
        }
        Ok((found, missing.len()))
    }

    /// The sessions of earlier starts of which something was lost, or which other weights have sampled.
    fn damaged(&self, plan: &[PlannedSession], version: u64) -> Result<HashSet<String>, RunError> {
        let mut damaged = HashSet::new();
        for planned in plan {
            let name = planned.id.to_string();
            let traces = self.folder.calls().traces(&name)?;
            if traces.values().any(|trace| trace.version.is_some_and(|other| other != version)) {
                self.folder.calls().delete(&name)?;
                damaged.insert(name);
                continue;
            }
            let (record, grade) = (self.records.get(&name), self.grades.get(name.as_str()));
            let complete = match (record, grade) {
                (None, None) => true,
                (None, Some(_)) => false,
                (Some(_), _) => self.turns(&name)?.is_some(),
            };
            if !complete {
                self.folder.calls().delete_untraced(&name)?;
                damaged.insert(name);
            }
        }
        Ok(damaged)
    }

    /// A rollout of an earlier start; `None` if a part of it is missing.
    fn earlier(&self, name: &str) -> Result<Option<Rollout>, RunError> {
        match (self.records.get(name), self.grades.get(name)) {
            (Some(record), Some(grade)) => self.rollout(name, record, grade),
            _ => Ok(None),
        }
    }

    /// The rollout of a finished session; `None` if a reply is missing.
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

    /// The asker's turns of a finished session, replayed from stored replies; `None` if one is missing.
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
