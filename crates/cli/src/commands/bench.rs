//! `aske bench`: the benchmark.

use crate::arguments::{Bench, whole};
use crate::live::Interrupt;
use crate::output::{BAD, BOLD, DIM, NOTE, data, hint, note, paint};
use crate::panels::watched;
use crate::problem::{Exit, Problem};
use crate::tables;
use aske_bench::{
    JobSummary, ModelRegistry, PlannedSession, RunSummary, Runner, Selection, StopRule, estimate, is_current,
    manifest, plan, run_adaptive, selected_pairs,
};
use aske_config::{Layers, Settings};
use aske_record::{GradeLine, Index, RunDir, read_grades};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use toml::Value;

pub(crate) fn run(arguments: &Bench) -> Result<Exit, Problem> {
    let mut flags = vec![
        ("--samples", "run.samples", arguments.samples.map(|n| Value::Integer(n.into()))),
        ("--concurrency", "run.concurrency", arguments.concurrency.map(whole)),
    ];
    flags.extend(arguments.budget.flags());
    let layers = arguments.configuration.load(flags)?;
    let settings = layers.settings()?;
    let selection =
        Selection { pairs: arguments.pairs.clone(), shard: arguments.shard, limit: arguments.limit };
    let path = arguments.run.clone().unwrap_or_else(|| default_folder(&layers, &settings));
    if let Some(points) = arguments.until {
        return adaptive(arguments, points, (&layers, &settings), &selection, &path);
    }
    let plan = plan(&settings, &selection)?;
    if arguments.dry_run {
        return dry_run(arguments.json, &settings, plan, &path);
    }
    let fleet = ModelRegistry::new(&settings)?;
    let folder = open_planned(&path, &layers, &settings, plan.len())?;
    let is_open = is_open(&settings, folder.grades(), folder.index());
    let open = plan.iter().filter(|planned| is_open(planned)).count();
    announce(&settings, &plan, open, &folder);
    let on = (&settings, &fleet, &folder);
    let (finished, interrupt) =
        watched(open, "sessions", on, async |crew, progress| Runner::new(crew).run(&plan, progress).await)?;
    if arguments.json {
        data(as_json(&settings, &path, &finished));
    } else {
        show(&settings, &path, &finished);
    }
    Ok(exit(&finished.jobs, &interrupt))
}

/// `--until`: batches of sessions drawn by chance, until the interval is narrow enough.
fn adaptive(
    arguments: &Bench,
    points: f64,
    (layers, settings): (&Layers, &Settings),
    selection: &Selection,
    path: &Path,
) -> Result<Exit, Problem> {
    if !(points > 0.0 && points < 50.0) {
        return Err(Problem::usage(
            format!("--until {points}: no interval has this width"),
            "name half a width in percentage points, such as 2.0",
        ));
    }
    if arguments.dry_run {
        return Err(Problem::usage(
            "what an adaptive run takes depends on its outcomes",
            "`--dry-run` without `--until` shows the whole plan",
        ));
    }
    let pairs = selected_pairs(settings, selection)?;
    let whole_plan = pairs.len().saturating_mul(settings.run.samples as usize);
    let until = StopRule { half_width: points / 100.0, max_sessions: selection.limit.unwrap_or(whole_plan) };
    if until.max_sessions < 2 * pairs.len() {
        return Err(Problem::usage(
            format!("{} sessions are too few: every pair is asked twice first", until.max_sessions),
            format!("allow at least {} with --limit or --samples", 2 * pairs.len()),
        ));
    }
    let fleet = ModelRegistry::new(settings)?;
    let folder = open_folder(path, layers, settings)?;
    note_earlier_rule(settings, folder.grades());
    let mut draws = folder.draws()?;
    note(format_args!(
        "{} asks {} solvers until the interval is ± {points} points, in {} sessions at most; into {}",
        settings.asker.model,
        settings.solvers.len(),
        until.max_sessions,
        path.display()
    ));
    let on = (settings, &fleet, &folder);
    let (stopped, interrupt) =
        watched(until.max_sessions, "sessions at most", on, async |crew, progress| {
            run_adaptive(&Runner::new(crew), settings, &pairs, until, &mut draws, progress).await
        })?;
    if arguments.json {
        let mut shown = as_json(settings, path, &stopped.run);
        shown["estimate"] = json!(stopped.estimate);
        shown["narrow_enough"] = json!(stopped.narrow_enough);
        data(shown);
    } else {
        show(settings, path, &stopped.run);
        if let Some(estimate) = &stopped.estimate {
            data(format_args!("\n{}", tables::adaptive(estimate)));
        }
        if !stopped.narrow_enough && stopped.run.jobs.open == 0 {
            note(format_args!("the limit of {} sessions came before ± {points} points", until.max_sessions));
            hint("raise --samples or --limit to go on");
        }
    }
    Ok(exit(&stopped.run.jobs, &interrupt))
}

