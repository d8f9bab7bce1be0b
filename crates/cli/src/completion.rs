//! Completions of model, configuration, boundary set and run names, for the shells that `aske completions` sets up.

use crate::arguments::Arguments;
use aske_config::{Layers, config_names};
use clap::CommandFactory;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::CompleteEnv;
use std::ffi::OsStr;

/// The variable by which a shell asks for completions.
pub(crate) const VARIABLE: &str = "ASKE_COMPLETE";

/// Answers a shell that asks for completions, and ends the program; does nothing otherwise.
pub(crate) fn answer() {
    CompleteEnv::with_factory(Arguments::command).var(VARIABLE).complete();
}

/// Configured models, models of providers, and paths.
pub(crate) fn models() -> ArgValueCompleter {
    completer(PathCompleter::any(), |layers| {
        let config = layers.config();
        let providers = config.providers.iter().flat_map(|(name, provider)| {
            let models = provider.models.keys().filter(|model| !model.ends_with('*'));
            std::iter::once(format!("{name}/")).chain(models.map(move |model| format!("{name}/{model}")))
        });
        config.models.keys().cloned().chain(providers).collect()
    })
}

/// Boundary sets.
pub(crate) fn sets() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        matching(current, layers().map(|layers| layers.config().sets.keys().cloned().collect()))
    })
}

/// Built-in configurations, and files.
pub(crate) fn configurations() -> ArgValueCompleter {
    let files = PathCompleter::any()
        .filter(|path| path.is_dir() || path.extension().is_some_and(|ending| ending == "toml"));
    ArgValueCompleter::new(move |current: &OsStr| {
        let names = config_names().into_iter().map(str::to_owned).collect();
        joined(matching(current, Some(names)), files.complete(current))
    })
}

/// Providers.
pub(crate) fn providers() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        matching(current, layers().map(|layers| layers.config().providers.keys().cloned().collect()))
    })
}

/// Run folders in `runs/`, and other folders.
pub(crate) fn runs() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let entries = std::fs::read_dir("runs").into_iter().flatten().flatten();
        let runs = entries.map(|entry| entry.path()).filter(|path| path.join("run.toml").is_file());
        let mut names: Vec<String> = runs.map(|path| path.to_string_lossy().into_owned()).collect();
        names.sort();
        let runs = matching(current, Some(names));
        // A folder that is a run is complete; others may contain one.
        if runs.is_empty() { PathCompleter::dir().complete(current) } else { runs }
    })
}

fn completer(
    paths: PathCompleter,
    names: impl Fn(&Layers) -> Vec<String> + Send + Sync + 'static,
) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| {
        joined(matching(current, layers().map(|layers| names(&layers))), paths.complete(current))
    })
}

fn matching(current: &OsStr, names: Option<Vec<String>>) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let fitting = names.unwrap_or_default().into_iter().filter(|name| name.starts_with(&*current));
    fitting.map(CompletionCandidate::new).collect()
}

fn joined(mut names: Vec<CompletionCandidate>, paths: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    names.extend(paths);
    names
}

/// The configuration of the command line that is completed, if it can be read.
fn layers() -> Option<Layers> {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let after = |flag: &str| {
        let place = words.iter().rposition(|word| word == flag)?;
        words.get(place + 1).cloned()
    };
    let config = after("--config").or_else(|| after("-c"));
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Layers::load(config.as_deref(), environment, &[]).ok()
}
