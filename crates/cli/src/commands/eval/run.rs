//! `aske eval MODEL`: samples answers into a run folder and scores them.

use super::data;
use crate::arguments::{Configuration, EvalRun};
use crate::display::scores::show;
use crate::error::{CliError, Exit};
use crate::output::{DIM, NOTE, data as print, note, paint, safe};
use crate::runs::execute::{Amount, Target, with_progress};
use crate::runs::folders::{Place, open_with};
use crate::runs::named::{resolve, weights};
use crate::runs::probe::Probing;
use crate::runs::servers::{Hosting, Servers, during};
use crate::runs::summary::{SAMPLES, exit_status, failures_json, note_unknown_prices, report_unfinished};
use crate::runtime::runtime;
use aske_bench::{EquivalenceChecker, JobSummary, manifest_with};
use aske_config::{EvalSection, Layers, ProviderKind, Settings};
use aske_eval::{
    Dataset, EvalProtocol, Grading, Task, evaluate, identity, judged, plan, scores, unasked, unfinished,
};
use aske_evidence::Run;
use aske_record::{EvalRecord, Manifest, RunDir, read_records};
use aske_report::number::counted;
use aske_session::read_yes_no;
use serde_json::json;
use std::path::Path;
use toml::Value;

pub(super) fn run(arguments: &EvalRun) -> Result<Exit, CliError> {
    let (layers, settings) = configured(arguments)?;
    let section = &layers.config().eval;
    let datasets = data::read(&arguments.data)?;
    let tasks = plan(&datasets, section.samples, arguments.limit);
    let manifest = || manifest(&layers, &settings, &datasets);
    let place = match &arguments.run {
        Some(path) => Place::named(path),
        None => Place::of(Path::new("runs").join(format!("eval-{}", settings.asker.model)), manifest)?,
    };
    place.announce(&settings, arguments.execution.new || arguments.execution.dry_run)?;
    let path = place.path;
    let hosting = Hosting { answer_tokens: Some(section.max_tokens), ..Hosting::of(&arguments.serving) };
    let servers = Servers::find(&settings, hosting)?;
    if arguments.execution.dry_run {
        servers.iter().for_each(Servers::announce);
        return dry_run(arguments.execution.json, &path, &settings, section, &datasets, &tasks);
    }
    let models = Servers::registry(servers.as_ref(), &settings, &path)?;
    let probing = Probing { settings: &settings, models: &models, skip: arguments.execution.no_probe };
    let folder = runtime()?.block_on(probing.open(
        &path,
        || open_folder(&path, &manifest(), &settings, &datasets),
        |folder| {
            let records = folder.map(RunDir::records).transpose()?.unwrap_or_default();
            let stored = |id: &str| folder.is_some_and(|folder| folder.calls().known.contains(id));
            let ask = unasked(&tasks, records).iter().any(|task| !stored(&task.id()));
            let judge = settings.equivalence.as_ref().map(|(role, _)| role);
            let judge = judge.filter(|_| !unfinished(&tasks, records, true).is_empty());
            Ok(ask.then_some(&settings.asker).into_iter().chain(judge).collect())
        },
    ))?;
    let open = unfinished(&tasks, folder.records()?, settings.equivalence.is_some());
    let unasked = unasked(&tasks, folder.records()?).len();
    announce(&settings, &datasets, &tasks, unasked, &folder);
    if open.len() > unasked {
        note(format_args!(
            "{} graded by earlier rules or without the judge: graded again from stored replies",
            counted(open.len() - unasked, "sample")
        ));
    }
    let judge = settings
        .equivalence
        .as_ref()
        .and_then(|(role, tokens)| EquivalenceChecker::new(&models, role, *tokens, read_yes_no));
    let protocol = EvalProtocol {
        role: &settings.asker,
        tokens: section.max_tokens,
        instruction: section.instruction_for(&settings.models[&settings.asker.model]),
        judge: judge.as_ref(),
    };
    let target = Target { settings: &settings, models: &models, folder: &folder };
    let amount = Amount { finished: tasks.len() - open.len(), open: open.len() };
    let work = with_progress(amount, SAMPLES, target, async |context, progress| {
        evaluate(context, &protocol, &open, |_| progress.advance(), |_| progress.give_up()).await
    });
    let servers = servers.as_ref().filter(|_| !open.is_empty());
    let (ended, interrupt) = runtime()?.block_on(during(servers, &path, work))?;
    let used = folder.calls().used()?;
    drop(folder);
    let records = chosen(&path, &tasks)?;
    let scores = scores(&records);
    if arguments.execution.json {
        print(as_json(&path, &scores, &ended, &used));
    } else {
        show(&scores);
        print(format_args!("\n{}", crate::display::tables::used(&used)));
        note_unknown_prices(&settings);
        report_unfinished(&ended, SAMPLES);
        note(paint(DIM, format_args!("stored in {}", path.display())));
        if ended.open == 0 {
            note(paint(
                DIM,
                "next: `aske eval compare BASE TRAINED…` compares runs; `aske view` shows the replies",
            ));
        }
    }
    Ok(exit_status(&ended, &interrupt))
}

