//! What a run may spend, and what it has spent.

use aske_chat::{Usage, Usd};
use aske_config::RunSection;
use aske_record::{CallStore, RunError};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Tokens and dollars of a run so far, and its calls since the start of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spending {
    /// Calls since the start.
    pub calls: u64,
    /// Tokens, earlier starts included.
    pub tokens: u64,
    /// Dollars, earlier starts included.
    pub usd: Usd,
}

/// A budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BudgetLimit {
    /// Of dollars.
    Usd(f64),
    /// Of tokens.
    Tokens(u64),
    /// Of minutes.
    Minutes(f64),
}

impl fmt::Display for BudgetLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usd(usd) => write!(f, "the budget of ${usd} is spent"),
            Self::Tokens(tokens) => write!(f, "the budget of {tokens} tokens is used"),
            Self::Minutes(minutes) => write!(f, "the {minutes} minutes are over"),
        }
    }
}

/// Counts, and says when a budget is reached. A clone counts into the same budget.
#[derive(Clone)]
pub struct Budget {
    spent: Arc<Mutex<Spending>>,
    budget_usd: Option<f64>,
    budget_tokens: Option<u64>,
    minutes: Option<(Instant, f64)>,
}

impl Budget {
    /// A budget for the calls of this store, those of earlier starts counted.
    pub fn new(run: &RunSection, store: &CallStore) -> Result<Self, RunError> {
        let before = store.used()?;
        let spent = Spending {
            calls: 0,
            tokens: before.values().map(|used| used.usage.total()).sum(),
            usd: before.values().fold(Usd::default(), |sum, used| sum + used.usd),
        };
        Ok(Self {
            spent: Arc::new(Mutex::new(spent)),
            budget_usd: run.budget_usd,
            budget_tokens: run.budget_tokens,
            // A time that no clock can reach is no budget.
            minutes: run.budget_minutes.and_then(|minutes| {
                let allowed = Duration::try_from_secs_f64(minutes * 60.0).ok()?;
                Some((Instant::now().checked_add(allowed)?, minutes))
            }),
        })
    }

    pub(crate) fn add(&self, usage: &Usage, cost: Usd) {
        let mut spent = self.spent.lock();
        spent.calls += 1;
        spent.tokens += usage.total();
        spent.usd += cost;
    }

    pub(crate) fn spent(&self) -> Spending {
        *self.spent.lock()
    }

    /// When the time is over, if there is a budget of it.
    pub(crate) fn end(&self) -> Option<Instant> {
        self.minutes.map(|(end, _)| end)
    }

    /// The budget that is used up, if one is.
    pub(crate) fn exhausted(&self) -> Option<BudgetLimit> {
        let spent = self.spent();
        let usd = self.budget_usd.filter(|budget| spent.usd.0 >= *budget).map(BudgetLimit::Usd);
        let tokens = self.budget_tokens.filter(|budget| spent.tokens >= *budget).map(BudgetLimit::Tokens);
        let minutes =
            self.minutes.filter(|(end, _)| Instant::now() >= *end).map(|(_, m)| BudgetLimit::Minutes(m));
        usd.or(tokens).or(minutes)
    }
}
