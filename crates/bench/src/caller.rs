//! Calls models: a stored reply is replayed, a new one is stored before it is used.

use crate::budget::{Budget, BudgetLimit};
use aske_chat::{Hint, Reply};
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
    pub(crate) store: &'r CallStore,
    pub(crate) seed: Seed,
    pub(crate) halt: &'r Halt,
    pub(crate) budget: Budget,
    pub(crate) budget_limit: OnceLock<BudgetLimit>,
}

/// A reply to a call.
pub struct CallReply {
    /// The reply.
    pub reply: Reply,
    /// Tokens and cost.
    pub used: RoleUsage,
    /// Whether it was stored by an earlier start.
    pub stored: bool,
}

impl<'r> Caller<'r> {
    /// A caller with this store and seed; `halt` stops it.
    pub fn new(store: &'r CallStore, seed: Seed, halt: &'r Halt, budget: Budget) -> Self {
        Self { store, seed, halt, budget, budget_limit: OnceLock::new() }
    }

    /// The replies of a record that were stored by an earlier start.
    pub fn earlier_replies(&self, record: &str) -> Result<Replay, RunError> {
        self.store.earlier_replies(record)
    }

    /// The reply to a call of a record: from `replay` if stored, else from the model.
    pub async fn call(
        &self,
        record: &str,
        call: Call,
        (model, role): (&Model, &RoleSettings),
        replay: &Replay,
    ) -> Result<CallReply, CallError> {
        let Call { slot, messages, max_tokens } = call;
        let seed = self.seed.of_call(record, slot);
        let request = Request { messages, max_tokens, sampling: role.sampling.clone(), seed, client: None };
        let hash = request.hash(model.name()).0;
        let key = CallKey { record: record.to_owned(), slot };
        if let Some(stored) = replay.get(&slot) {
            if stored.request != hash {
                return Err(self.store.other_request(&key).into());
            }
            debug!(
                model = model.name(),
                session = record,
                turn = slot.turn,
                role = slot.role.as_str(),
                "replayed a stored reply"
            );
            let used = RoleUsage { calls: 1, usage: stored.reply.usage, usd: stored.cost };
            return Ok(CallReply { reply: stored.reply.clone(), used, stored: true });
        }
        self.check_budget();
        let span = debug_span!(
            "call",
            session = record,
            turn = slot.turn,
            role = slot.role.as_str(),
            draw = slot.draw
        );
        let completion = model.complete(&request, self.halt).instrument(span).await.map_err(|error| {
            match error.cause {
                ErrorCause::Halted => CallError::Halted,
                _ => CallError::Model(error),
            }
        })?;
        let Completion { reply, latency, attempts, cost } = completion;
        self.budget.add(&reply.usage, cost);
        let name = model.name().to_owned();
        let stored = StoredCall { model: name, request: hash, reply: reply.clone(), latency, attempts, cost };
        self.store.put(key, stored).await?;
        let used = RoleUsage { calls: 1, usage: reply.usage, usd: cost };
        Ok(CallReply { reply, used, stored: false })
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
