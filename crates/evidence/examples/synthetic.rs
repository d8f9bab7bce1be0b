//! Writes a synthetic run folder, for tests and benchmarks of everything that reads one.
//!
//! ```sh
//! cargo run -p aske-evidence --example synthetic -- FOLDER --sessions 1900
//! ```
#![expect(clippy::print_stderr, reason = "a program")]

#[path = "synthetic/texts.rs"]
mod texts;
#[path = "synthetic/world.rs"]
mod world;

use aske_record::{CallKey, GradeLine, Record, RunDir, SCHEMA};
use clap::Parser;
use futures_util::future::try_join_all;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use world::{Made, World};

/// Sessions whose calls are stored together.
const TOGETHER: usize = 50;
/// Sessions that have calls without `--calls`.
const WITH_CALLS: usize = 20;

/// Writes a synthetic run folder.
#[derive(Parser)]
struct Options {
    /// Where to write it.
    folder: PathBuf,
    /// Sessions, spread evenly over 190 pairs.
    #[arg(long, default_value_t = 1900)]
    sessions: usize,
    /// Who asks.
    #[arg(long, default_value = "synthetic-asker")]
    asker: String,
    /// Another seed, other sessions.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Adds sessions with texts that attack whoever shows them.
    #[arg(long)]
    hostile: bool,
    /// Stores the calls of all sessions, not only of the first.
    #[arg(long)]
    calls: bool,
    /// Keeps the folder in use and adds a session every so many milliseconds, until the process is ended.
    #[arg(long, value_name = "MILLISECONDS")]
    grow: Option<u64>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match write(&Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn write(options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(&options.asker, options.seed);
    let run = RunDir::open(&options.folder, &world.manifest())?;
    let hostile = if options.hostile { texts::HOSTILE } else { 0 };
    // What is there already was written by an earlier call with the same options.
    let mut number = run.records().len();
    while number < options.sessions + hostile {
        let mut calls = Vec::new();
        for _ in 0..TOGETHER.min(options.sessions + hostile - number) {
            let attack = number.checked_sub(options.sessions);
            let with_calls = options.calls || number < WITH_CALLS || attack.is_some();
            calls.extend(add(&run, world.session(number, attack, with_calls))?);
            number += 1;
        }
        store(&run, calls).await?;
    }
    while let Some(pause) = options.grow {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        store(&run, add(&run, world.session(number, None, true))?).await?;
        number += 1;
    }
    Ok(())
}

type Calls = Vec<(CallKey, aske_record::StoredCall)>;

/// Adds the record and its grade; gives back the calls, which take longer.
fn add(run: &RunDir, made: Made) -> Result<Calls, aske_record::RunError> {
    let record = made.record.id().to_string();
    run.add_record(&Record::Session(made.record))?;
    run.add_grade(&GradeLine {
        schema: SCHEMA,
        record: record.clone(),
        grade: made.grade,
        check: None,
        checker: None,
    })?;
    Ok(made.calls.into_iter().map(|(slot, call)| (CallKey { record: record.clone(), slot }, call)).collect())
}

async fn store(run: &RunDir, calls: Calls) -> Result<(), aske_record::RunError> {
    try_join_all(calls.into_iter().map(|(key, call)| run.calls().put(key, call))).await.map(drop)
}
