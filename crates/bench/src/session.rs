//! Runs one session against its models, from the first turn to the record.

use crate::caller::{CallReply, Replay};
use crate::{CallError, Caller, ModelRegistry, Observer, PlannedSession};
use aske_config::{RoleSettings, Settings};
use aske_model::{ErrorCause, Model, ModelError};
use aske_record::{RoleUsage, SessionRecord};
use aske_session::{Call, Need, Role, Session, Slot};
use futures_util::future::join_all;
use std::collections::BTreeMap;
use tracing::info;

/// A finished session.
pub struct FinishedSession {
    /// Its record.
    pub record: SessionRecord,
    /// Whether every reply was replayed.
    pub replayed: bool,
}

/// Runs a session to its end. Stored replies are replayed; every new reply is stored before it is used.
pub async fn run_session(
    planned: &PlannedSession,
    settings: &Settings,
    models: &ModelRegistry,
    caller: &Caller<'_>,
    observer: &dyn Observer,
) -> Result<FinishedSession, CallError> {
    let record = planned.id.to_string();
    let replay = caller.earlier_replies(&record)?;
    if !replay.is_empty() {
        info!(session = record, replies = replay.len(), "resuming a session");
    }
    let roles = SessionRoles { solvers: &planned.solvers, settings, models };
    let mut session = Session::new(settings.protocol.clone(), settings.pack.clone(), settings.domain);
    let mut used: BTreeMap<String, RoleUsage> = BTreeMap::new();
    let mut replayed = true;
    loop {
        let calls = match session.need() {
            Need::Calls(calls) => calls,
            Need::Done(transcript) => {
                let PlannedSession { id, solvers } = planned.clone();
                let asker = settings.asker.model.clone();
                let record = SessionRecord::new(id, asker, solvers, transcript.clone(), used);
                return Ok(FinishedSession { record, replayed });
            }
        };
        for answer in make_calls(calls, &record, &roles, caller, &replay).await {
            let (slot, model, answered) = answer?;
            observer.replied(planned, slot, model.name(), &answered.call.reply, answered.stored);
            replayed &= answered.stored;
            used.entry(slot.role.as_str().to_owned()).or_default().add(&answered.used());
            session
                .feed(slot, answered.call.reply)
                .map_err(|error| CallError::rejected(model.name(), &error))?;
            if let Some(turn) = session.asked_turn(slot.turn) {
                match slot.role {
                    Role::Asker => observer.asked(planned, slot.turn, turn),
                    _ if turn.solved.is_some() => observer.solved(planned, slot.turn, turn),
                    _ => {}
                }
            }
        }
    }
}

/// Makes calls of a record concurrently. All of them run to their end, so that no reply is lost when another call fails.
pub async fn make_calls<'s>(
    calls: Vec<Call>,
    record: &str,
    roles: &SessionRoles<'s>,
    caller: &Caller<'_>,
    replay: &Replay,
) -> Vec<Result<(Slot, &'s Model, CallReply), CallError>> {
    let one = async |call: Call| {
        let (slot, (model, role)) = (call.slot, roles.role(call.slot.role)?);
        Ok((slot, model, caller.call(record, call, (model, role), replay).await?))
    };
    join_all(calls.into_iter().map(one)).await
}

/// The models of the roles in a session.
pub struct SessionRoles<'s> {
    /// Model 1 and Model 2.
    pub solvers: &'s [String; 2],
    /// The sampling of each role.
    pub settings: &'s Settings,
    /// The models.
    pub models: &'s ModelRegistry,
}

impl<'s> SessionRoles<'s> {
    fn role(&self, role: Role) -> Result<(&'s Model, &'s RoleSettings), CallError> {
        let settings = self.settings;
        let role = match role {
            Role::Asker => &settings.asker,
            Role::Solver(side) => {
                let name = &self.solvers[side.index()];
                let solver = settings.solvers.iter().find(|solver| solver.model == *name);
                let message = "not a boundary solver of this run";
                solver.ok_or_else(|| ModelError::new(name, ErrorCause::NotFound, message, 0))?
            }
            Role::Check | Role::Panel | Role::Equivalence => &settings.check,
        };
        Ok((self.models.find(&role.model)?, role))
    }
}
