//! One call: replayed if it is stored, else made and stored before anything goes on.

use crate::budget::{Budget, BudgetLimit};
use aske_chat::{Hint, Reply};
use aske_config::RoleSettings;
use aske_model::{Completion, ErrorCause, Halt, Model, ModelError, Request};
use aske_record::{CallKey, CallStore, RoleUsage, RunError, StoredCall};
use aske_session::{Call, Seed, Slot};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Why a session could not go on. Never a score.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The run is ending; this part comes next time.
    #[error("halted")]
    Halted,
    /// A model gave no reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The run folder could not be read or written.
    #[error(transparent)]
    Folder(#[from] RunError),
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

/// Replies that are stored, by their place in a record.
pub type Replay = HashMap<Slot, StoredCall>;

/// Makes the calls of a run.
pub struct Caller<'r> {
    pub(crate) store: &'r CallStore,
    pub(crate) seed: Seed,
    pub(crate) halt: &'r Halt,
    pub(crate) budget: Budget,
    pub(crate) budget_limit: OnceLock<BudgetLimit>,
}

/// A reply, and whether it was stored before.
pub struct CallReply {
    /// The reply.
    pub reply: Reply,
    /// What it took.
    pub used: RoleUsage,
    /// It was stored before.
    pub stored: bool,
}

impl<'r> Caller<'r> {
    /// A caller that stores into this store and draws by this seed; `halt` ends its calls.
    pub fn new(store: &'r CallStore, seed: Seed, halt: &'r Halt, budget: Budget) -> Self {
        Self { store, seed, halt, budget, budget_limit: OnceLock::new() }
    }

    /// The replies of a record that an earlier start has stored.
    pub fn earlier_replies(&self, record: &str) -> Result<Replay, RunError> {
        self.store.earlier_replies(record)
    }

    /// The reply to a call of a record, from `replay` where it is there.
    pub async fn call(
        &self,
        record: &str,
        call: Call,
        (model, role): (&Model, &RoleSettings),
        replay: &Replay,
    ) -> Result<CallReply, CallError> {
        let Call { slot, messages, max_tokens } = call;
        let seed = self.seed.of_call(record, slot);
        let request = Request { messages, max_tokens, sampling: role.sampling.clone(), seed, group: None };
        let hash = request.hash(model.name()).0;
        let key = CallKey { record: record.to_owned(), slot };
        if let Some(stored) = replay.get(&slot) {
            if stored.request != hash {
                return Err(self.store.other_request(&key).into());
            }
            let used = RoleUsage { calls: 1, usage: stored.reply.usage, usd: stored.cost };
            return Ok(CallReply { reply: stored.reply.clone(), used, stored: true });
        }
        self.check_budget();
        let completion =
            model.complete(&request, self.halt).await.map_err(|failure| match failure.cause {
                ErrorCause::Halted => CallError::Halted,
                _ => CallError::Model(failure),
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
            self.budget_limit.get_or_init(|| limit);
            self.halt.trigger();
        }
    }
}
