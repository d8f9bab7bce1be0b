//! `aske bench`: the benchmark.

use crate::arguments::Bench;
use crate::display::{caveats, tables};
use crate::error::{CliError, Exit};
use crate::output::{BOLD, DIM, NOTE, data, hint, note, paint, width, wrapped};
use crate::runs::execute::{Amount, Target, with_progress};
use crate::runs::folders::{self, Place};
use crate::runs::probe::{Probing, of_plan};
use crate::runs::servers::{Hosting, Servers, during};
use crate::runs::summary::{
    exit_status, failures_json, note_outdated_grades, note_unknown_prices, report_left, report_unfinished,
};
use crate::runtime::runtime;
use crate::shell::command;
use aske_bench::{
    PlannedSession, RunSummary, Runner, Selection, StopRule, estimate, is_current, is_finished, plan,
    run_adaptive, selected_pairs,
};
use aske_config::{Layers, ProviderKind, Settings};
use aske_evidence::{Caveats, Run, Tally};
use aske_record::{GradeLine, Index, PairId, Replies, RoleUsage, RunDir, STANDARD, read_grades};
use aske_report::number::counted;
use aske_session::Outcome;
use aske_stats::{half_width_of, sessions_for};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::Duration;
use toml::Value;

/// Sessions up to which the validity of the result is checked at the end: the checks keep every final question in memory.
const MAX_CHECKED: usize = 10_000;

/// Fewer tokens are too few for the reply of a language model that thinks.
const SHORT_REPLY: u32 = 500;

pub(crate) fn run(arguments: &Bench) -> Result<Exit, CliError> {
    runtime()?.block_on(execute(arguments))
}

/// The configuration with the flags of this command, and the run folder.
fn load(arguments: &Bench) -> Result<(Layers, Settings, Place), CliError> {
    let mut flags = vec![("--samples", "run.samples", arguments.samples.map(|n| Value::Integer(n.into())))];
    flags.extend(arguments.execution.flags());
    let layers = arguments.configuration.load_for(arguments.run.as_deref(), flags)?;
    let settings = layers.settings()?;
    let place = match &arguments.run {
        Some(path) => Place::named(path),
        None => Place::of(folders::default_folder(&layers, &settings), || {
            folders::bench_manifest(&layers, &settings)
        })?,
    };
    Ok((layers, settings, place))
}