/// `runs/CONFIG-ASKER`, so that the same command finds its own folder again.
pub(crate) fn default_folder(layers: &Layers, settings: &Settings) -> PathBuf {
    Path::new("runs").join(format!("{}-{}", layers.name(), settings.asker.model))
}

/// Opens the run folder for these settings.
pub(crate) fn open_folder(path: &Path, layers: &Layers, settings: &Settings) -> Result<RunDir, Problem> {
    open(path, layers, settings, [])
}

/// The same for a run of so many sessions.
fn open_planned(
    path: &Path,
    layers: &Layers,
    settings: &Settings,
    sessions: usize,
) -> Result<RunDir, Problem> {
    let mut manifest = manifest(env!("CARGO_PKG_VERSION"), layers, settings);
    manifest.planned = Some(sessions as u64);
    Ok(RunDir::open(path, &manifest)?)
}

/// The same for a run that is what it is by more than its settings.
pub(crate) fn open<const N: usize>(
    path: &Path,
    layers: &Layers,
    settings: &Settings,
    more: [(&str, String); N],
) -> Result<RunDir, Problem> {
    let mut manifest = manifest(env!("CARGO_PKG_VERSION"), layers, settings);
    manifest.identity.0.extend(more.map(|(key, value)| (key.to_owned(), value)));
    Ok(RunDir::open(path, &manifest)?)
}

/// Opens the folder of a run for further work with these settings.
pub(crate) fn reopen_folder(path: &Path, layers: &Layers, settings: &Settings) -> Result<RunDir, Problem> {
    let manifest = manifest(env!("CARGO_PKG_VERSION"), layers, settings);
    Ok(RunDir::reopen(path, &manifest)?)
}

/// Tells whether a planned session still lacks its record, or a grade by the rule of these settings.
fn is_open(settings: &Settings, grades: &[GradeLine], records: &Index) -> impl Fn(&PlannedSession) -> bool {
    let current = grades.iter().filter(|grade| is_current(settings, grade.checker));
    let names = current.map(|grade| grade.record.as_str());
    let finished: HashSet<&str> = names.filter(|name| records.contains(name)).collect();
    move |planned| !finished.contains(planned.id.to_string().as_str())
}

