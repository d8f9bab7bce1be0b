//! `aske import`: rollouts written by verifiers, as a run.

use crate::arguments::{Configuration, Import};
use crate::error::{CliError, Exit};
use crate::output::{BAD, NOTE, data, hint, note, paint, safe};
use crate::runs::folders::run_manifest;
use crate::runs::progress::ByteProgress;
use crate::runtime::until_signal;
use aske_config::{Config, Layers, ModelSection, ProviderKind, Settings};
use aske_import::{Field, FieldMap, ImportError, ImportOptions, ImportSummary, ModelName, size};
use aske_record::NewRun;
use aske_report::number::counted;
use aske_session::{Domain, Pack};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Table;

/// The built-in configuration with the paper's models alone.
const MODELS: &str = "paper-models";
/// Name of the cross-check solver if none is given.
const CHECK: &str = "cross-check";
/// Lines between two checks for Ctrl-C.
const LINES: usize = 16;

pub(crate) fn run(arguments: &Import) -> Result<Exit, CliError> {
    let config = base(arguments)?;
    let options = options(arguments, &config)?;
    let total = size(&arguments.files)?;
    let run = NewRun::begin(&arguments.run)?;
    let Some(read) = until_signal(read(arguments, &options, run, total))? else {
        note("stopped; nothing was written");
        return Ok(Exit::Interrupted);
    };
    let (imported, run) = read?;
    let (layers, settings) = settings_of(config, &imported, &arguments.run)?;
    run.finish(&run_manifest(&layers, &settings))?;
    if arguments.json {
        data(as_json(arguments, &imported));
    } else {
        show(arguments, &imported);
    }
    Ok(if imported.count.bad > 0 { Exit::Failures } else { Exit::Done })
}

async fn read(
    arguments: &Import,
    options: &ImportOptions,
    run: NewRun,
    total: u64,
) -> Result<(ImportSummary, NewRun), ImportError> {
    let mut import = aske_import::Import::begin(&arguments.files, options, run)?;
    let progress = ByteProgress::new(total);
    let mut lines = 0_usize;
    while import.step()? {
        lines += 1;
        if lines.is_multiple_of(LINES) {
            progress.set(import.read());
            tokio::task::yield_now().await;
        }
    }
    import.finish()
}

/// The configuration that the rollouts are read with.
fn base(arguments: &Import) -> Result<Config, CliError> {
    let configuration = Configuration {
        config: Some(arguments.config.clone().unwrap_or_else(|| MODELS.to_owned())),
        overrides: arguments.overrides.clone(),
        check: arguments.check.clone(),
        ..Configuration::default()
    };
    Ok(configuration.load(Vec::new())?.config().clone())
}

/// How rollouts are read: with the configuration's domain and prompts, and all built-in prompts.
fn options(arguments: &Import, config: &Config) -> Result<ImportOptions, CliError> {
    let unknown = |name: &str| ModelName { name: name.to_owned(), original: name.to_owned() };
    let placeholder = ImportSummary {
        asker: unknown("asker"),
        solvers: vec![unknown("model-1"), unknown("model-2")],
        rounds: config.protocol.rounds,
        count: aske_import::ImportStats::default(),
    };
    let (_, settings) = settings_of(config.clone(), &placeholder, &arguments.run)?;
    let domains =
        Domain::NAMES.iter().filter_map(|name| name.parse().ok()).map(|domain| Pack::builtin(&domain));
    let extra =
        Pack::EXTRA.into_iter().filter_map(Pack::extra_files).filter_map(|files| Pack::parse(&files).ok());
    let mut map = FieldMap::default();
    for mapping in &arguments.map {
        map.set(mapping.clone());
    }
    Ok(ImportOptions {
        domain: settings.domain,
        packs: std::iter::once(settings.pack.as_ref().clone()).chain(domains).chain(extra).collect(),
        question_words: settings.protocol.question_words,
        rounds: arguments.rounds,
        asker: arguments.asker.clone(),
        map,
        strict: arguments.strict,
    })
}

