//! An episode against its models: what the trainer brought is stored, then everyone else answers.

use crate::environment::Environment;
use crate::episode::{Next, Post, Wanted};
use crate::problem::Problem;
use crate::table::Seat;
use aske_bench::{CallError, CallReply, Caller, Replay, SessionRoles, make_calls};
use aske_chat::Reply;
use aske_config::RoleSettings;
use aske_model::{Limits, Model, Provider, ProviderError, Request};
use aske_record::{GradeLine, Record, RoleUsage, SCHEMA, SessionRecord};
use aske_session::{Call, Grade, Need, Role, Seed, Session, Slot};
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;

/// Takes a post and answers it; on trouble the session stands as before, and the same post may come again.
pub(crate) async fn post(environment: &Environment, seat: &Seat, post: Post) -> Result<Next, Problem> {
    let mut episode = seat.episode.lock().await;
    if let Some(answer) = episode.offer(post)? {
        return Ok(answer);
    }
    let record = seat.planned.id.to_string();
    let replay = environment.folder.calls().of_record(&record).map_err(CallError::from)?;
    let play = Play { environment, seat, record, replay, caller: environment.caller(seat.seed) };
    let (mut session, mut used) = episode.state();
    for (call, reply) in episode.brought() {
        let slot = call.slot;
        let answer = play.bring(call, reply).await?;
        take(&mut session, &mut used, slot, answer);
    }
    while let Wanted::Calls(wanted) = episode.wanted(&session) {
        let cast = SessionRoles {
            solvers: &seat.planned.solvers,
            settings: &environment.settings,
            models: &environment.fleet,
        };
        for answer in make_calls(wanted, &play.record, &cast, &play.caller, &play.replay).await {
            let (slot, _, answer) = answer?;
            take(&mut session, &mut used, slot, answer);
        }
    }
    let grade = play.grade(&session, &used).await?;
    Ok(episode.answered(session, used, grade))
}

/// What one step works with.
struct Play<'e> {
    environment: &'e Environment,
    seat: &'e Seat,
    record: String,
    /// What an earlier try at this step has stored, and all before it.
    replay: Replay,
    caller: Caller<'e>,
}

impl Play<'_> {
    /// Stores a reply of the trainer like that of any model.
    async fn bring(&self, call: Call, reply: Reply) -> Result<CallReply, CallError> {
        let role = self.role(call.slot.role);
        let model = Model::new(&role.model, Box::new(Brought(reply)), Limits::default(), None);
        self.caller.call(&self.record, call, (&model, role), &self.replay).await
    }

    fn role(&self, role: Role) -> &RoleSettings {
        let settings = &self.environment.settings;
        if role == Role::Asker { &settings.asker } else { &settings.check }
    }

    /// Grades a session that is over, and writes it down.
    async fn grade(
        &self,
        session: &Session,
        used: &BTreeMap<String, RoleUsage>,
    ) -> Result<Option<Grade>, CallError> {
        let Need::Done(transcript) = session.need() else { return Ok(None) };
        let Environment { settings, folder, grader, .. } = self.environment;
        // Verdicts are shared by all sessions, so their seed is the run's.
        let grade = grader.grade(transcript, &self.environment.caller(Seed(settings.run.seed))).await?;
        let id = &self.seat.planned.id;
        folder.add_record(&Record::Session(SessionRecord {
            schema: SCHEMA,
            pair: id.pair.clone(),
            sample: id.sample,
            asker: settings.asker.model.clone(),
            solvers: self.seat.planned.solvers.clone(),
            transcript: transcript.clone(),
            used: used.clone(),
        }))?;
        let record = self.record.clone();
        let checker = grader.rule();
        folder.add_grade(&GradeLine {
            schema: SCHEMA,
            record,
            grade: grade.clone(),
            check: None,
            checker,
        })?;
        Ok(Some(grade))
    }
}

fn take(session: &mut Session, used: &mut BTreeMap<String, RoleUsage>, slot: Slot, answer: CallReply) {
    used.entry(slot.role.as_str().to_owned()).or_default().add(&answer.used);
    // The machine asked for this slot a moment ago.
    let _ = session.feed(slot, answer.reply);
}

/// A model that says what the trainer has brought.
struct Brought(Reply);

impl Provider for Brought {
    fn attempt<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok("a trainer".to_owned())))
    }
}
