//! Runs one session. The replies of every role come from a model of the environment, or from the trainer.

use crate::data::{CallData, Rollout, TurnData, rewarded, symbolic};
use crate::environment::Inner;
use crate::folder::Claim;
use crate::sampling::AskerSampling;
use aske_bench::{CallError, CallReply, Replay};
use aske_config::RoleSettings;
use aske_model::{Completion, Model};
use aske_record::{GradeLine, Record, RoleUsage, SessionId, SessionRecord, StoredCall};
use aske_session::{Call, GradingRules, Need, Role, Seed, Session, Side, Slot};
use futures_util::FutureExt;
use futures_util::future::{join_all, try_join_all};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The models that reply in a session; the trainer replies for a role without one.
pub(crate) struct Players {
    pub(crate) asker: Option<Arc<Model>>,
    pub(crate) solvers: [Arc<Model>; 2],
    pub(crate) check: Option<Arc<Model>>,
}

/// One session of an environment.
pub(crate) struct Episode {
    pub(crate) inner: Arc<Inner>,
    pub(crate) id: SessionId,
    name: String,
    pub(crate) solvers: [String; 2],
    players: Players,
    /// The asker with the sampling of this session.
    asker: RoleSettings,
    sampling: AskerSampling,
    state: Mutex<State>,
    /// The session is claimed in the run folder until its result is there.
    claim: Mutex<Option<Claim>>,
}

struct State {
    session: Session,
    calls: BTreeMap<Slot, StoredCall>,
    /// Whether a reply is new, and not one of an earlier start.
    fresh: bool,
    asker_s: f64,
    solvers_s: f64,
}

impl Episode {
    pub(crate) fn new(
        inner: Arc<Inner>,
        id: SessionId,
        players: Players,
        sampling: AskerSampling,
        claim: Option<Claim>,
    ) -> Self {
        let settings = &inner.settings;
        let protocol = sampling.limit(&settings.protocol);
        let session = Session::new(protocol, settings.pack.clone(), settings.domain);
        let state = State { session, calls: BTreeMap::new(), fresh: false, asker_s: 0.0, solvers_s: 0.0 };
        let asker = RoleSettings {
            model: settings.asker.model.clone(),
            sampling: sampling.sampling.over(&settings.asker.sampling),
        };
        let (name, solvers) = (id.to_string(), id.solvers(Seed(settings.run.seed)));
        Self {
            inner,
            id,
            name,
            solvers,
            players,
            asker,
            sampling,
            state: Mutex::new(state),
            claim: Mutex::new(claim),
        }
    }

    /// The open calls; none when the session is done.
    fn open_calls(&self) -> Vec<Call> {
        match self.state.lock().session.need() {
            Need::Calls(calls) => calls,
            Need::Done(_) => Vec::new(),
        }
    }

    /// The model and the settings of a role.
    fn role(&self, role: Role) -> (Option<&Model>, &RoleSettings) {
        let settings = &self.inner.settings;
        match role {
            Role::Asker => (self.players.asker.as_deref(), &self.asker),
            Role::Solver(side) => {
                let model = &self.players.solvers[side.index()];
                let role = settings.solvers.iter().find(|solver| solver.model == model.name());
                (Some(model), role.unwrap_or(&settings.check))
            }
            _ => (self.players.check.as_deref(), &settings.check),
        }
    }

    /// The calls that the trainer makes, once no other is open.
    pub(crate) fn trainer_calls(&self) -> Vec<Call> {
        let calls = self.open_calls();
        let own = |call: &Call| self.role(call.slot.role).0.is_none();
        if calls.iter().all(own) { calls } else { Vec::new() }
    }

    /// The content of the asker's latest reply.
    pub(crate) fn last_reply(&self) -> Option<String> {
        let state = self.state.lock();
        let mut calls = state.calls.iter().rev();
        calls.find(|(slot, _)| slot.role == Role::Asker).map(|(_, call)| call.reply.content.clone())
    }

