//! `aske import`: rollouts that others have written, as a run.

use crate::arguments::{Configuration, Import};
use crate::live::until_signal;
use crate::output::{BAD, NOTE, data, hint, note, paint, safe};
use crate::problem::{Exit, Problem};
use crate::progress::Reading;
use aske_bench::manifest;
use aske_config::{Config, Layers, ModelSection, ProviderKind, Settings};
use aske_import::{ImportError, Imported, Key, Map, Named, Options, size};
use aske_record::NewRun;
use aske_session::{Domain, Pack};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Table;

/// What knows the paper's models and nothing else.
const MODELS: &str = "paper-models";
/// The cross-check solver, where nobody names it.
const CHECK: &str = "cross-check";
/// Lines that are read before Ctrl-C is looked for.
const LINES: usize = 16;

pub(crate) fn run(arguments: &Import) -> Result<Exit, Problem> {
    let config = base(arguments)?;
    let options = options(arguments, &config)?;
    let total = size(&arguments.files).map_err(failed)?;
    let run = NewRun::begin(&arguments.out)?;
    let Some(read) = until_signal(read(arguments, &options, run, total))? else {
        note("stopped; nothing was written");
        return Ok(Exit::Interrupted);
    };
    let (imported, run) = read.map_err(failed)?;
    let (layers, settings) = of_run(config, &imported, &arguments.out)?;
    run.finish(&manifest(env!("CARGO_PKG_VERSION"), &layers, &settings))?;
    if arguments.json {
        data(as_json(arguments, &imported));
    } else {
        show(arguments, &imported);
    }
    Ok(if imported.count.bad > 0 { Exit::Failures } else { Exit::Done })
}

async fn read(
    arguments: &Import,
    options: &Options,
    run: NewRun,
    total: u64,
) -> Result<(Imported, NewRun), ImportError> {
    let mut import = aske_import::Import::begin(&arguments.files, options, run)?;
    let reading = Reading::new(total);
    let mut lines = 0_usize;
    while import.step()? {
        lines += 1;
        if lines.is_multiple_of(LINES) {
            reading.at(import.read());
            tokio::task::yield_now().await;
        }
    }
    import.finish()
}

/// The configuration that the rollouts are read by.
fn base(arguments: &Import) -> Result<Config, Problem> {
    let configuration = Configuration {
        config: Some(arguments.config.clone().unwrap_or_else(|| MODELS.to_owned())),
        overrides: arguments.overrides.clone(),
        check: arguments.check.clone(),
        ..Configuration::default()
    };
    Ok(configuration.load(Vec::new())?.config().clone())
}

/// How rollouts are read: by the configuration's domain and prompts, and by all prompts that ship.
fn options(arguments: &Import, config: &Config) -> Result<Options, Problem> {
    let unknown = |name: &str| Named { name: name.to_owned(), original: name.to_owned() };
    let nobody = Imported {
        asker: unknown("asker"),
        solvers: vec![unknown("model-1"), unknown("model-2")],
        rounds: config.protocol.rounds,
        count: aske_import::Count::default(),
    };
    let (_, settings) = of_run(config.clone(), &nobody, &arguments.out)?;
    let domains =
        Domain::NAMES.iter().filter_map(|name| name.parse().ok()).map(|domain| Pack::builtin(&domain));
    let extra =
        Pack::EXTRA.into_iter().filter_map(Pack::extra_files).filter_map(|files| Pack::parse(&files).ok());
    let mut map = Map::default();
    for mapping in &arguments.map {
        map.set(mapping.clone());
    }
    Ok(Options {
        domain: settings.domain,
        packs: std::iter::once(settings.pack.as_ref().clone()).chain(domains).chain(extra).collect(),
        question_words: settings.protocol.question_words,
        rounds: arguments.rounds,
        asker: arguments.asker.clone(),
        map,
        strict: arguments.strict,
    })
}

