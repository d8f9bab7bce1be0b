//! One session against its models, from the first turn to the record.

use crate::caller::Answer;
use crate::{Caller, Fleet, Observer, Planned, Trouble};
use aske_config::{RoleSettings, Settings};
use aske_model::{Cause, Failure, Model};
use aske_record::{RoleUse, SCHEMA, SessionRecord};
use aske_session::{Need, Role, Session};
use futures_util::future::join_all;
use std::collections::BTreeMap;

/// Drives a session to its end. What is stored is replayed; every new reply is stored before it is used.
pub async fn drive(
    planned: &Planned,
    settings: &Settings,
    fleet: &Fleet,
    caller: &Caller<'_>,
    observer: &dyn Observer,
) -> Result<SessionRecord, Trouble> {
    let record = planned.id.to_string();
    let replay = caller.store.from_before(&record)?;
    let cast = Cast::new(planned, settings, fleet)?;
    let mut session = Session::new(settings.protocol.clone(), settings.pack.clone(), settings.domain);
    let mut used: BTreeMap<String, RoleUse> = BTreeMap::new();
    loop {
        let calls = match session.need() {
            Need::Calls(calls) => calls,
            Need::Done(transcript) => {
                let transcript = transcript.clone();
                return Ok(SessionRecord {
                    schema: SCHEMA,
                    pair: planned.id.pair.clone(),
                    sample: planned.id.sample,
                    asker: settings.asker.model.clone(),
                    solvers: planned.solvers.clone(),
                    transcript,
                    used,
                });
            }
        };
        // All of them run to their end, so that no reply is lost because another call failed.
        let answers = join_all(calls.into_iter().map(|call| {
            let slot = call.slot;
            let (role, record, replay) = (cast.role(slot.role), &record, &replay);
            async move { (slot, caller.call(record, call, role, replay).await) }
        }));
        for (slot, answer) in answers.await {
            let Answer { reply, used: more, stored } = answer?;
            observer.replied(planned, slot, cast.role(slot.role).0.name(), &reply, stored);
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

/// Who plays which role in a session.
struct Cast<'s> {
    asker: (&'s Model, &'s RoleSettings),
    solvers: [(&'s Model, &'s RoleSettings); 2],
    check: (&'s Model, &'s RoleSettings),
}

impl<'s> Cast<'s> {
    fn new(planned: &Planned, settings: &'s Settings, fleet: &'s Fleet) -> Result<Self, Trouble> {
        let find = |role: &'s RoleSettings| match fleet.get(&role.model) {
            Some(model) => Ok((model.as_ref(), role)),
            None => Err(Trouble::Model(unknown(&role.model))),
        };
        let solver = |name: &str| {
            let role = settings.solvers.iter().find(|solver| solver.model == name);
            role.ok_or_else(|| Trouble::Model(unknown(name))).and_then(find)
        };
        let [one, two] = &planned.solvers;
        Ok(Self {
            asker: find(&settings.asker)?,
            solvers: [solver(one)?, solver(two)?],
            check: find(&settings.check)?,
        })
    }

    fn role(&self, role: Role) -> (&'s Model, &'s RoleSettings) {
        match role {
            Role::Asker => self.asker,
            Role::Solver(side) => self.solvers[side.index()],
            Role::Check | Role::Panel | Role::Equivalence => self.check,
        }
    }
}

fn unknown(name: &str) -> Failure {
    let message = "the model is not configured".to_owned();
    Failure { model: name.to_owned(), cause: Cause::NotFound, message, attempts: 0 }
}