/// The configuration of the imported run: its models and number of rounds.
fn settings_of(
    mut config: Config,
    imported: &ImportSummary,
    out: &Path,
) -> Result<(Layers, Settings), CliError> {
    let set = config.boundary.set.take().and_then(|name| config.sets.get(&name));
    let mut known = config.boundary.solvers.clone();
    known.extend(set.into_iter().flat_map(|set| set.solvers.clone()));
    let place = |named: &&ModelName| {
        let place = known.iter().position(|name| *name == named.name).unwrap_or(known.len());
        let params = config.models.get(&named.name).and_then(|model| model.params).unwrap_or(f64::INFINITY);
        (place, params)
    };
    let mut solvers: Vec<&ModelName> = imported.solvers.iter().collect();
    solvers.sort_by(|one, two| place(one).partial_cmp(&place(two)).unwrap_or(std::cmp::Ordering::Equal));
    config.boundary.solvers = solvers.iter().map(|named| named.name.clone()).collect();
    config.asker.model = Some(imported.asker.name.clone());
    let check = config.check.model.get_or_insert_with(|| CHECK.to_owned()).clone();
    config.protocol.rounds = imported.rounds;
    config.check.draws = imported.count.check_draws.max(1);
    let check = ModelName { name: check.clone(), original: check };
    for named in solvers.into_iter().chain([&imported.asker, &check]) {
        config.models.entry(named.name.clone()).or_insert_with(|| ModelSection {
            provider: Some(ProviderKind::Imported),
            model: (named.original != named.name).then(|| named.original.clone()),
            ..ModelSection::default()
        });
    }
    let table = Table::try_from(&config)
        .map_err(|error| CliError::usage(error.to_string(), "is a value of --config out of range?"))?;
    let layers = Layers::of_run(table, &out.join("run.toml"), None, std::iter::empty(), &[])?;
    let settings = layers.settings()?;
    Ok((layers, settings))
}

fn show(arguments: &Import, imported: &ImportSummary) {
    let ImportSummary { asker, solvers, rounds, count } = imported;
    let out = arguments.run.display();
    data(format_args!(
        "{out}: {} of {} with {} and {}, {} graded",
        counted(count.sessions, "session"),
        asker.name,
        counted(solvers.len(), "solver"),
        counted(*rounds, "round"),
        count.graded
    ));
    let missing = count.gaps.iter().map(|(gap, number)| ("unknown:", format!("{number} {gap}")));
    let left = count.left.iter().map(|(left, number)| ("left out:", format!("{number} {left}")));
    let unfound = unfound(imported)
        .map(|key| ("not found:", format!("no rollout has the field that --map names for {}", key.as_str())));
    for (what, text) in left.chain(missing).chain(unfound) {
        note(format_args!("{} {text}", paint(NOTE.bold(), what)));
    }
    for bad in &count.bad_lines {
        note(format_args!("{} {}", paint(BAD.bold(), "skipped:"), safe(&bad.to_string())));
    }
    if count.bad > count.bad_lines.len() as u64 {
        note(format_args!("{} {} in all", paint(BAD.bold(), "skipped:"), counted(count.bad, "line")));
    }
    hint(format_args!("`aske report {out}` and `aske view {out}` show the results"));
}

fn unfound(imported: &ImportSummary) -> impl Iterator<Item = Field> {
    imported.count.unfound.iter().flatten().copied()
}

fn as_json(arguments: &Import, imported: &ImportSummary) -> Value {
    let ImportSummary { asker, solvers, rounds, count } = imported;
    json!({
        "run": arguments.run.display().to_string(),
        "asker": asker.name,
        "solvers": solvers.iter().map(|named| &named.name).collect::<Vec<_>>(),
        "rounds": rounds,
        "sessions": count.sessions,
        "graded": count.graded,
        "left_out": named(&count.left),
        "not_known": named(&count.gaps),
        "not_found": unfound(imported).map(Field::as_str).collect::<Vec<_>>(),
        "skipped": count.bad,
        "bad_lines": count.bad_lines,
    })
}

/// Counts by name.
fn named<K: Serialize>(counts: &BTreeMap<K, u64>) -> Value {
    counts.iter().filter_map(|(key, count)| Some((json!(key).as_str()?.to_owned(), json!(count)))).collect()
}