/// The configuration of the run that was imported: who took part, and how many rounds there were.
fn of_run(mut config: Config, imported: &Imported, out: &Path) -> Result<(Layers, Settings), Problem> {
    let set = config.boundary.set.take().and_then(|name| config.sets.get(&name));
    let mut known = config.boundary.solvers.clone();
    known.extend(set.into_iter().flat_map(|set| set.solvers.clone()));
    let place = |named: &&Named| {
        let place = known.iter().position(|name| *name == named.name).unwrap_or(known.len());
        let params = config.models.get(&named.name).and_then(|model| model.params).unwrap_or(f64::INFINITY);
        (place, params)
    };
    let mut solvers: Vec<&Named> = imported.solvers.iter().collect();
    solvers.sort_by(|one, two| place(one).partial_cmp(&place(two)).unwrap_or(std::cmp::Ordering::Equal));
    config.boundary.solvers = solvers.iter().map(|named| named.name.clone()).collect();
    config.asker.model = Some(imported.asker.name.clone());
    let check = config.check.model.get_or_insert_with(|| CHECK.to_owned()).clone();
    config.protocol.rounds = imported.rounds;
    config.check.draws = imported.count.check_draws.max(1);
    let check = Named { name: check.clone(), original: check };
    for named in solvers.into_iter().chain([&imported.asker, &check]) {
        config.models.entry(named.name.clone()).or_insert_with(|| ModelSection {
            provider: Some(ProviderKind::Imported),
            model: (named.original != named.name).then(|| named.original.clone()),
            ..ModelSection::default()
        });
    }
    let table = Table::try_from(&config)
        .map_err(|error| Problem::usage(error.to_string(), "is a value of --config out of range?"))?;
    let layers = Layers::of_run(table, &out.join("run.toml"), None, std::iter::empty(), &[])?;
    let settings = layers.settings()?;
    Ok((layers, settings))
}

fn show(arguments: &Import, imported: &Imported) {
    let Imported { asker, solvers, rounds, count } = imported;
    let out = arguments.out.display();
    data(format_args!(
        "{out}: {} sessions of {} with {} solvers and {rounds} rounds, {} graded",
        count.sessions,
        asker.name,
        solvers.len(),
        count.graded
    ));
    let missing = count.gaps.iter().map(|(gap, number)| ("not known:", format!("{number} {gap}")));
    let left = count.left.iter().map(|(left, number)| ("left out:", format!("{number} {left}")));
    let unfound = unfound(imported)
        .map(|key| ("not found:", format!("no rollout has what --map names for {}", key.as_str())));
    for (what, text) in left.chain(missing).chain(unfound) {
        note(format_args!("{} {text}", paint(NOTE.bold(), what)));
    }
    for bad in &count.bad_lines {
        note(format_args!("{} {}", paint(BAD.bold(), "skipped:"), safe(&bad.to_string())));
    }
    if count.bad > count.bad_lines.len() as u64 {
        note(format_args!("{} {} lines in all", paint(BAD.bold(), "skipped:"), count.bad));
    }
    hint(format_args!("`aske report {out}` and `aske view {out}` show what the run tells"));
}

fn unfound(imported: &Imported) -> impl Iterator<Item = Key> {
    imported.count.unfound.iter().flatten().copied()
}

fn as_json(arguments: &Import, imported: &Imported) -> Value {
    let Imported { asker, solvers, rounds, count } = imported;
    json!({
        "run": arguments.out.display().to_string(),
        "asker": asker.name,
        "solvers": solvers.iter().map(|named| &named.name).collect::<Vec<_>>(),
        "rounds": rounds,
        "sessions": count.sessions,
        "graded": count.graded,
        "left_out": named(&count.left),
        "not_known": named(&count.gaps),
        "not_found": unfound(imported).map(Key::as_str).collect::<Vec<_>>(),
        "skipped": count.bad,
        "bad_lines": count.bad_lines,
    })
}

/// Counts by the names of what was counted.
fn named<K: Serialize>(counts: &BTreeMap<K, u64>) -> Value {
    counts.iter().filter_map(|(key, count)| Some((json!(key).as_str()?.to_owned(), json!(count)))).collect()
}

fn failed(error: ImportError) -> Problem {
    match error {
        ImportError::Run(error) => error.into(),
        error => Problem {
            message: safe(&error.to_string()),
            hint: error.hint().map(str::to_owned),
            exit: Exit::Usage,
        },
    }
}
