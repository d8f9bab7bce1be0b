//! `aske fleet`: vLLM servers for a boundary set on GPUs.

mod bench;
mod job;
pub(crate) mod models;
mod show;
pub(crate) mod up;
mod watch;

use crate::arguments::{Fleet, FleetCommand, Planning};
use crate::error::{CliError, Exit};
use aske_fleet::{Plan, SearchBudget};

pub(crate) fn run(arguments: &Fleet) -> Result<Exit, CliError> {
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
fn plan(planning: &Planning) -> Result<Plan, CliError> {
    let layers = planning.configuration.load(Vec::new())?;
    let served = models::served(&layers.settings()?, planning)?;
    Ok(Plan::new(
        &served.models,
        &served.elsewhere,
        planning.gpus,
        &[],
        planning.port,
        SearchBudget::default(),
    )?)
}