    fn replay(&self) -> Result<Replay, CallError> {
        let folder = self.inner.folder.as_ref();
        Ok(folder.map_or_else(|| Ok(Replay::new()), |folder| folder.replies(&self.name))?)
    }

    fn feed(&self, slot: Slot, answered: CallReply) -> Result<(), CallError> {
        let mut state = self.state.lock();
        let CallReply { call, stored } = answered;
        state
            .session
            .feed(slot, call.reply.clone())
            .map_err(|error| CallError::rejected(&call.model, &error))?;
        state.fresh |= !stored;
        state.calls.insert(slot, call);
        Ok(())
    }

    /// Takes over what an earlier start has stored; makes no call.
    pub(crate) fn resume(&self) -> Result<(), CallError> {
        let replay = self.replay()?;
        loop {
            let stored = |call: &Call| replay.contains_key(&call.slot);
            let calls: Vec<Call> = self.open_calls().into_iter().filter(stored).collect();
            if calls.is_empty() {
                return Ok(());
            }
            for call in calls {
                self.give(call, None, &replay).now_or_never().unwrap_or(Err(CallError::Halted))?;
            }
        }
    }

    /// Feeds a reply of the trainer, or the stored one.
    async fn give(&self, call: Call, given: Option<Completion>, replay: &Replay) -> Result<(), CallError> {
        let slot = call.slot;
        let (model, role) = self.role(slot.role);
        let name = model.map_or(role.model.as_str(), Model::name);
        let given = given.or_else(|| replay.get(&slot).map(completion));
        let Some(given) = given else { return Ok(()) };
        let answered = self.inner.caller().give(&self.name, call, (name, role), replay, given).await?;
        self.feed(slot, answered)
    }

    /// Feeds the trainer's replies to its open calls.
    pub(crate) async fn answer(&self, replies: Vec<Completion>) -> Result<(), CallError> {
        let replay = self.replay()?;
        for (call, reply) in self.trainer_calls().into_iter().zip(replies) {
            self.give(call, Some(reply), &replay).await?;
        }
        Ok(())
    }

    /// Makes all calls up to the next one of the trainer, or to the end. Replies stay if this fails or is cancelled; with
    /// `finish_calls` calls in flight end before it fails.
    pub(crate) async fn advance(&self, finish_calls: bool) -> Result<(), CallError> {
        let (caller, replay) = (self.inner.caller(), self.replay()?);
        let make = async |call: Call| {
            let slot = call.slot;
            let (Some(model), role) = self.role(slot.role) else { return Ok(()) };
            let answered = caller.call(&self.name, call, (model, role), &replay).await?;
            self.feed(slot, answered)
        };
        loop {
            let own = |call: &Call| self.role(call.slot.role).0.is_some();
            let calls: Vec<Call> = self.open_calls().into_iter().filter(own).collect();
            let Some(first) = calls.first() else { return Ok(()) };
            let (start, is_asker) = (Instant::now(), first.slot.role == Role::Asker);
            let answers = calls.into_iter().map(&make);
            let result = if finish_calls {
                join_all(answers).await.into_iter().collect::<Result<Vec<()>, _>>()
            } else {
                try_join_all(answers).await
            };
            let mut state = self.state.lock();
            let state = &mut *state;
            *(if is_asker { &mut state.asker_s } else { &mut state.solvers_s }) +=
                start.elapsed().as_secs_f64();
            result?;
        }
    }

