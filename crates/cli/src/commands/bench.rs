//! `aske bench`: the benchmark.

use crate::arguments::Bench;
use crate::display::tables;
use crate::error::{CliError, Exit};
use crate::output::{BOLD, DIM, NOTE, data, hint, note, paint};
use crate::runs::execute::{Target, with_progress};
use crate::runs::folders;
use crate::runs::servers::{Hosting, Servers, during};
use crate::runs::summary::{
    exit_status, failures_json, note_outdated_grades, note_unknown_prices, report_unfinished,
};
use crate::runtime::runtime;
use crate::shell::command;
use aske_bench::{
    PlannedSession, RunSummary, Runner, Selection, StopRule, estimate, is_current, plan, run_adaptive,
    selected_pairs,
};
use aske_config::{Layers, ProviderKind, Settings};
use aske_evidence::Tally;
use aske_record::{GradeLine, Index, Replies, RoleUsage, RunDir, STANDARD, read_grades};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Value;

/// Fewer tokens are too few for the reply of a language model that thinks.
const SHORT_REPLY: u32 = 500;

pub(crate) fn run(arguments: &Bench) -> Result<Exit, CliError> {
    runtime()?.block_on(execute(arguments))
}

/// The configuration with the flags of this command, and the run folder.
fn load(arguments: &Bench) -> Result<(Layers, Settings, PathBuf), CliError> {
    let mut flags = vec![("--samples", "run.samples", arguments.samples.map(|n| Value::Integer(n.into())))];
    flags.extend(arguments.execution.flags());
    let layers = arguments.configuration.load(flags)?;
    let settings = layers.settings()?;
    let path = arguments.run.clone().unwrap_or_else(|| folders::default_folder(&layers, &settings));
    Ok((layers, settings, path))
}

/// Runs the benchmark; `aske fleet bench` calls it for each phase.
pub(crate) async fn execute(arguments: &Bench) -> Result<Exit, CliError> {
    let (layers, settings, path) = load(arguments)?;
    let selection =
        Selection { pairs: arguments.pairs.clone(), shard: arguments.shard, limit: arguments.limit };
    if let Some(points) = arguments.until {
        return adaptive(arguments, points, (&layers, &settings), &selection, &path).await;
    }
    let plan = plan(&settings, &selection)?;
    let servers = Servers::find(&settings, Hosting::of(&arguments.serving))?;
    if arguments.execution.dry_run {
        servers.iter().for_each(Servers::announce);
        return dry_run(arguments.execution.json, &settings, plan, &path);
    }
    let models = Servers::registry(servers.as_ref(), &settings, &path)?;
    let mut manifest = folders::bench_manifest(&layers, &settings);
    manifest.planned = Some(plan.len() as u64);
    let folder = folders::open_with(&path, &manifest)?;
    let count = |keep: fn(&Settings, &GradeLine) -> bool| {
        let grades = folder.grades().iter().filter(|line| keep(&settings, line));
        let is_open = is_open(grades, folder.index());
        plan.iter().filter(|planned| is_open(planned)).count()
    };
    announce(&settings, &plan, count(|_, _| true), &folder);
    let to_do = count(|settings, line| is_current(settings, &line.rules));
    let target = Target { settings: &settings, models: &models, folder: &folder };
    let work = with_progress(to_do, "sessions", target, async |context, progress| {
        Runner::new(context).run(&plan, progress).await
    });
    let (finished, interrupt) = during(servers.as_ref().filter(|_| to_do > 0), &path, work).await?;
    if arguments.execution.json {
        data(as_json(&settings, &path, &finished));
    } else {
        show(arguments, &settings, &path, &finished);
    }
    Ok(exit_status(&finished.jobs, &interrupt))
}

