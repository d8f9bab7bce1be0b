//! The runner: many sessions at once, each recorded and graded as it ends.

use crate::budget::{Purse, Reached, Spent};
use crate::caller::held;
use crate::{Caller, Fleet, Grader, Observer, Planned, Tally, Trouble, drive};
use aske_config::Settings;
use aske_model::{Failure, Halt};
use aske_record::{GradeLine, Record, RoleUse, RunDir, RunError, SCHEMA, SessionId, SessionRecord};
use aske_session::Seed;
use futures_util::stream::{self, StreamExt};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, OnceLock};

/// A session that was given up for now.
#[derive(Clone, Debug)]
pub struct RunFailure {
    /// The session.
    pub session: SessionId,
    /// Why.
    pub failure: Failure,
}

/// How a run ended.
#[derive(Debug)]
pub struct Finished {
    /// Outcomes of all graded sessions of the plan, earlier ones included.
    pub tally: Tally,
    /// Sessions given up, by infrastructure.
    pub failures: Vec<RunFailure>,
    /// Sessions of the plan that are not finished and graded.
    pub open: usize,
    /// The budget that ended the run.
    pub reached: Option<Reached>,
    /// Calls, tokens and cost by role, all of the folder.
    pub used: BTreeMap<String, RoleUse>,
}

/// Runs a plan into a folder.
pub struct Runner<'r> {
    settings: &'r Settings,
    fleet: &'r Fleet,
    folder: &'r RunDir,
    caller: Caller<'r>,
    grader: Grader,
    tally: Mutex<Tally>,
    failures: Mutex<Vec<RunFailure>>,
}

impl<'r> Runner<'r> {
    /// A runner for a folder; `halt` ends it early.
    pub fn new(
        settings: &'r Settings,
        fleet: &'r Fleet,
        folder: &'r RunDir,
        halt: &'r Halt,
    ) -> Result<Self, RunError> {
        let before = folder.calls().used()?;
        let spent = Spent {
            calls: 0,
            tokens: before.values().map(|used| used.usage.total()).sum(),
            usd: before.values().fold(aske_chat::Usd::default(), |sum, used| sum + used.usd),
        };
        let caller = Caller {
            store: folder.calls(),
            seed: Seed(settings.run.seed),
            halt,
            purse: Purse::new(&settings.run, spent),
            reached: OnceLock::new(),
        };
        let grader = Grader::new(settings, fleet);
        let (tally, failures) = (Mutex::default(), Mutex::default());
        Ok(Self { settings, fleet, folder, caller, grader, tally, failures })
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.caller.purse.spent()
    }

    /// Runs what is not finished yet. Returns early only when the folder fails.
    pub async fn run(&self, plan: &[Planned], observer: &dyn Observer) -> Result<Finished, RunError> {
        let records: HashMap<String, &SessionRecord> = self
            .folder
            .records()
            .iter()
            .filter_map(|record| Some((record.id(), record.session()?)))
            .collect();
        let graded: HashMap<&str, _> =
            self.folder.grades().iter().map(|line| (line.record.as_str(), &line.grade)).collect();
        let mut open = Vec::new();
        for planned in plan {
            let name = planned.id.to_string();
            match (records.get(&name), graded.get(name.as_str())) {
                (Some(_), Some(grade)) => held(&self.tally).add(planned.id.sample, grade),
                (record, _) => open.push((planned, record.copied())),
            }
        }
        let total = open.len();
        let mut running = stream::iter(open)
            .take_while(|_| std::future::ready(!self.caller.halt.is_called()))
            .map(|(planned, record)| self.one(planned, record, observer))
            .buffer_unordered(self.settings.run.concurrency);
        let mut done = 0;
        let work = async {
            while let Some(outcome) = running.next().await {
                done += usize::from(outcome?);
            }
            Ok(())
        };
        tokio::select! {
            worked = work => worked?,
            never = self.watch_the_clock() => match never {},
        }
        drop(running);
        Ok(Finished {
            tally: held(&self.tally).clone(),
            failures: std::mem::take(&mut held(&self.failures)),
            open: total - done,
            reached: self.caller.reached.get().copied(),
            used: self.folder.calls().used()?,
        })
    }

    /// Halts the run when its time is over, also while every call hangs.
    async fn watch_the_clock(&self) -> std::convert::Infallible {
        if let Some(end) = self.caller.purse.end() {
            tokio::time::sleep_until(end.into()).await;
            self.caller.mind_the_budget();
        }
        std::future::pending().await
    }

    /// One session from where it stands to its grade; says whether it got there.
    async fn one(
        &self,
        planned: &Planned,
        record: Option<&SessionRecord>,
        observer: &dyn Observer,
    ) -> Result<bool, RunError> {
        match self.finish(planned, record, observer).await {
            Ok(()) => Ok(true),
            Err(Trouble::Halted) => Ok(false),
            Err(Trouble::Folder(error)) => Err(error),
            Err(Trouble::Model(failure)) => {
                // Every other session would meet the same wall, and pay for the way there.
                if failure.cause.is_lasting() {
                    self.caller.halt.call();
                }
                let failure = RunFailure { session: planned.id.clone(), failure };
                observer.failed(&failure);
                held(&self.failures).push(failure);
                Ok(false)
            }
        }
    }

    async fn finish(
        &self,
        planned: &Planned,
        record: Option<&SessionRecord>,
        observer: &dyn Observer,
    ) -> Result<(), Trouble> {
        let fresh;
        let record = if let Some(record) = record {
            record
        } else {
            fresh = drive(planned, self.settings, self.fleet, &self.caller, observer).await?;
            self.folder.add_record(&Record::Session(fresh.clone()))?;
            &fresh
        };
        let grade = self.grader.grade(&record.transcript, &self.caller).await?;
        let line = GradeLine { schema: SCHEMA, record: planned.id.to_string(), grade, check: None };
        self.folder.add_grade(&line)?;
        held(&self.tally).add(planned.id.sample, &line.grade);
        observer.graded(record, &line.grade);
        Ok(())
    }
}

impl Finished {
    /// Failures grouped by model and cause, most frequent first, with how many sessions each kept from finishing.
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
