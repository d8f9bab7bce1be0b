//! One session against its models, from the first turn to the record.

use crate::caller::{Answer, Replay};
use crate::{Caller, Fleet, Observer, Planned, Trouble};
use aske_config::{RoleSettings, Settings};
use aske_model::{Cause, Failure, Model};
use aske_record::{RoleUse, SCHEMA, SessionRecord};
use aske_session::{Call, Need, Role, Session, Slot};
use futures_util::future::join_all;
use std::collections::BTreeMap;

/// A session that was driven to its end.
pub struct Driven {
    /// Its record.
    pub record: SessionRecord,
    /// Every reply was stored before.
    pub replayed: bool,
}

/// Drives a session to its end. What is stored is replayed; every new reply is stored before it is used.
pub async fn drive(
    planned: &Planned,
    settings: &Settings,
    fleet: &Fleet,
    caller: &Caller<'_>,
    observer: &dyn Observer,
) -> Result<Driven, Trouble> {
    let record = planned.id.to_string();
    let replay = caller.store.from_before(&record)?;
    let cast = Cast { solvers: &planned.solvers, settings, fleet };
    let mut session = Session::new(settings.protocol.clone(), settings.pack.clone(), settings.domain);
    let mut used: BTreeMap<String, RoleUse> = BTreeMap::new();
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
                return Ok(Driven { record, replayed });
            }
        };
        for answer in self::calls(calls, &record, &cast, caller, &replay).await {
            let (slot, model, Answer { reply, used: more, stored }) = answer?;
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
pub async fn calls<'s>(
    calls: Vec<Call>,
    record: &str,
    cast: &Cast<'s>,
    caller: &Caller<'_>,
    replay: &Replay,
) -> Vec<Result<(Slot, &'s Model, Answer), Trouble>> {
    let one = async |call: Call| {
        let (slot, (model, role)) = (call.slot, cast.role(call.slot.role)?);
        Ok((slot, model, caller.call(record, call, (model, role), replay).await?))
    };
    join_all(calls.into_iter().map(one)).await
}

/// Who plays which role in a session.
pub struct Cast<'s> {
    /// Model 1 and Model 2.
    pub solvers: &'s [String; 2],
    /// How each role samples.
    pub settings: &'s Settings,
    /// The models.
    pub fleet: &'s Fleet,
}

impl<'s> Cast<'s> {
    fn role(&self, role: Role) -> Result<(&'s Model, &'s RoleSettings), Trouble> {
        let settings = self.settings;
        let role = match role {
            Role::Asker => &settings.asker,
            Role::Solver(side) => {
                let name = &self.solvers[side.index()];
                settings.solvers.iter().find(|solver| solver.model == *name).ok_or_else(|| unknown(name))?
            }
            Role::Check | Role::Panel | Role::Equivalence => &settings.check,
        };
        let model = self.fleet.get(&role.model).ok_or_else(|| unknown(&role.model))?;
        Ok((model.as_ref(), role))
    }
}

fn unknown(name: &str) -> Failure {
    let message = "the model is not configured".to_owned();
    Failure { model: name.to_owned(), cause: Cause::NotFound, message, attempts: 0 }
}