/// `--until`: runs batches of randomly drawn sessions until the interval is narrow enough.
async fn adaptive(
    arguments: &Bench,
    points: f64,
    (layers, settings): (&Layers, &Settings),
    selection: &Selection,
    path: &Path,
) -> Result<Exit, CliError> {
    if !(points > 0.0 && points < 50.0) {
        return Err(CliError::usage(
            format!("--until {points}: not a possible half-width"),
            "give the half-width in percentage points, such as 2.0",
        ));
    }
    if arguments.execution.dry_run {
        return Err(CliError::usage(
            "the cost of an adaptive run depends on its outcomes",
            "`--dry-run` without `--until` shows the whole plan",
        ));
    }
    let pairs = selected_pairs(settings, selection)?;
    let whole_plan = pairs.len().saturating_mul(settings.run.samples as usize);
    let until = StopRule { half_width: points / 100.0, max_sessions: selection.limit.unwrap_or(whole_plan) };
    if until.max_sessions < 2 * pairs.len() {
        return Err(CliError::usage(
            format!(
                "{} sessions are too few: an adaptive run starts with two for every pair",
                until.max_sessions
            ),
            format!("allow at least {} with --limit or --samples", 2 * pairs.len()),
        ));
    }
    let servers = Servers::find(settings, Hosting::of(&arguments.serving))?;
    let models = Servers::registry(servers.as_ref(), settings, path)?;
    let folder = folders::open_with(path, &folders::bench_manifest(layers, settings))?;
    note_outdated_grades(settings, folder.grades());
    let draws = folder.draws()?;
    note(format_args!(
        "{} asks {} solvers until the interval is ± {points} points, in {} sessions at most; into {}",
        settings.asker.model,
        settings.solvers.len(),
        until.max_sessions,
        path.display()
    ));
    let target = Target { settings, models: &models, folder: &folder };
    let work = with_progress(until.max_sessions, "sessions at most", target, async |context, progress| {
        run_adaptive(&Runner::new(context), settings, &pairs, until, &draws, progress).await
    });
    let (stopped, interrupt) = during(servers.as_ref(), path, work).await?;
    if arguments.execution.json {
        let mut shown = as_json(settings, path, &stopped.run);
        shown["estimate"] = json!(stopped.estimate);
        shown["narrow_enough"] = json!(stopped.narrow_enough);
        data(shown);
    } else {
        show(arguments, settings, path, &stopped.run);
        if let Some(estimate) = &stopped.estimate {
            data(format_args!("\n{}", tables::adaptive(estimate)));
        }
        if !stopped.narrow_enough && stopped.run.jobs.open == 0 {
            note(format_args!(
                "reached the limit of {} sessions before ± {points} points",
                until.max_sessions
            ));
            hint("raise --samples or --limit to continue");
        }
    }
    Ok(exit_status(&stopped.run.jobs, &interrupt))
}