fn announce(settings: &Settings, plan: &[PlannedSession], open: usize, folder: &RunDir) {
    let state = match open {
        0 if plan.is_empty() => "nothing to do".to_owned(),
        0 => "all finished before".to_owned(),
        open if open < plan.len() => format!("{open} still to run"),
        _ => format!("{} rounds and a final question each", settings.protocol.rounds),
    };
    note(format_args!(
        "{} asks {} solvers: {} sessions, {state}; into {}",
        settings.asker.model,
        settings.solvers.len(),
        plan.len(),
        folder.path().display()
    ));
    note_earlier_rule(settings, folder.grades());
    let unpriced: Vec<&str> = settings
        .models
        .iter()
        .filter(|(_, model)| model.price.is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    if settings.run.budget_usd.is_some() && !unpriced.is_empty() {
        note(format_args!(
            "{} no price, so not counted: {}",
            paint(NOTE.bold(), "budget:"),
            unpriced.join(", ")
        ));
    }
}

/// How many of these sessions have a grade by an earlier rule only. Of several grades of a session the last counts.
pub(crate) fn by_earlier_rule(settings: &Settings, grades: &[GradeLine]) -> usize {
    let last: HashMap<&str, bool> =
        grades.iter().map(|line| (line.record.as_str(), is_current(settings, line.checker))).collect();
    last.values().filter(|current| !**current).count()
}

/// Says how many of these sessions are graded again because of an earlier rule.
pub(crate) fn note_earlier_rule(settings: &Settings, grades: &[GradeLine]) {
    let earlier = match by_earlier_rule(settings, grades) {
        0 => return,
        1 => "1 session was".to_owned(),
        more => format!("{more} sessions were"),
    };
    note(format_args!(
        "{earlier} graded before the equivalence checker was told which answer is the reference; such sessions are \
         graded again, and only the checker is asked"
    ));
}

/// What the plan would take beyond what the folder, if it is there, has finished.
fn dry_run(
    as_json: bool,
    settings: &Settings,
    mut plan: Vec<PlannedSession>,
    path: &Path,
) -> Result<Exit, Problem> {
    let planned = plan.len();
    if path.join("run.toml").exists() {
        plan.retain(is_open(settings, &read_grades(path)?, &Index::read(path)?));
    }
    let finished = planned - plan.len();
    let estimate = estimate(settings, &plan);
    if as_json {
        data(json!({
            "run": path.display().to_string(),
            "finished": finished,
            "sessions": plan.iter().map(|planned| json!({
                "session": planned.id.to_string(),
                "solvers": planned.solvers,
            })).collect::<Vec<_>>(),
            "estimate": estimate,
        }));
        return Ok(Exit::Done);
    }
    let (expected, most) = estimate.usd();
    data(format_args!("{} sessions, {} calls, into {}\n", plan.len(), estimate.calls(), path.display()));
    if finished > 0 {
        note(format_args!("{finished} more sessions of the plan are finished there"));
    }
    data(tables::estimate(&estimate));
    data(format_args!("\n{expected} expected, {most} at most, for models with a price"));
    note(paint(
        DIM,
        "calls are exact if every turn has its question; tokens and cost assume that replies use a quarter of their\n\
         budget, and all of it for the most; equivalence checks are not counted",
    ));
    Ok(Exit::Done)
}

/// The status that a run's end stands for.
pub(crate) fn exit(ended: &JobSummary, interrupt: &Interrupt) -> Exit {
    if interrupt.happened() {
        Exit::Interrupted
    } else if ended.budget_limit.is_some() {
        Exit::Budget
    } else if ended.open > 0 {
        Exit::Failures
    } else {
        Exit::Done
    }
}

fn show(settings: &Settings, path: &Path, finished: &RunSummary) {
    let sessions = finished.tally.sessions();
    data(format_args!(
        "{}\n",
        paint(BOLD, format_args!("{}: {sessions} sessions graded", settings.asker.model))
    ));
    data(tables::outcomes(&finished.tally.shares()));
    data(format_args!("\n{}", tables::used(&finished.used)));
    if finished.tally.promoted() > 0 {
        note(format_args!(
            "{} sessions have an answer that the equivalence checker matched",
            finished.tally.promoted()
        ));
    }
    if finished.tally.folded() > 0 {
        note(format_args!(
            "{} sessions have a match that rests on case or white space alone, although the mathematics differs",
            finished.tally.folded()
        ));
    }
    if finished.tally.undecided() > 0 {
        note(format_args!(
            "{} sessions have a comparison that stayed undecided and counts as no match",
            finished.tally.undecided()
        ));
    }
    report_open(&finished.jobs, "sessions");
    note(paint(DIM, format_args!("stored in {}", path.display())));
    if let [first, .., last] = settings.solvers.as_slice()
        && finished.jobs.open == 0
    {
        let seen = format!(
            "`aske report --html report.html` and `aske view` show what the run tells; `aske ask {} {}` shows a session as it happens",
            first.model, last.model
        );
        let nano = settings
            .models
            .values()
            .any(|model| model.path.as_deref().is_some_and(|path| path.starts_with("builtin:")));
        let more = if nano { "; `aske nano table` shows who can do what" } else { "" };
        note(paint(DIM, format_args!("look next: {seen}{more}")));
    }
}

/// Failures, and what is left to do.
pub(crate) fn report_open(ended: &JobSummary, things: &str) {
    report_failures(ended, things);
    if ended.open > 0 {
        let why = ended.budget_limit.map(|reached| format!("{reached}; ")).unwrap_or_default();
        note(format_args!("\n{why}{} {things} are left", ended.open));
        hint("run the same command again to go on; nothing that was paid for is asked again");
    }
}

/// Failures by cause, with what to do about each.
pub(crate) fn report_failures(ended: &JobSummary, things: &str) {
    for (failure, count) in ended.causes() {
        let things = if count == 1 { things.trim_end_matches('s') } else { things };
        note(format_args!(
            "\n{} {count} {things} without an outcome: {failure}",
            paint(BAD.bold(), "failed:")
        ));
        hint(failure.hint());
    }
}

/// Failures by cause as JSON, with how many of these things each has cost.
pub(crate) fn failures(ended: &JobSummary, things: &str) -> Vec<serde_json::Value> {
    let causes = ended.causes().into_iter().map(|(failure, count)| {
        json!({
            "model": failure.model,
            "cause": failure.cause.as_str(),
            "message": failure.message,
            things: count,
            "hint": failure.hint(),
        })
    });
    causes.collect()
}

fn as_json(settings: &Settings, path: &Path, finished: &RunSummary) -> serde_json::Value {
    json!({
        "run": path.display().to_string(),
        "asker": settings.asker.model,
        "sessions": finished.tally.sessions(),
        "open": finished.jobs.open,
        "outcomes": finished.tally.shares(),
        "promoted": finished.tally.promoted(),
        "folded": finished.tally.folded(),
        "undecided": finished.tally.undecided(),
        "used": finished.used,
        "failures": failures(&finished.jobs, "sessions"),
        "budget_reached": finished.jobs.budget_limit.map(|reached| reached.to_string()),
    })
}
