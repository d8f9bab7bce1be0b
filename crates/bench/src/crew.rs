//! Many pieces of work at once, on one folder, within one budget; what fails stays open for another time.

use crate::budget::{Purse, Reached, Spent};
use crate::caller::held;
use crate::{Caller, Fleet, Grader, Trouble};
use aske_config::{RoleSettings, Settings};
use aske_model::{Cause, Failure, Halt, Model};
use aske_record::{RunDir, RunError};
use aske_session::Seed;
use futures_util::stream::{self, StreamExt};
use std::collections::HashSet;
use std::sync::Mutex;

/// A record that was given up for now.
#[derive(Clone, Debug)]
pub struct RunFailure {
    /// Its name.
    pub record: String,
    /// Why.
    pub failure: Failure,
}

/// How the work ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// Records given up, by infrastructure.
    pub failures: Vec<RunFailure>,
    /// Records that are not finished.
    pub open: usize,
    /// The budget that ended the work.
    pub reached: Option<Reached>,
}

/// What all work on a run folder shares.
pub struct Crew<'r> {
    pub(crate) settings: &'r Settings,
    pub(crate) fleet: &'r Fleet,
    pub(crate) folder: &'r RunDir,
    pub(crate) caller: Caller<'r>,
    pub(crate) grader: Grader,
}

impl<'r> Crew<'r> {
    /// A crew for a folder; `halt` ends its work early.
    pub fn new(
        settings: &'r Settings,
        fleet: &'r Fleet,
        folder: &'r RunDir,
        halt: &'r Halt,
    ) -> Result<Self, RunError> {
        let purse = Purse::new(&settings.run, folder.calls())?;
        let caller = Caller::new(folder.calls(), Seed(settings.run.seed), halt, purse);
        Ok(Self { settings, fleet, folder, caller, grader: Grader::new(settings, fleet) })
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.caller.purse.spent()
    }

    /// The folder.
    pub fn folder(&self) -> &'r RunDir {
        self.folder
    }

    /// Makes the calls.
    pub fn caller(&self) -> &Caller<'r> {
        &self.caller
    }

    /// The model of a role.
    pub fn model(&self, role: &RoleSettings) -> Result<&Model, Trouble> {
        self.fleet.get(&role.model).map(AsRef::as_ref).ok_or_else(|| {
            let message = "the model is not configured".to_owned();
            Trouble::Model(Failure {
                model: role.model.clone(),
                cause: Cause::NotFound,
                message,
                attempts: 0,
            })
        })
    }

    /// Does every job, as many at once as the settings allow. Returns early only when the folder fails.
    pub async fn all<J>(
        &self,
        jobs: &[J],
        name: impl Fn(&J) -> String,
        work: impl AsyncFn(&J) -> Result<(), Trouble>,
        failed: impl Fn(&RunFailure),
    ) -> Result<Ended, RunError> {
        let failures: Mutex<Vec<RunFailure>> = Mutex::default();
        let one = async |job: &J| match work(job).await {
            Ok(()) => Ok(true),
            Err(Trouble::Halted) => Ok(false),
            Err(Trouble::Folder(error)) => Err(error),
            Err(Trouble::Model(failure)) => {
                // Every other record would meet the same wall, and pay for the way there.
                if failure.cause.is_lasting() {
                    self.caller.halt.call();
                }
                let failure = RunFailure { record: name(job), failure };
                failed(&failure);
                held(&failures).push(failure);
                Ok(false)
            }
        };
        let mut done = 0;
        {
            let mut running = stream::iter(jobs)
                .take_while(|_| std::future::ready(!self.caller.halt.is_called()))
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
                never = self.watch_the_clock() => match never {},
            }
        }
        let failures = std::mem::take(&mut *held(&failures));
        let reached = self.caller.reached.get().copied();
        Ok(Ended { failures, open: jobs.len() - done, reached })
    }

    /// Halts the work when its time is over, also while every call hangs.
    async fn watch_the_clock(&self) -> std::convert::Infallible {
        if let Some(end) = self.caller.purse.end() {
            tokio::time::sleep_until(end.into()).await;
            self.caller.mind_the_budget();
        }
        std::future::pending().await
    }
}

impl Ended {
    /// Failures grouped by model and cause, most frequent first, with how many records each kept from finishing.
    pub fn causes(&self) -> Vec<(&Failure, usize)> {
        let mut seen = HashSet::new();
        let key = |failure: &Failure| (failure.model.clone(), failure.cause);
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
