//! [`RunContext`]: what all work on a run folder shares, and a loop that runs jobs concurrently within the budget.

use crate::budget::{Budget, BudgetLimit, Spending};
use crate::{CallError, Caller, Grader, ModelRegistry};
use aske_config::{RoleSettings, Settings};
use aske_model::{Halt, Model, ModelError};
use aske_record::{RunDir, RunError};
use aske_session::Seed;
use futures_util::stream::{self, StreamExt};
use parking_lot::Mutex;
use std::collections::HashSet;
use tracing::warn;

/// A record that failed; it stays open for the next start.
#[derive(Clone, Debug)]
pub struct RunFailure {
    /// Its name.
    pub record: String,
    /// The error.
    pub failure: ModelError,
}

/// The result of running jobs.
#[derive(Debug, Default)]
pub struct JobSummary {
    /// Records that failed by infrastructure.
    pub failures: Vec<RunFailure>,
    /// Records that are not finished.
    pub open: usize,
    /// The budget that stopped the work.
    pub budget_limit: Option<BudgetLimit>,
}

/// Settings, models, folder, caller and grader of a run.
pub struct RunContext<'r> {
    pub(crate) settings: &'r Settings,
    pub(crate) models: &'r ModelRegistry,
    /// The run folder.
    pub folder: &'r RunDir,
    /// Calls the models.
    pub caller: Caller<'r>,
    pub(crate) grader: Grader,
}

impl<'r> RunContext<'r> {
    /// The context of a folder; `halt` stops its work early.
    pub fn new(
        settings: &'r Settings,
        models: &'r ModelRegistry,
        folder: &'r RunDir,
        halt: &'r Halt,
    ) -> Result<Self, RunError> {
        let budget = Budget::new(&settings.run, folder.calls())?;
        let caller = Caller::new(folder.calls(), Seed(settings.run.seed), halt, budget);
        Ok(Self { settings, models, folder, caller, grader: Grader::new(settings, models) })
    }

    /// What was used so far.
    pub fn spent(&self) -> Spending {
        self.caller.budget.spent()
    }

    /// The models that may be called.
    pub fn models(&self) -> &'r ModelRegistry {
        self.models
    }

    /// The model of a role.
    pub fn model(&self, role: &RoleSettings) -> Result<&Model, CallError> {
        self.models.find(&role.model)
    }

    /// Runs all jobs, as many at once as the settings allow. Returns early only when the folder fails.
    pub async fn run_all<J>(
        &self,
        jobs: &[J],
        name: impl Fn(&J) -> String,
        work: impl AsyncFn(&J) -> Result<(), CallError>,
        failed: impl Fn(&RunFailure),
    ) -> Result<JobSummary, RunError> {
        let failures: Mutex<Vec<RunFailure>> = Mutex::default();
        let one = async |job: &J| match work(job).await {
            Ok(()) => Ok(true),
            Err(CallError::Halted) => Ok(false),
            Err(CallError::Folder(error)) => Err(error),
            Err(CallError::Model(failure)) => {
                warn!(
                    session = name(job),
                    model = failure.model,
                    cause = failure.cause.as_str(),
                    "session failed"
                );
                // Every other record would fail the same way, after paying for the calls before.
                if failure.cause.is_lasting() {
                    self.caller.halt.trigger();
                }
                let failure = RunFailure { record: name(job), failure };
                failed(&failure);
                failures.lock().push(failure);
                Ok(false)
            }
        };
        let mut done = 0;
        {
            let mut running = stream::iter(jobs)
                .take_while(|_| std::future::ready(!self.caller.halt.is_triggered()))
                .map(one)
                .buffer_unordered(self.settings.run.concurrency);
            let working = async {
                while let Some(finished) = running.next().await {
                    done += usize::from(finished?);
                }
                Ok::<_, RunError>(())
            };
            tokio::select! {
                worked = working => worked?,
                never = self.halt_at_deadline() => match never {},
            }
        }
        let failures = std::mem::take(&mut *failures.lock());
        let budget_limit = self.caller.budget_limit.get().copied();
        Ok(JobSummary { failures, open: jobs.len() - done, budget_limit })
    }

    /// Halts the work at the end of the time budget, even while all calls hang.
    async fn halt_at_deadline(&self) -> std::convert::Infallible {
        if let Some(end) = self.caller.budget.deadline() {
            tokio::time::sleep_until(end.into()).await;
            self.caller.check_budget();
        }
        std::future::pending().await
    }
}

impl JobSummary {
    /// Failures by model and cause with the number of records, most frequent first.
    pub fn causes(&self) -> Vec<(&ModelError, usize)> {
        let mut seen = HashSet::new();
        let key = |failure: &ModelError| (failure.model.clone(), failure.cause);
        let mut causes: Vec<_> = self
            .failures
            .iter()
            .map(|failed| &failed.failure)
            .filter(|failure| seen.insert(key(failure)))
            .map(|failure| {
                let same = self.failures.iter().filter(|other| key(&other.failure) == key(failure));
                (failure, same.count())
            })
            .collect();
        causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        causes
    }
}
