//! `aske fleet bench`: the benchmark, phase by phase.

use super::{plan, show, up};
use crate::arguments::{Arguments, Bench, Command, FleetBench};
use crate::commands::bench::{self, Phases};
use crate::error::{CliError, Exit};
use crate::output::note;
use crate::runs::servers::{Hosting, Servers};
use crate::runtime::{runtime, shutdown_signal};
use crate::shell::command;
use aske_fleet::{Plan, Supervisor, SupervisorOptions};
use aske_report::number::counted;
use clap::Parser;
use std::time::Instant;

pub(super) fn run(arguments: &FleetBench) -> Result<Exit, CliError> {
    let bench = bench_arguments(arguments)?;
    let settings = arguments.planning.configuration.load(Vec::new())?.settings()?;
    if let Some(servers) = Servers::find(&settings, Hosting::of(&bench.serving))? {
        return Err(CliError::usage(
            format!("{} would need a server beside those of this fleet", servers.names().join(", ")),
            "serve it with the fleet: provider = \"openai\", url = \"http://localhost:8001/v1\" and model = \"FOLDER\"",
        ));
    }
    let plan = plan(&arguments.planning)?;
    let first = arguments.from as usize - 1;
    if first >= plan.phases.len() {
        return Err(CliError::usage(
            format!("--from {}: the plan has {}", arguments.from, counted(plan.phases.len(), "phase")),
            "`aske fleet plan` shows them",
        ));
    }
    if !plan.at_once() {
        note(show::summary(&plan));
    }
    let options = up::options(&arguments.run)?;
    up::write_endpoints(&plan, &arguments.planning.configuration, &arguments.run.endpoints, &options)?;
    runtime()?.block_on(run_phases(options, bench, plan, first))
}

/// The arguments of `aske bench`: those after `--`, with the models' addresses and the flags before it.
fn bench_arguments(arguments: &FleetBench) -> Result<Bench, CliError> {
    let given = ["aske", "bench"].into_iter().chain(arguments.bench.iter().map(String::as_str));
    let Command::Bench(mut bench) =
        Arguments::try_parse_from(given).unwrap_or_else(|error| error.exit()).command
    else {
        return Err(CliError::usage("not arguments of `aske bench`", "`aske bench --help` lists them"));
    };
    let taken = [
        (!bench.pairs.is_empty(), "--pairs"),
        (bench.shard.is_some(), "--shard"),
        (bench.until.is_some(), "--until"),
        (bench.limit.is_some(), "--limit"),
        (bench.execution.dry_run, "--dry-run"),
        (bench.configuration.config.is_some(), "--config"),
    ];
    if let Some((_, flag)) = taken.iter().find(|(given, _)| *given) {
        return Err(CliError::usage(
            format!("{flag} cannot be used with phases, which decide what is asked when"),
            "choose with --set or --solvers before the --",
        ));
    }
    bench.configuration = bench.configuration.over(&arguments.planning.configuration);
    bench.configuration.config = Some(arguments.run.endpoints.to_string_lossy().into_owned());
    Ok(bench)
}

async fn run_phases(
    options: SupervisorOptions,
    mut bench: Bench,
    plan: Plan,
    first: usize,
) -> Result<Exit, CliError> {
    let mut supervisor = Supervisor::open(plan.clone(), options, up::report)?;
    let mut status = Exit::Done;
    let begun = Instant::now();
    for (at, phase) in plan.phases.iter().enumerate().skip(first) {
        note(format_args!(
            "phase {} of {}: {}",
            at + 1,
            plan.phases.len(),
            counted(phase.pairs.len(), "pair")
        ));
        let entered = tokio::select! {
            entered = supervisor.enter(at) => entered.map(|()| true),
            () = shutdown_signal() => Ok(false),
        };
        bench.pairs = phase.pairs.iter().map(|pair| pair.join(":")).collect();
        let ended = match entered {
            Ok(true) if bench.pairs.is_empty() => Ok(Exit::Done),
            // Calls to a server that is being restarted wait for it; one that has failed for good ends the phase.
            Ok(true) => tokio::select! {
                ended = bench::execute(&bench) => ended,
                error = supervisor.any_failed() => Err(error.into()),
            },
            Ok(false) => Ok(Exit::Interrupted),
            Err(error) => Err(error.into()),
        };
        match ended {
            Ok(Exit::Done) => {}
            Ok(Exit::Failures) => status = Exit::Failures,
            Ok(exit) => {
                supervisor.close().await;
                note(stopped(at + 1));
                return Ok(exit);
            }
            Err(error) => {
                supervisor.close().await;
                note(stopped(at + 1));
                return Err(error);
            }
        }
    }
    supervisor.close().await;
    if !plan.at_once() {
        let starts = plan.phases.iter().skip(first + 1).map(|phase| phase.start.len());
        let loads = plan.running(first).len() + starts.sum::<usize>();
        let phases = Phases { first: first + 1, count: plan.phases.len(), loads, took: begun.elapsed() };
        bench::total(&bench, &phases)?;
    }
    Ok(status)
}

/// Where the benchmark stopped, and the command that continues there.
fn stopped(phase: usize) -> String {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let words = std::iter::once("aske".to_owned()).chain(starting_with(phase, &given));
    format!("stopped in phase {phase}; `{}` continues there", command(words))
}

/// These arguments of `aske fleet bench`, with `--from PHASE` instead of any they have.
fn starting_with(phase: usize, given: &[String]) -> Vec<String> {
    let end = given.iter().position(|word| word == "--").unwrap_or(given.len());
    let (own, bench) = given.split_at(end);
    let mut words = Vec::new();
    let mut own = own.iter();
    while let Some(word) = own.next() {
        if word == "--from" {
            own.next();
        } else if !word.starts_with("--from=") {
            words.push(word.clone());
        }
    }
    words.extend(["--from".to_owned(), phase.to_string()]);
    words.extend_from_slice(bench);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_replaces_the_given_one_and_everything_else_is_repeated() {
        let continued = |line: &str| {
            let given: Vec<String> = line.split(' ').map(str::to_owned).collect();
            starting_with(7, &given).join(" ")
        };
        assert_eq!(
            continued("fleet bench --config my.toml --from 2 --gpus 1x80 -- --samples 3"),
            "fleet bench --config my.toml --gpus 1x80 --from 7 -- --samples 3"
        );
        assert_eq!(continued("fleet bench --from=2 --set small"), "fleet bench --set small --from 7");
    }
}
