//! One session against its models, from the first turn to the record.

use crate::caller::{CallReply, Replay};
use crate::{CallError, Caller, ModelRegistry, Observer, PlannedSession};
use aske_config::{RoleSettings, Settings};
use aske_model::{ErrorCause, Model, ModelError};
use aske_record::{RoleUsage, SCHEMA, SessionRecord};
use aske_session::{Call, Need, Role, Session, Slot};
use futures_util::future::join_all;
use std::collections::BTreeMap;

/// A session that was driven to its end.
pub struct FinishedSession {
    /// Its record.
    pub record: SessionRecord,
    /// Every reply was stored before.
    pub replayed: bool,
}

/// Drives a session to its end. What is stored is replayed; every new reply is stored before it is used.
pub async fn run_session(
    planned: &PlannedSession,
    settings: &Settings,
    models: &ModelRegistry,
    caller: &Caller<'_>,
    observer: &dyn Observer,
) -> Result<FinishedSession, CallError> {
    let record = planned.id.to_string();
    let replay = caller.store.earlier_replies(&record)?;
    let cast = SessionRoles { solvers: &planned.solvers, settings, models };
    let mut session = Session::new(settings.protocol.clone(), settings.pack.clone(), settings.domain);
    let mut used: BTreeMap<String, RoleUsage> = BTreeMap::new();
    let mut replayed = true;
    loop {
        let calls = match session.need() {
            Need::Calls(calls) => calls,
            Need::Done(transcript) => {
                let transcript = transcript.clone();
                let record = SessionRecord {
                    schema: SCHEMA,
                    pair: planned.id.pair.clone(),
                    sample: planned.id.sample,
                    asker: settings.asker.model.clone(),
                    solvers: planned.solvers.clone(),
                    transcript,
                    used,
                };
                return Ok(FinishedSession { record, replayed });
            }
        };
        for answer in make_calls(calls, &record, &cast, caller, &replay).await {
            let (slot, model, CallReply { reply, used: more, stored }) = answer?;
            observer.replied(planned, slot, model.name(), &reply, stored);
            replayed &= stored;
            used.entry(slot.role.as_str().to_owned()).or_default().add(&more);
            // The machine asked for this slot a moment ago.
            let _ = session.feed(slot, reply);
            if let Some(turn) = session.last_turn() {
                match slot.role {
                    Role::Asker => observer.asked(planned, slot.turn, turn),
                    _ if turn.solved.is_some() => observer.solved(planned, slot.turn, turn),
                    _ => {}
                }
            }
        }
    }
}

/// Makes these calls of a record at once. All of them run to their end, so that no reply is lost because another call
/// failed.
pub async fn make_calls<'s>(
    calls: Vec<Call>,
    record: &str,
    cast: &SessionRoles<'s>,
    caller: &Caller<'_>,
    replay: &Replay,
) -> Vec<Result<(Slot, &'s Model, CallReply), CallError>> {
    let one = async |call: Call| {
        let (slot, (model, role)) = (call.slot, cast.role(call.slot.role)?);
        Ok((slot, model, caller.call(record, call, (model, role), replay).await?))
    };
    join_all(calls.into_iter().map(one)).await
}

/// Who plays which role in a session.
pub struct SessionRoles<'s> {
    /// Model 1 and Model 2.
    pub solvers: &'s [String; 2],
    /// How each role samples.
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
                settings.solvers.iter().find(|solver| solver.model == *name).ok_or_else(|| unknown(name))?
            }
            Role::Check | Role::Panel | Role::Equivalence => &settings.check,
        };
        let model = self.models.get(&role.model).ok_or_else(|| unknown(&role.model))?;
        Ok((model.as_ref(), role))
    }
}

fn unknown(name: &str) -> ModelError {
    let message = "the model is not configured".to_owned();
    ModelError { model: name.to_owned(), cause: ErrorCause::NotFound, message, attempts: 0 }
}