/// Runs the benchmark; `aske fleet bench` calls it for each phase.
pub(crate) async fn execute(arguments: &Bench) -> Result<Exit, CliError> {
    let (layers, settings, place) = load(arguments)?;
    place.announce(&settings, arguments.execution.new || arguments.execution.dry_run)?;
    let path = place.path;
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
    let probing = Probing { settings: &settings, models: &models, skip: arguments.execution.no_probe };
    let folder = probing
        .open(&path, || folders::open_with(&path, &manifest), |folder| of_plan(&settings, &plan, folder))
        .await?;
    let count = |keep: fn(&Settings, &GradeLine) -> bool| {
        let grades = folder.grades().iter().filter(|line| keep(&settings, line));
        let is_open = is_open(grades, folder.index());
        plan.iter().filter(|planned| is_open(planned)).count()
    };
    announce(&settings, &plan, count(|_, _| true), &folder);
    let to_do = count(|settings, line| is_current(settings, &line.rules));
    let target = Target { settings: &settings, models: &models, folder: &folder };
    let amount = Amount { finished: plan.len() - to_do, open: to_do };
    let work = with_progress(amount, "sessions", target, async |context, progress| {
        Runner::new(context).run(&plan, progress).await
    });
    let (finished, interrupt) = during(servers.as_ref().filter(|_| to_do > 0), &path, work).await?;
    let names: HashSet<String> = plan.iter().map(|planned| planned.id.to_string()).collect();
    let caveats = read_caveats(&path, folder.index().len().max(plan.len()), |name| names.contains(name));
    if arguments.execution.json {
        data(as_json(&settings, &path, &finished, caveats.as_ref()));
    } else {
        show(arguments, &settings, &path, &finished, caveats.as_ref());
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
            "give the half-width in percentage points, between 0 and 50, such as 2.0",
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
                "{} are too few: an adaptive run starts with two for every pair",
                counted(until.max_sessions, "session")
            ),
            format!("allow at least {} with --limit or --samples", 2 * pairs.len()),
        ));
    }
    let servers = Servers::find(settings, Hosting::of(&arguments.serving))?;
    let models = Servers::registry(servers.as_ref(), settings, path)?;
    let sessions = if path.join("run.toml").exists() { 0 } else { until.max_sessions };
    warn_of_width(points, sessions, pairs.len());
    let probing = Probing { settings, models: &models, skip: arguments.execution.no_probe };
    let folder = probing
        .open(
            path,
            || folders::open_with(path, &folders::bench_manifest(layers, settings)),
            |folder| {
                let solvers: HashSet<&str> = pairs.iter().flat_map(PairId::both).collect();
                let solvers = settings.solvers.iter().filter(|role| solvers.contains(role.model.as_str()));
                let checker = settings.equivalence.as_ref().map(|(role, _)| role);
                let roles =
                    [&settings.asker, &settings.check].into_iter().chain(checker).chain(solvers).collect();
                let Some(folder) = folder else { return Ok(roles) };
                let index = folder.index();
                let current = folder
                    .grades()
                    .iter()
                    .filter(|line| index.contains(&line.record) && is_current(settings, &line.rules));
                let outcomes: HashMap<&str, bool> = current
                    .map(|line| (line.record.as_str(), line.grade.outcome == Outcome::Calibrated))
                    .collect();
                let calibrated = |record: &str| outcomes.get(record).copied();
                let finished = is_finished(settings, pairs.len(), until, &folder.draws()?.1, calibrated);
                Ok(if finished { Vec::new() } else { roles })
            },
        )
        .await?;
    note_outdated_grades(settings, folder.grades());
    let draws = folder.draws()?;
    note(format_args!(
        "{} asks {} until the interval is ± {points} points, in {} at most; into {}",
        settings.asker.model,
        counted(settings.solvers.len(), "solver"),
        counted(until.max_sessions, "session"),
        path.display()
    ));
    let target = Target { settings, models: &models, folder: &folder };
    let amount = Amount { finished: 0, open: until.max_sessions };
    let work = with_progress(amount, "sessions at most", target, async |context, progress| {
        run_adaptive(&Runner::new(context), settings, &pairs, until, &draws, progress).await
    });
    let (stopped, interrupt) = during(servers.as_ref(), path, work).await?;
    let caveats = read_caveats(path, folder.index().len().max(until.max_sessions), |_| true);
    if arguments.execution.json {
        let mut shown = as_json(settings, path, &stopped.run, caveats.as_ref());
        shown["estimate"] = json!(stopped.estimate);
        shown["narrow_enough"] = json!(stopped.narrow_enough);
        data(shown);
    } else {
        show(arguments, settings, path, &stopped.run, caveats.as_ref());
        if let Some(estimate) = &stopped.estimate {
            data(format_args!("\n{}", tables::adaptive(estimate)));
        }
        if !stopped.narrow_enough && stopped.run.jobs.open == 0 {
            note(format_args!(
                "reached the limit of {} before ± {points} points",
                counted(until.max_sessions, "session")
            ));
            hint("raise --samples or --limit to continue");
        }
    }
    Ok(exit_status(&stopped.run.jobs, &interrupt))
}

