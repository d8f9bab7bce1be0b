//! `aske repair`: rebuilds lost records and grades from stored replies.

use crate::arguments::Repair;
use crate::error::{CliError, Exit};
use crate::output::{BAD, data, hint, note, paint, safe};
use crate::runs::folders::given_or_latest;
use crate::runtime::{Interrupt, block_on};
use aske_bench::{MissingRecords, ModelRegistry, RepairSummary, RunContext, missing_records, repair};
use aske_config::{Layers, Settings};
use aske_model::Halt;
use aske_record::{DamagedLines, Manifest, RunDir, set_aside};
use aske_report::number::{count, counted};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How many open sessions are listed.
const LISTED: usize = 5;

pub(crate) fn run(arguments: &Repair) -> Result<Exit, CliError> {
    let folders: Vec<PathBuf> =
        given_or_latest(&arguments.runs)?.iter().flat_map(|run| folders(run)).collect();
    let (mut worst, mut all) = (Exit::Done, Vec::new());
    for folder in &folders {
        let exit = match repair_folder(folder) {
            Ok((Some(done), exit)) => {
                if !arguments.json {
                    show(&done);
                }
                all.push(as_json(&done));
                exit
            }
            Ok((None, exit)) => exit,
            // One of several folders that cannot be repaired does not stop the others.
            Err(error) if folders.len() > 1 => {
                crate::output::error(&error);
                let run = folder.display().to_string();
                all.push(json!({ "run": run, "error": error.message, "hint": error.hint }));
                error.exit
            }
            Err(error) => return Err(error),
        };
        if exit != Exit::Done && worst != Exit::Usage {
            worst = exit;
        }
        if exit == Exit::Interrupted {
            worst = exit;
            break;
        }
    }
    if arguments.json {
        data(json!({ "runs": all }));
    }
    Ok(worst)
}

/// The folder itself, or the seed folders of a training.
fn folders(given: &Path) -> Vec<PathBuf> {
    let is_run = |path: &Path| path.join("run.toml").exists();
    let mut seeds: Vec<PathBuf> = Vec::new();
    if !is_run(given) {
        let entries = std::fs::read_dir(given).into_iter().flatten().flatten().map(|entry| entry.path());
        let seed =
            |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("seed-"));
        seeds = entries.filter(|path| seed(path) && is_run(path)).collect();
        seeds.sort();
    }
    if seeds.is_empty() { vec![given.to_owned()] } else { seeds }
}

/// What was repaired in one folder, and what is missing.
struct RepairedFolder {
    run: PathBuf,
    aside: Vec<DamagedLines>,
    repaired: RepairSummary,
    unrecorded: MissingRecords,
    without_calls: bool,
}

/// Repairs one folder; returns no result if interrupted.
fn repair_folder(path: &Path) -> Result<(Option<RepairedFolder>, Exit), CliError> {
    let manifest = Manifest::require(path)?;
    let is_eval = manifest.is_eval();
    let aside = set_aside(path)?;
    if !aside.is_empty() {
        let lines: usize = aside.iter().map(|aside| aside.lines).sum();
        note(format_args!(
            "{}: {} moved to {}",
            path.display(),
            counted(lines, "damaged line"),
            path.join("damaged").display()
        ));
    }
    let without_calls = !path.join("calls.sqlite").exists();
    let folder = RunDir::reopen(path, &manifest)?;
    let unrecorded = missing_records(&folder);
    let repaired = if is_eval {
        RepairSummary::default()
    } else {
        let settings = offline_settings(manifest, path)?;
        let models = ModelRegistry::offline(settings.models.keys().map(String::as_str));
        let (halt, interrupt) = (Halt::default(), Interrupt::default());
        let context = RunContext::new(&settings, &models, &folder, &halt)?;
        let repaired = block_on(&halt, &interrupt, repair(&context))??;
        if interrupt.happened() {
            return Ok((None, Exit::Interrupted));
        }
        repaired
    };
    drop(folder);
    if without_calls {
        // Opening the folder created an empty file, which would hide that the replies are missing.
        let _ = std::fs::remove_file(path.join("calls.sqlite"));
    }
    let left = !repaired.open.is_empty() || unrecorded != MissingRecords::default();
    let exit = if left { Exit::Failures } else { Exit::Done };
    Ok((Some(RepairedFolder { run: path.to_owned(), aside, repaired, unrecorded, without_calls }), exit))
}

/// The settings that the folder was written with, without budgets: repairing costs nothing.
fn offline_settings(manifest: Manifest, path: &Path) -> Result<Settings, CliError> {
    let layers = Layers::of_run(manifest.config, &path.join("run.toml"), None, std::iter::empty(), &[])?;
    let mut settings = layers.settings()?;
    settings.run.budget_usd = None;
    settings.run.budget_tokens = None;
    settings.run.budget_minutes = None;
    Ok(settings)
}

fn show(folder: &RepairedFolder) {
    let RepairedFolder { run, repaired, .. } = folder;
    data(format_args!(
        "{}: {}, {} and {} rebuilt, {} still open",
        run.display(),
        counted(repaired.sessions, "session"),
        counted(repaired.records, "record"),
        counted(repaired.grades, "grade"),
        count(repaired.open.len() as u64)
    ));
    for aside in &folder.aside {
        data(format_args!(
            "  {} of {} {} now in {}",
            counted(aside.lines, "damaged line"),
            aside.file.display(),
            if aside.lines == 1 { "is" } else { "are" },
            aside.kept.display()
        ));
    }
    for (name, why) in repaired.open.iter().take(LISTED) {
        note(format_args!("{} {}: {}", paint(BAD.bold(), "open:"), safe(name), safe(why)));
    }
    if repaired.open.len() > LISTED {
        note(format_args!("… and {} more", repaired.open.len() - LISTED));
    }
    if !repaired.open.is_empty() {
        if folder.without_calls {
            note("calls.sqlite is missing, so there are no stored replies");
        }
        hint("`aske bench` with the same configuration requests only what is missing");
    }
    for (count, thing, command) in left(&folder.unrecorded) {
        if count > 0 {
            let have = if count == 1 { "has" } else { "have" };
            note(format_args!("{} {have} stored replies but no record", counted(count, thing)));
            hint(format_args!("run the same `{command}` again: it uses the stored replies"));
        }
    }
}

/// Missing records that other commands rebuild.
fn left(unrecorded: &MissingRecords) -> [(usize, &'static str, &'static str); 4] {
    [
        (unrecorded.audits, "audited session", "aske audit"),
        (unrecorded.baselines, "baseline question", "aske baseline"),
        (unrecorded.difficulties, "difficulty measurement", "aske difficulty"),
        (unrecorded.evals, "sample", "aske eval"),
    ]
}

fn as_json(folder: &RepairedFolder) -> Value {
    let RepairedFolder { run, aside, repaired, unrecorded, without_calls } = folder;
    json!({
        "run": run.display().to_string(),
        "sessions": repaired.sessions,
        "records_rebuilt": repaired.records,
        "grades_rebuilt": repaired.grades,
        "open": repaired.open.iter().map(|(session, why)| json!({ "session": session, "why": why })).collect::<Vec<_>>(),
        "damaged": aside.iter().map(|aside| json!({
            "file": aside.file.display().to_string(),
            "kept": aside.kept.display().to_string(),
            "lines": aside.lines,
        })).collect::<Vec<_>>(),
        "unrecorded": {
            "audits": unrecorded.audits,
            "baselines": unrecorded.baselines,
            "difficulties": unrecorded.difficulties,
            "evals": unrecorded.evals,
        },
        "calls_missing": without_calls,
    })
}
