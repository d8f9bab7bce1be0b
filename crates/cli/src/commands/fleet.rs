//! `aske fleet`: a boundary set on GPUs.

mod bench;
mod job;
mod models;
mod show;
mod up;
mod watch;

use crate::arguments::{Fleet, FleetCommand, Planning};
use crate::problem::{Exit, Problem};
use aske_chat::Hint;
use aske_fleet::{FleetError, Plan, PlanError, SearchBudget};

pub(crate) fn run(arguments: &Fleet) -> Result<Exit, Problem> {
    match &arguments.command {
        FleetCommand::Plan(plan) => show::run(plan),
        FleetCommand::Up(up) => up::run(up),
        FleetCommand::Bench(bench) => bench::run(bench),
        FleetCommand::Down(folder) => watch::down(folder),
        FleetCommand::Status(status) => watch::status(status),
        FleetCommand::Logs(logs) => watch::logs(logs),
        FleetCommand::Job(job) => job::run(job),
    }
}

/// The plan for a configuration.
fn plan(planning: &Planning) -> Result<Plan, Problem> {
    let layers = planning.configuration.load(Vec::new())?;
    let wanted = models::of(&layers.settings()?, planning)?;
    Ok(Plan::new(&wanted.models, &wanted.elsewhere, planning.gpus, planning.port, SearchBudget::default())?)
}

impl From<PlanError> for Problem {
    fn from(error: PlanError) -> Self {
        Self::usage(error.to_string(), error.hint().unwrap_or_default())
    }
}

impl From<FleetError> for Problem {
    fn from(error: FleetError) -> Self {
        let exit = match error {
            FleetError::AlreadyRunning { .. } | FleetError::OrphanedServers { .. } => Exit::Usage,
            FleetError::Server { .. } | FleetError::File { .. } | FleetError::Client(_) => Exit::Failures,
        };
        Self { message: error.to_string(), hint: error.hint().map(Into::into), exit }
    }
}