/// Says before any call if a new plan may be too small for the wished half-width.
fn warn_of_width(points: f64, sessions: usize, pairs: usize) {
    let needed = sessions_for(points / 100.0).ceil();
    if sessions == 0 || sessions as f64 >= needed {
        return;
    }
    note(format_args!(
        "{} ± {points} points need {needed:.0} sessions if half of them are calibrated, fewer the more the pairs differ; this plan \
         has {sessions} at most, enough for ± {:.1}",
        paint(NOTE.bold(), "width:"),
        100.0 * half_width_of(sessions as f64),
    ));
    hint(format_args!("--samples {} allows as many", (needed / pairs.max(1) as f64).ceil()));
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
        _ => format!("{} and a final question each", counted(settings.protocol.rounds, "round")),
    };
    note(format_args!(
        "{} asks {}: {}, {state}; into {}",
        settings.asker.model,
        counted(settings.solvers.len(), "solver"),
        counted(plan.len(), "session"),
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
    data(format_args!(
        "{}, {}, into {}\n",
        counted(plan.len(), "session"),
        counted(estimate.calls(), "call"),
        path.display()
    ));
    if finished > 0 {
        let are = if finished == 1 { "is" } else { "are" };
        note(format_args!("{} of the plan {are} finished there", counted(finished, "more session")));
    }
    data(tables::estimate(&estimate, settings));
    data(format_args!("\n{expected} expected, {most} at most, for models with a price"));
    note_unknown_prices(settings);
    let about = "calls are exact if every turn has its question; tokens and cost assume that replies use a quarter of \
                 their token limit (all of it for the maximum); equivalence checks are not counted";
    note(paint(DIM, wrapped(about, width()).join("\n")));
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
    let (_, settings, Place { path, .. }) = load(arguments)?;
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
    let caveats = read_caveats(&path, index.len(), |_| true);
    let used = Replies::open(&path)?.used()?;
    let seconds = phases.took.as_secs();
    if arguments.execution.json {
        let mut shown = tally_json(&settings, &path, &tally, open, caveats.as_ref());
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
        1 => counted(phases.count, "phase"),
        first => format!("phases {first} to {}", phases.count),
    };
    let duration = indicatif::HumanDuration(Duration::from_secs(seconds));
    note(format_args!("\n{}", paint(BOLD, "all phases")));
    show_results(&settings, &tally, &used, caveats.as_ref());
    data(format_args!("\n{range} with {} in {duration}", counted(phases.loads, "model load")));
    if open > 0 {
        report_left("", open, "sessions");
    }
    Ok(())
}

/// What belongs next to the result, over the sessions of a folder whose names satisfy `keep`. None if there may be more than
/// [`MAX_CHECKED`] or the folder cannot be read, which is noted.
fn read_caveats(path: &Path, sessions: usize, keep: impl Fn(&str) -> bool) -> Option<Caveats> {
    if sessions > MAX_CHECKED {
        note(format_args!(
            "more than {MAX_CHECKED} sessions: `aske report` checks the validity of the result"
        ));
        return None;
    }
    match Run::read(path, None) {
        Ok(mut run) => {
            run.retain_sessions(keep);
            Some(aske_evidence::caveats(&run))
        }
        Err(error) => {
            note(format_args!("the validity of the result was not checked: {error}"));
            None
        }
    }
}

/// Outcomes with what belongs next to them, and what was used.
fn show_results(
    settings: &Settings,
    tally: &Tally,
    used: &BTreeMap<String, RoleUsage>,
    caveats: Option<&Caveats>,
) {
    let sessions = tally.sessions();
    data(format_args!(
        "{}\n",
        paint(BOLD, format_args!("{}: {} graded", settings.asker.model, counted(sessions, "session")))
    ));
    caveats::outcomes(&tally.shares(), tally.pairs(), caveats);
    if caveats.is_some_and(|caveats| !caveats.findings.is_empty()) {
        note(paint(DIM, "`aske report` lists every check with example sessions"));
    }
    data(format_args!("\n{}", tables::used(used)));
    note_unknown_prices(settings);
    for (count, what) in [
        (tally.promoted(), "an answer that the equivalence checker matched"),
        (tally.folded(), "a match that differs in case or white space and mathematically"),
        (tally.undecided(), "a comparison that stayed undecided and counts as no match"),
    ] {
        if count > 0 {
            let have = if count == 1 { "has" } else { "have" };
            note(format_args!("{} {have} {what}", counted(count, "session")));
        }
    }
}

fn show(
    arguments: &Bench,
    settings: &Settings,
    path: &Path,
    finished: &RunSummary,
    caveats: Option<&Caveats>,
) {
    show_results(settings, &finished.tally, &finished.used, caveats);
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

fn as_json(settings: &Settings, path: &Path, finished: &RunSummary, caveats: Option<&Caveats>) -> Json {
    let mut shown = tally_json(settings, path, &finished.tally, finished.jobs.open, caveats);
    shown["used"] = json!(finished.used);
    shown["failures"] = json!(failures_json(&finished.jobs, "sessions"));
    shown["budget_reached"] = json!(finished.jobs.budget_limit.map(|reached| reached.to_string()));
    shown
}

fn tally_json(
    settings: &Settings,
    path: &Path,
    tally: &Tally,
    open: usize,
    caveats: Option<&Caveats>,
) -> Json {
    json!({
        "run": path.display().to_string(),
        "asker": settings.asker.model,
        "sessions": tally.sessions(),
        "open": open,
        "outcomes": tally.shares(),
        "caveats": caveats,
        "promoted": tally.promoted(),
        "folded": tally.folded(),
        "undecided": tally.undecided(),
    })
}