/// The configuration with the given model, and its settings.
fn configured(arguments: &EvalRun) -> Result<(Layers, Settings), CliError> {
    let configuration = Configuration {
        config: arguments.config.clone(),
        overrides: arguments.overrides.clone(),
        seed: arguments.seed,
        ..Configuration::default()
    };
    let number = |number: Option<u32>| number.map(|number| Value::Integer(number.into()));
    let text = |text: &Option<String>| text.clone().map(Value::String);
    let mut flags = vec![
        ("--samples", "eval.samples", number(arguments.samples)),
        ("--tokens", "eval.max_tokens", number(arguments.tokens)),
        ("--instruction", "eval.instruction", text(&arguments.instruction)),
        ("--judge", "eval.judge.model", text(&arguments.judge)),
    ];
    flags.extend(arguments.execution.flags());
    let mut layers = configuration.load(flags)?;
    let model = arguments.model.as_ref().map(|word| resolve(word, &mut layers)).transpose()?;
    let Some(name) = model.or_else(|| layers.config().asker.model.clone()) else {
        return Err(CliError::usage(
            "no model is named",
            "name one: aske eval MODEL; `aske models` lists them",
        ));
    };
    let settings = layers.eval_settings(&name)?;
    Ok((layers, settings))
}

/// Opens the run folder; fails if it holds sessions, other problems or another protocol.
fn open_folder(
    path: &Path,
    manifest: &Manifest,
    settings: &Settings,
    datasets: &[Dataset],
) -> Result<RunDir, CliError> {
    if let Some(there) = Manifest::read(path)? {
        if !there.is_eval() {
            return Err(CliError::usage(
                format!("{} holds a run of sessions", path.display()),
                "choose another folder with --run",
            ));
        }
        if let (None, Some((dataset, judge))) = (&settings.equivalence, judged(&there, datasets).first()) {
            return Err(CliError::usage(
                format!("{}: {dataset} is judged there by {}", path.display(), safe(judge)),
                "name the same judge with --judge, or choose another folder with --run",
            ));
        }
    }
    open_with(path, manifest)
}

/// What `run.toml` says about an evaluation with these settings.
fn manifest(layers: &Layers, settings: &Settings, datasets: &[Dataset]) -> Manifest {
    let mut keys = identity(&layers.config().eval, settings, datasets);
    let section = settings.models.get(&settings.asker.model);
    keys.extend(section.and_then(weights).map(|hash| ("weights".to_owned(), hash)));
    manifest_with(env!("CARGO_PKG_VERSION"), layers, settings, keys)
}

fn announce(settings: &Settings, datasets: &[Dataset], tasks: &[Task<'_>], open: usize, folder: &RunDir) {
    let state = match open {
        0 => "all finished before".to_owned(),
        open if open < tasks.len() => format!("{open} still to ask"),
        _ => "none asked yet".to_owned(),
    };
    let names: Vec<&str> = datasets.iter().map(|dataset| dataset.declaration.name.as_str()).collect();
    note(format_args!(
        "{} on {}: {}, {state}; into {}",
        settings.asker.model,
        names.join(", "),
        counted(tasks.len(), "sample"),
        folder.path().display()
    ));
    let section = settings.models.get(&settings.asker.model);
    if section.is_some_and(|section| {
        section.provider == Some(ProviderKind::Openai) && section.extra_body.is_empty()
    }) {
        note(format_args!(
            "{} whether {name} thinks is up to its server; `extra_body` in [models.{name}] can turn it off",
            paint(NOTE.bold(), "thinking:"),
            name = settings.asker.model
        ));
    }
    if settings.equivalence.is_none() {
        let wants = |dataset: &&Dataset| dataset.declaration.grading == Grading::Judge;
        for dataset in datasets.iter().filter(wants) {
            note(format_args!(
                "{} {} is graded by a judge in the paper; without --judge the symbolic comparison decides",
                paint(NOTE.bold(), "judge:"),
                dataset.declaration.name
            ));
        }
    }
}

/// Shows what the run would cost beyond the samples that are already finished.
fn dry_run(
    as_json: bool,
    path: &Path,
    settings: &Settings,
    section: &EvalSection,
    datasets: &[Dataset],
    tasks: &[Task<'_>],
) -> Result<Exit, CliError> {
    let records = if path.join("run.toml").exists() { read_records(path)? } else { Vec::new() };
    let open = unasked(tasks, &records).len();
    let most = open as u64 * u64::from(section.max_tokens);
    if as_json {
        print(json!({
            "run": path,
            "model": settings.asker.model,
            "datasets": datasets.iter().map(|dataset| json!({
                "name": dataset.declaration.name,
                "problems": dataset.problems.len(),
                "origin": dataset.origin(),
            })).collect::<Vec<_>>(),
            "samples": tasks.len(),
            "open": open,
            "tokens_at_most": most,
        }));
        return Ok(Exit::Done);
    }
    for dataset in datasets {
        let (name, count) = (&dataset.declaration.name, dataset.problems.len());
        print(format_args!("{name}: {}, from {}", counted(count, "problem"), dataset.origin()));
    }
    print(format_args!(
        "{open} of {} to ask of {}, {} written at most, into {}",
        counted(tasks.len(), "sample"),
        settings.asker.model,
        counted(most, "token"),
        path.display()
    ));
    Ok(Exit::Done)
}

/// The finished samples of this plan; the folder may have more.
fn chosen(path: &Path, tasks: &[Task<'_>]) -> Result<Vec<EvalRecord>, CliError> {
    let names: std::collections::HashSet<String> = tasks.iter().map(Task::id).collect();
    let samples = Run::read(path, None)?.evals.into_iter();
    Ok(samples.filter(|sample| names.contains(&sample.id())).collect())
}

fn as_json(
    path: &Path,
    scores: &aske_eval::Scores,
    ended: &JobSummary,
    used: &std::collections::BTreeMap<String, aske_record::RoleUsage>,
) -> serde_json::Value {
    json!({
        "run": path.display().to_string(),
        "scores": scores,
        "open": ended.open,
        "used": used,
        "failures": failures_json(ended, SAMPLES),
        "budget_reached": ended.budget_limit.map(|reached| reached.to_string()),
    })
}