/// Whether a planned session lacks its record, or one of these grades.
fn is_open<'g>(
    grades: impl Iterator<Item = &'g GradeLine>,
    records: &Index,
) -> impl Fn(&PlannedSession) -> bool {
    let names = grades.map(|grade| grade.record.as_str());
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
    note_outdated_grades(settings, folder.grades());
    let tokens = settings.protocol.asker_tokens;
    let asker = settings.models.get(&settings.asker.model);
    if tokens < SHORT_REPLY && asker.is_some_and(|asker| asker.provider == Some(ProviderKind::Openai)) {
        note(format_args!(
            "{} this configuration limits the asker's replies to {tokens} tokens, for the built-in networks; give a \
             language model more: -o protocol.asker_tokens=4000 -o protocol.asker_final_tokens=4000",
            paint(NOTE.bold(), "tokens:")
        ));
    }
    let unpriced: Vec<&str> = settings
        .models
        .iter()
        .filter(|(_, model)| model.price.is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    if settings.run.budget_usd.is_some() && !unpriced.is_empty() {
        note(format_args!(
            "{} models without a price are not counted: {}",
            paint(NOTE.bold(), "budget:"),
            unpriced.join(", ")
        ));
    }
}

/// Shows what the plan would cost beyond the sessions that are already finished.
fn dry_run(
    as_json: bool,
    settings: &Settings,
    mut plan: Vec<PlannedSession>,
    path: &Path,
) -> Result<Exit, CliError> {
    let planned = plan.len();
    if path.join("run.toml").exists() {
        plan.retain(is_open(read_grades(path, STANDARD)?.iter(), &Index::read(path)?));
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
    data(tables::estimate(&estimate, settings));
    data(format_args!("\n{expected} expected, {most} at most, for models with a price"));
    note_unknown_prices(settings);
    note(paint(
        DIM,
        "calls are exact if every turn has its question; tokens and cost assume that replies use a quarter of their\n\
         token limit (all of it for the maximum); equivalence checks are not counted",
    ));
    Ok(Exit::Done)
}

/// The phases of a benchmark whose models do not all fit at once.
pub(crate) struct Phases {
    /// The first phase that was run, counted from 1.
    pub(crate) first: usize,
    /// The number of phases of the plan.
    pub(crate) count: usize,
    /// Models loaded.
    pub(crate) loads: usize,
    /// How long the phases took, with loading.
    pub(crate) took: Duration,
}

/// Shows all phases together, also those of earlier starts, from the run folder.
pub(crate) fn total(arguments: &Bench, phases: &Phases) -> Result<(), CliError> {
    let (_, settings, path) = load(arguments)?;
    let index = Index::read(&path)?;
    let grades = read_grades(&path, STANDARD)?;
    let current = grades.iter().filter(|line| is_current(&settings, &line.rules));
    let grades: HashMap<&str, _> = current
        .filter(|line| index.contains(&line.record))
        .map(|line| (line.record.as_str(), &line.grade))
        .collect();
    let (mut tally, mut open) = (Tally::default(), 0);
    for planned in plan(&settings, &Selection::default())? {
        match grades.get(planned.id.to_string().as_str()) {
            Some(grade) => tally.add(&planned.id.pair.to_string(), planned.id.sample, grade),
            None => open += 1,
        }
    }
    let used = Replies::open(&path)?.used()?;
    let seconds = phases.took.as_secs();
    if arguments.execution.json {
        let mut shown = tally_json(&settings, &path, &tally, open);
        for (key, value) in [
            ("used", json!(used)),
            ("phases", json!(phases.count)),
            ("first_phase", json!(phases.first)),
            ("loads", json!(phases.loads)),
            ("seconds", json!(seconds)),
        ] {
            shown[key] = value;
        }
        data(shown);
        return Ok(());
    }
    let range = match phases.first {
        1 => format!("{} phases", phases.count),
        first => format!("phases {first} to {}", phases.count),
    };
    let duration = indicatif::HumanDuration(Duration::from_secs(seconds));
    note(format_args!("\n{}", paint(BOLD, "all phases")));
    show_results(&settings, &tally, &used);
    data(format_args!("\n{range} with {} model loads in {duration}", phases.loads));
    if open > 0 {
        note(format_args!("\n{open} sessions are left"));
        hint("run the same command again to continue; no stored reply is requested again");
    }
    Ok(())
}

/// Outcomes, and what was used.
fn show_results(settings: &Settings, tally: &Tally, used: &BTreeMap<String, RoleUsage>) {
    let sessions = tally.sessions();
    data(format_args!(
        "{}\n",
        paint(BOLD, format_args!("{}: {sessions} sessions graded", settings.asker.model))
    ));
    data(tables::outcomes(&tally.shares()));
    data(format_args!("\n{}", tables::used(used)));
    note_unknown_prices(settings);
    for (count, what) in [
        (tally.promoted(), "an answer that the equivalence checker matched"),
        (tally.folded(), "a match that differs in case or white space and mathematically"),
        (tally.undecided(), "a comparison that stayed undecided and counts as no match"),
    ] {
        if count > 0 {
            note(format_args!("{count} sessions have {what}"));
        }
    }
}

fn show(arguments: &Bench, settings: &Settings, path: &Path, finished: &RunSummary) {
    show_results(settings, &finished.tally, &finished.used);
    report_unfinished(&finished.jobs, "sessions");
    note(paint(DIM, format_args!("stored in {}", path.display())));
    if let [first, .., last] = settings.solvers.as_slice()
        && finished.jobs.open == 0
    {
        let nano = settings
            .models
            .values()
            .any(|model| model.path.as_deref().is_some_and(|path| path.starts_with("builtin:")));
        let more = if nano { "; `aske nano table` shows what each model can do" } else { "" };
        let ask = ["aske", "ask", &first.model, &last.model].map(str::to_owned).into_iter();
        let ask = command(ask.chain(arguments.configuration.words()));
        note(paint(
            DIM,
            format_args!(
                "next: `aske report --html report.html` or `aske view` shows the results; `{ask}` shows a session \
                 live{more}"
            ),
        ));
    }
}

fn as_json(settings: &Settings, path: &Path, finished: &RunSummary) -> Json {
    let mut shown = tally_json(settings, path, &finished.tally, finished.jobs.open);
    shown["used"] = json!(finished.used);
    shown["failures"] = json!(failures_json(&finished.jobs, "sessions"));
    shown["budget_reached"] = json!(finished.jobs.budget_limit.map(|reached| reached.to_string()));
    shown
}

fn tally_json(settings: &Settings, path: &Path, tally: &Tally, open: usize) -> Json {
    json!({
        "run": path.display().to_string(),
        "asker": settings.asker.model,
        "sessions": tally.sessions(),
        "open": open,
        "outcomes": tally.shares(),
        "promoted": tally.promoted(),
        "folded": tally.folded(),
        "undecided": tally.undecided(),
    })
}
