//! `aske fleet bench`: the benchmark, phase by phase.

use super::{plan, show, up};
use crate::arguments::FleetBench;
use crate::live::{runtime, wait_for_signal};
use crate::output::note;
use crate::problem::{Exit, Problem};
use aske_fleet::{Plan, ProcessIdentity};
use std::ffi::OsString;
use tokio::process::Command;

/// Arguments of `aske bench` that the phases decide.
const OURS: [&str; 6] = ["--pairs", "--shard", "--until", "--limit", "--dry-run", "--config"];

pub(super) fn run(arguments: &FleetBench) -> Result<Exit, Problem> {
    let ours = |argument: &&String| OURS.iter().any(|ours| argument.split('=').next() == Some(ours));
    if let Some(taken) = arguments.bench.iter().find(ours) {
        return Err(Problem::usage(
            format!("{taken} does not go with phases: they decide what is asked when"),
            "choose with --set or --solvers before the --",
        ));
    }
    let plan = plan(&arguments.planning)?;
    let first = arguments.from as usize - 1;
    if first >= plan.phases.len() {
        return Err(Problem::usage(
            format!("--from {}: the plan has {} phases", arguments.from, plan.phases.len()),
            "`aske fleet plan` shows them",
        ));
    }
    if !plan.at_once() {
        note(show::summary(&plan));
    }
    up::write_endpoints(&plan, &arguments.planning.configuration, &arguments.run.endpoints)?;
    runtime()?.block_on(through(arguments, plan, first))
}

async fn through(arguments: &FleetBench, plan: Plan, first: usize) -> Result<Exit, Problem> {
    let mut keeper = up::open(plan.clone(), &arguments.run)?;
    let mut worst = Exit::Done;
    for (at, phase) in plan.phases.iter().enumerate().skip(first) {
        note(format_args!("phase {} of {}: {} pairs", at + 1, plan.phases.len(), phase.pairs.len()));
        let entered = tokio::select! {
            entered = keeper.enter(at) => entered.map(|()| true),
            () = wait_for_signal() => Ok(false),
        };
        let ended = match entered {
            Ok(true) => bench(arguments, &phase.pairs).await,
            Ok(false) => Ok(Exit::Interrupted),
            Err(error) => Err(error.into()),
        };
        match ended {
            Ok(Exit::Done) => {}
            Ok(Exit::Failures) => worst = Exit::Failures,
            Ok(exit) => {
                keeper.close().await;
                note(format_args!("stopped in phase {0}; --from {0} goes on there", at + 1));
                return Ok(exit);
            }
            Err(problem) => {
                keeper.close().await;
                return Err(problem);
            }
        }
    }
    keeper.close().await;
    Ok(worst)
}

/// Asks the pairs of a phase. Ctrl-C reaches this process alone, which passes it on.
async fn bench(arguments: &FleetBench, pairs: &[[String; 2]]) -> Result<Exit, Problem> {
    if pairs.is_empty() {
        return Ok(Exit::Done);
    }
    let failed = |error: std::io::Error| Problem {
        message: format!("cannot run `aske bench`: {error}"),
        hint: None,
        exit: Exit::Failures,
    };
    let pairs: Vec<String> = pairs.iter().map(|pair| pair.join(":")).collect();
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.arg("bench").arg("--config").arg(&arguments.run.endpoints);
    command.args(arguments.planning.configuration.flags());
    command.args(["--pairs", &pairs.join(",")]).args(arguments.bench.iter().map(OsString::from));
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(failed)?;
    let ended = loop {
        tokio::select! {
            ended = child.wait() => break ended.map_err(failed)?,
            () = wait_for_signal() => {
                if let Some(process) = child.id().and_then(ProcessIdentity::of) {
                    process.terminate();
                }
            }
        }
    };
    Ok(match ended.code() {
        Some(0) => Exit::Done,
        Some(1) => Exit::Failures,
        Some(2) => Exit::Usage,
        Some(3) => Exit::Budget,
        _ => Exit::Interrupted,
    })
}
