//! Budgets of a run: dollars, tokens and minutes.

use aske_chat::{Usage, Usd};
use aske_config::RunSection;
use aske_record::{CallStore, RunError};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a run has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spending {
    /// Calls of this process.
    pub calls: u64,
    /// Tokens, including earlier starts.
    pub tokens: u64,
    /// Dollars, including earlier starts.
    pub usd: Usd,
}

/// The budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BudgetLimit {
    /// Dollars.
    Usd(f64),
    /// Tokens.
    Tokens(u64),
    /// Minutes.
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

/// Counts usage against the budgets. Clones share the count.
#[derive(Clone)]
pub struct Budget {
    spent: Arc<Mutex<Spending>>,
    max_usd: Option<f64>,
    max_tokens: Option<u64>,
    minutes: Option<(Instant, f64)>,
}

impl Budget {
    /// The budget of a run; stored calls of earlier starts count.
    pub fn new(run: &RunSection, store: &CallStore) -> Result<Self, RunError> {
        let before = store.used()?;
        let spent = Spending {
            calls: 0,
            tokens: before.values().map(|used| used.usage.total()).sum(),
            usd: before.values().fold(Usd::default(), |sum, used| sum + used.usd),
        };
        Ok(Self::after(run, spent))
    }

    /// The budget of work that is not stored.
    pub fn unstored(run: &RunSection) -> Self {
        Self::after(run, Spending::default())
    }

    fn after(run: &RunSection, spent: Spending) -> Self {
        Self {
            spent: Arc::new(Mutex::new(spent)),
            max_usd: run.budget_usd,
            max_tokens: run.budget_tokens,
            // A duration beyond the clock's range is unlimited.
            minutes: run.budget_minutes.and_then(|minutes| {
                let allowed = Duration::try_from_secs_f64(minutes * 60.0).ok()?;
                Some((Instant::now().checked_add(allowed)?, minutes))
            }),
        }
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

    /// The end of the time budget, if there is one.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.minutes.map(|(end, _)| end)
    }

    /// The budget that is used up, if any.
    pub fn exhausted(&self) -> Option<BudgetLimit> {
        let spent = self.spent();
        let usd = self.max_usd.filter(|budget| spent.usd.0 >= *budget).map(BudgetLimit::Usd);
        let tokens = self.max_tokens.filter(|budget| spent.tokens >= *budget).map(BudgetLimit::Tokens);
        let minutes =
            self.minutes.filter(|(end, _)| Instant::now() >= *end).map(|(_, m)| BudgetLimit::Minutes(m));
        usd.or(tokens).or(minutes)
    }
}
