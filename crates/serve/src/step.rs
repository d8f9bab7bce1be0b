//! One step of an episode: stores what the trainer submitted, then calls the boundary solvers and the cross-check solver.

use crate::environment::Environment;
use crate::episode::{Next, Pending, Submission};
use crate::error::StepError;
use crate::open_sessions::OpenSession;
use aske_bench::{CallError, CallReply, Caller, PlannedSession, Replay, SessionRoles, make_calls};
use aske_chat::{Reply, Usd};
use aske_config::RoleSettings;
use aske_model::Completion;
use aske_record::{GradeLine, Record, RoleUsage, SessionRecord};
use aske_session::{Call, FeedError, Grade, Need, Role, Seed, Session, Slot};
use std::collections::BTreeMap;
use std::time::Duration;

/// Answers a submission. If this fails, the session is unchanged and the submission may be repeated.
pub(crate) async fn step(
    environment: &Environment,
    open: &OpenSession,
    submission: Submission,
) -> Result<Next, StepError> {
    let mut episode = open.episode.lock().await;
    if let Some(answer) = episode.submit(submission)? {
        return Ok(answer);
    }
    let record = open.planned.id.to_string();
    let stored = environment.folder.calls().of_record(&record).map_err(CallError::from)?;
    let step = StepContext { environment, open, record, stored, caller: environment.caller(open.seed) };
    let (mut session, mut used) = episode.state();
    for (call, reply) in episode.submitted_calls() {
        let slot = call.slot;
        feed(&mut session, &mut used, slot, step.store(call, reply).await?)?;
    }
    while let Pending::Calls(pending) = episode.pending(&session) {
        let roles = SessionRoles {
            solvers: &open.planned.solvers,
            settings: &environment.settings,
            models: &environment.models,
        };
        for called in make_calls(pending, &step.record, &roles, &step.caller, &step.stored).await {
            let (slot, _, reply) = called?;
            feed(&mut session, &mut used, slot, reply)?;
        }
    }
    let grade = step.grade(&session, &used).await?;
    Ok(episode.complete(session, used, grade))
}

struct StepContext<'e> {
    environment: &'e Environment,
    open: &'e OpenSession,
    record: String,
    /// The stored replies of the session, including those of a failed attempt at this step.
    stored: Replay,
    caller: Caller<'e>,
}

impl StepContext<'_> {
    /// Stores a reply of the trainer like that of any model.
    async fn store(&self, call: Call, reply: Reply) -> Result<CallReply, CallError> {
        let role = self.role(call.slot.role);
        let given = Completion { reply, latency: Duration::ZERO, attempts: 1, cost: Usd::default() };
        self.caller.give(&self.record, call, (&role.model, role), &self.stored, given).await
    }

    fn role(&self, role: Role) -> &RoleSettings {
        let settings = &self.environment.settings;
        if role == Role::Asker { &settings.asker } else { &settings.check }
    }

    /// Grades a finished session, and writes its record and grade.
    async fn grade(
        &self,
        session: &Session,
        used: &BTreeMap<String, RoleUsage>,
    ) -> Result<Option<Grade>, CallError> {
        let Need::Done(transcript) = session.need() else { return Ok(None) };
        let Environment { settings, folder, grader, .. } = self.environment;
        // Verdicts are shared by all sessions, so they use the run's seed.
        let grade = grader.grade(transcript, &self.environment.caller(Seed(settings.run.seed))).await?;
        let PlannedSession { id, solvers } = self.open.planned.clone();
        let asker = settings.asker.model.clone();
        let record = SessionRecord::new(id, asker, solvers, transcript.clone(), used.clone());
        folder.add_record(&Record::Session(record))?;
        folder.add_grade(&GradeLine::new(self.record.clone(), grade.clone(), grader.rules()))?;
        Ok(Some(grade))
    }
}

fn feed(
    session: &mut Session,
    used: &mut BTreeMap<String, RoleUsage>,
    slot: Slot,
    reply: CallReply,
) -> Result<(), FeedError> {
    used.entry(slot.role.as_str().to_owned()).or_default().add(&reply.used());
    session.feed(slot, reply.call.reply)
}
