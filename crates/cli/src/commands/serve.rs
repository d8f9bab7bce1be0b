//! `aske serve`: the environment, or models, over HTTP.

use crate::arguments::{Serve, ServeCommand, ServeEnv, ServeModels};
use crate::commands::ask::next_free;
use crate::commands::bench::open_folder;
use crate::commands::models::{chosen, dialogue};
use crate::commands::train::with_default;
use crate::live::{runtime, wait_for_signal};
use crate::output::{data, note};
use crate::problem::{Exit, Problem};
use aske_bench::Fleet;
use aske_config::{ModelSection, ProviderKind, Settings};
use aske_record::RunDir;
use aske_serve::{Environment, History, Models, Options, ServeError, serve, serve_models};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

pub(crate) fn run(arguments: &Serve) -> Result<Exit, Problem> {
    match &arguments.command {
        ServeCommand::Env(env) => environment(env),
        ServeCommand::Models(arguments) => models(arguments),
    }
}

fn environment(arguments: &ServeEnv) -> Result<Exit, Problem> {
    let layers = with_default(&arguments.configuration).load(Vec::new())?;
    let settings = layers.settings()?;
    let path = arguments.run.clone().unwrap_or_else(|| next_free("env").0);
    let folder = open_folder(&path, &layers, &settings)?;
    let state = arguments.state.clone().unwrap_or_else(|| path.join("diversity"));
    let history = History::open(&state, &layers.config().train).map_err(|error| problem(&error))?;
    let options = Options { sessions: arguments.sessions, idle: Duration::from_mins(arguments.idle_minutes) };
    let told = about(&settings, &folder);
    let environment =
        Environment::new(settings, folder, history, options).map_err(|error| problem(&error))?;
    let ready = |address: SocketAddr| {
        data(format_args!("http://{address}"));
        note(told);
        if !address.ip().is_loopback() {
            note("whoever reaches this address can spend on your models");
        }
    };
    let place = SocketAddr::new(arguments.host, arguments.port);
    runtime()?
        .block_on(serve(environment, place, ready, wait_for_signal()))
        .map_err(|error| problem(&error))?;
    Ok(Exit::Done)
}

fn models(arguments: &ServeModels) -> Result<Exit, Problem> {
    let layers = arguments.configuration.load(Vec::new())?;
    let config = layers.config();
    let sections: BTreeMap<String, ModelSection> = if arguments.names.is_empty() {
        let here = |section: &ModelSection| {
            matches!(section.provider, Some(ProviderKind::Local | ProviderKind::Llama))
        };
        layers.settings()?.models.into_iter().filter(|(_, section)| here(section)).collect()
    } else {
        let names = chosen(config, &arguments.names)?;
        let section = |name: &str| Some((name.to_owned(), config.models.get(name)?.clone()));
        names.into_iter().filter_map(section).collect()
    };
    if let Some((name, _)) =
        sections.iter().find(|(_, section)| section.provider == Some(ProviderKind::Openai))
    {
        let hint = "name models whose provider is `local` or `llama`; `aske models` lists them";
        return Err(Problem::usage(format!("`{name}` runs elsewhere: it is served there already"), hint));
    }
    if sections.is_empty() {
        let hint = "name one, or choose a configuration: `--config nano` or `--config local`";
        return Err(Problem::usage("no model of this configuration runs in this process", hint));
    }
    let names: Vec<&str> = sections.keys().map(String::as_str).collect();
    note(format_args!("loading {}", names.join(", ")));
    let fleet = Fleet::of(&sections, config.run.concurrency, &dialogue(config))?;
    let models = Models::new(&fleet, &sections, arguments.max_tokens);
    let ready = |address: SocketAddr| {
        data(format_args!("http://{address}/v1"));
        note("OpenAI-compatible, with streaming; any key will do; Ctrl-C ends it");
        if !address.ip().is_loopback() {
            note("whoever reaches this address can use your machine");
        }
    };
    let place = SocketAddr::new(arguments.host, arguments.port);
    runtime()?
        .block_on(serve_models(models, place, ready, wait_for_signal()))
        .map_err(|error| problem(&error))?;
    Ok(Exit::Done)
}

fn about(settings: &Settings, folder: &RunDir) -> String {
    let check = &settings.check.model;
    let judge = if *check == settings.asker.model { "the trainer's policy" } else { check.as_str() };
    let (solvers, path) = (settings.solvers.len(), folder.path().display());
    format!("{solvers} boundary solvers, judged by {judge}; into {path}; Ctrl-C ends it")
}

fn problem(error: &ServeError) -> Problem {
    let exit = if matches!(error, ServeError::Stopped(_)) { Exit::Failures } else { Exit::Usage };
    let (text, hint) = (error.to_string(), error.hint());
    let (message, hint) = match text.split_once("\nhint: ") {
        Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
        None => (text, hint),
    };
    Problem { message, hint, exit }
}