    /// The result of a finished session, which is written to the run folder; none of an unfinished one.
    pub(crate) async fn finish(&self) -> Result<Option<Rollout>, CallError> {
        let question = {
            let state = self.state.lock();
            let Need::Done(transcript) = state.session.need() else { return Ok(None) };
            // The history has the questions of earlier starts already.
            transcript.answers().question.filter(|_| state.fresh).map(str::to_owned)
        };
        let (novelty, alpha) = match (question, &self.inner.history) {
            (Some(question), Some((history, alpha))) => {
                (history.novelty(&question, &self.inner.halt).await?, *alpha)
            }
            _ => (0.0, 0.0),
        };
        let rollout = self.result(novelty, alpha);
        if let (Some(rollout), Some(folder)) = (&rollout, &self.inner.folder) {
            folder.add(&rollout.record, &rollout.grade)?;
            self.claim.lock().take();
        }
        Ok(rollout)
    }

    /// The result of a finished session.
    pub(crate) fn result(&self, novelty: f64, alpha: f64) -> Option<Rollout> {
        let state = self.state.lock();
        let Need::Done(transcript) = state.session.need() else { return None };
        let domain = &self.inner.settings.domain;
        let grade = symbolic(transcript, domain);
        let graded = rewarded(transcript, &grade, novelty, alpha);
        let solved = |slot: Slot| state.calls.get(&slot).map(|call| CallData::solved(call, domain));
        let turns = (1..).zip(&transcript.turns).map(|(turn, asked)| TurnData {
            turn,
            question: asked.question.clone(),
            reply: state.calls.get(&Slot::first(turn, Role::Asker)).map(|call| CallData::new(call, None)),
            solvers: Side::BOTH
                .iter()
                .filter_map(|side| solved(Slot::first(turn, Role::Solver(*side))))
                .collect(),
        });
        let last = u32::try_from(transcript.turns.len()).unwrap_or(u32::MAX);
        let check = (0..).map_while(|draw| solved(Slot { turn: last, role: Role::Check, draw }));
        let mut used: BTreeMap<String, RoleUsage> = BTreeMap::new();
        for (slot, call) in &state.calls {
            let more = RoleUsage { calls: 1, usage: call.reply.usage, usd: call.cost };
            used.entry(slot.role.as_str().to_owned()).or_default().add(&more);
        }
        let asker = self.inner.settings.asker.model.clone();
        let record =
            SessionRecord::new(self.id.clone(), asker, self.solvers.clone(), transcript.clone(), used);
        Some(Rollout {
            pair: self.id.pair.to_string(),
            sample: self.id.sample,
            reference: graded.reference(transcript),
            graded,
            messages: state.session.messages().to_vec(),
            turns: turns.collect(),
            check: check.collect(),
            sampling: self.sampling.over(&self.inner.settings.asker.sampling),
            record: Record::Session(record),
            grade: GradeLine::new(self.name.clone(), grade, GradingRules::current(domain, false)),
            asker_s: state.asker_s,
            solvers_s: state.solvers_s,
        })
    }

    /// Feeds replies without storing them; returns those that the session needed, under their place. `find` finds the
    /// reply to a call of a model with the hash of its request.
    pub(crate) fn play_back<E>(
        &self,
        find: impl Fn(Slot, &str, [u8; 16]) -> Result<Completion, E>,
    ) -> Result<Vec<(Slot, StoredCall)>, E> {
        loop {
            let calls = self.open_calls();
            if calls.is_empty() {
                return Ok(self.state.lock().calls.clone().into_iter().collect());
            }
            for call in calls {
                let slot = call.slot;
                let (model, role) = self.role(slot.role);
                let name = model.map_or(role.model.as_str(), Model::name).to_owned();
                let request = self.inner.caller().request(&self.name, call, role).hash(&name).0;
                let Completion { reply, latency, attempts, cost } = find(slot, &name, request)?;
                let call = StoredCall { model: name, request, reply, latency, attempts, cost };
                // The call is open, so it is accepted.
                let _ = self.feed(slot, CallReply { call, stored: true });
            }
        }
    }
}

fn completion(call: &StoredCall) -> Completion {
    let StoredCall { reply, latency, attempts, cost, .. } = call.clone();
    Completion { reply, latency, attempts, cost }
}
