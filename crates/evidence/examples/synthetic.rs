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

use aske_record::{CallKey, GradeLine, Manifest, Record, RunDir, SCHEMA};
use aske_session::{Domain, GradingRules};
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
    /// Makes the replies of stored calls one line each, so that a run of a million sessions fits on a disk.
    #[arg(long, requires = "calls")]
    short: bool,
    /// Writes a part of the sessions, such as 3/10: every tenth, from the third on.
    #[arg(long, value_name = "PART/PARTS", value_parser = shard)]
    shard: Option<(usize, usize)>,
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
    world.short = options.short;
    // A folder that `aske bench` has begun stays what it is, and can be gone on with.
    let run = match Manifest::read(&options.folder)? {
        Some(there) => RunDir::reopen(&options.folder, &there)?,
        None => RunDir::open(&options.folder, &world.manifest())?,
    };
    let (part, parts) = options.shard.unwrap_or((1, 1));
    let hostile = if options.hostile { texts::HOSTILE } else { 0 };
    // What is there already was written by an earlier call with the same options.
    let mut number = part - 1 + run.index().len() * parts;
    while number < options.sessions + hostile {
        let mut calls = Vec::new();
        for _ in 0..TOGETHER {
            if number >= options.sessions + hostile {
                break;
            }
            let attack = number.checked_sub(options.sessions);
            let with_calls = options.calls || number < WITH_CALLS || attack.is_some();
            calls.extend(add(&run, world.session(number, attack, with_calls))?);
            number += parts;
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

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    parts.filter(|(part, of)| (1..=*of).contains(part)).ok_or_else(|| format!("`{text}` is not a shard"))
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
        rules: GradingRules::current(&Domain::math(), false),
    })?;
    Ok(made.calls.into_iter().map(|(slot, call)| (CallKey { record: record.clone(), slot }, call)).collect())
}

async fn store(run: &RunDir, calls: Calls) -> Result<(), aske_record::RunError> {
    try_join_all(calls.into_iter().map(|(key, call)| run.calls().put(key, call))).await.map(drop)
}
