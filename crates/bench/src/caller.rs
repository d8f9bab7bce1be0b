//! Calls models: a stored reply is replayed, a new one is stored before it is used.

use crate::budget::{Budget, BudgetLimit};
use aske_chat::Hint;
use aske_config::RoleSettings;
use aske_model::{Completion, ErrorCause, Halt, Model, ModelError, Request};
use aske_record::{CallKey, CallStore, RoleUsage, RunError, StoredCall};
use aske_session::{Call, FeedError, Seed, Slot};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;
use tracing::{Instrument, debug, debug_span, info};

/// Why a session could not continue. Never a score.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The run is ending; the session continues at the next start.
    #[error("halted")]
    Halted,
    /// A model did not reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The run folder could not be read or written.
    #[error(transparent)]
    Folder(#[from] RunError),
}

impl CallError {
    /// The failure of a session that rejected the reply of this model.
    pub fn rejected(model: &str, error: &FeedError) -> Self {
        ModelError::new(model, ErrorCause::Malformed, error.to_string(), 1).into()
    }
}

impl Hint for CallError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Halted => None,
            Self::Model(error) => Hint::hint(error),
            Self::Folder(error) => Hint::hint(error),
        }
    }
}

/// Stored replies of a record.
pub type Replay = HashMap<Slot, StoredCall>;

/// Calls the models of a run.
pub struct Caller<'r> {
    /// None where replies are not stored.
    store: Option<&'r CallStore>,
    pub(crate) seed: Seed,
    pub(crate) halt: &'r Halt,
    pub(crate) budget: Budget,
    pub(crate) budget_limit: OnceLock<BudgetLimit>,
}

/// A reply to a call.
pub struct CallReply {
    /// The reply as it is stored.
    pub call: StoredCall,
    /// Whether it was stored by an earlier start.
    pub stored: bool,
}

impl CallReply {
    /// Tokens and cost.
    pub fn used(&self) -> RoleUsage {
        RoleUsage { calls: 1, usage: self.call.reply.usage, usd: self.call.cost }
    }
}

impl<'r> Caller<'r> {
    /// A caller with this store and seed; `halt` stops it.
    pub fn new(store: &'r CallStore, seed: Seed, halt: &'r Halt, budget: Budget) -> Self {
        Self { store: Some(store), ..Self::unstored(seed, halt, budget) }
    }

    /// A caller that stores nothing.
    pub fn unstored(seed: Seed, halt: &'r Halt, budget: Budget) -> Self {
        Self { store: None, seed, halt, budget, budget_limit: OnceLock::new() }
    }

    /// The replies of a record that were stored by an earlier start.
    pub fn earlier_replies(&self, record: &str) -> Result<Replay, RunError> {
        self.store.map_or_else(|| Ok(Replay::new()), |store| store.earlier_replies(record))
    }

    /// The replies of a record that are stored by now.
    pub(crate) fn stored_replies(&self, record: &str) -> Result<Replay, RunError> {
        self.store.map_or_else(|| Ok(Replay::new()), |store| store.of_record(record))
    }

    /// The request of a call of a record.
    pub fn request(&self, record: &str, call: Call, role: &RoleSettings) -> Request {
        let Call { slot, messages, max_tokens } = call;
        let seed = self.seed.of_call(record, slot);
        Request { messages, max_tokens, sampling: role.sampling.clone(), seed, client: None }
    }

    /// The reply to a call of a record: from `replay` if stored, else from the model.
    pub async fn call(
        &self,
        record: &str,
        call: Call,
        (model, role): (&Model, &RoleSettings),
        replay: &Replay,
    ) -> Result<CallReply, CallError> {
        let Slot { turn, role: asked, draw } = call.slot;
        let complete = async |request: &Request| {
            self.check_budget();
            let span = debug_span!("call", session = record, turn, role = asked.as_str(), draw);
            let completion = model.complete(request, self.halt).instrument(span).await;
            let completion = completion.map_err(|error| match error.cause {
                ErrorCause::Halted => CallError::Halted,
                _ => CallError::Model(error),
            })?;
            self.budget.add(&completion.reply.usage, completion.cost);
            Ok(completion)
        };
        self.call_with(record, call, (model.name(), role), replay, complete).await
    }

    /// Stores a reply that the caller has, like that of a model with this name; a reply that is stored already counts.
    pub async fn give(
        &self,
        record: &str,
        call: Call,
        (model, role): (&str, &RoleSettings),
        replay: &Replay,
        given: Completion,
    ) -> Result<CallReply, CallError> {
        self.call_with(record, call, (model, role), replay, async |_| Ok(given)).await
    }

    async fn call_with(
        &self,
        record: &str,
        call: Call,
        (model, role): (&str, &RoleSettings),
        replay: &Replay,
        complete: impl AsyncFnOnce(&Request) -> Result<Completion, CallError>,
    ) -> Result<CallReply, CallError> {
        let slot = call.slot;
        let request = self.request(record, call, role);
        let hash = request.hash(model).0;
        let key = CallKey { record: record.to_owned(), slot };
        if let Some(stored) = replay.get(&slot) {
            if let Some(store) = self.store.filter(|_| stored.request != hash) {
                return Err(store.other_request(&key).into());
            }
            debug!(
                model,
                session = record,
                turn = slot.turn,
                role = slot.role.as_str(),
                "replayed a stored reply"
            );
            return Ok(CallReply { call: stored.clone(), stored: true });
        }
        let Completion { reply, latency, attempts, cost } = complete(&request).await?;
        let call = StoredCall { model: model.to_owned(), request: hash, reply, latency, attempts, cost };
        if let Some(store) = self.store {
            store.put(key, call.clone()).await?;
        }
        Ok(CallReply { call, stored: false })
    }

    /// Halts the run when a budget is used up.
    pub(crate) fn check_budget(&self) {
        if let Some(limit) = self.budget.exhausted() {
            if self.budget_limit.set(limit).is_ok() {
                info!(budget = %limit, "halting: a budget is used up");
            }
            self.halt.trigger();
        }
    }
}
