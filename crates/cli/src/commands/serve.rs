//! `aske serve`: the environment or local models over HTTP.

use crate::arguments::{Serve, ServeCommand, ServeEnv, ServeModels};
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use crate::runs::folders;
use crate::runs::models::{dialogue, named};
use crate::runtime::{runtime, shutdown_signal};
use aske_bench::ModelRegistry;
use aske_config::{ModelSection, ProviderKind, Settings};
use aske_http::Server;
use aske_record::RunDir;
use aske_serve::{Environment, History, Models, SessionLimits, serve, serve_models};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) fn run(arguments: &Serve) -> Result<Exit, CliError> {
    match &arguments.command {
        ServeCommand::Env(env) => environment(env),
        ServeCommand::Models(arguments) => models(arguments),
    }
}

fn environment(arguments: &ServeEnv) -> Result<Exit, CliError> {
    let layers = arguments.configuration.or_nano_train().load(Vec::new())?;
    let settings = layers.settings()?;
    let path = arguments.run.clone().unwrap_or_else(|| folders::next_free("env").0);
    let folder = folders::open(&path, &layers, &settings)?;
    let state = arguments.state.clone().unwrap_or_else(|| path.join("diversity"));
    let history = History::open(&state, &layers.config().train)?;
    let limits =
        SessionLimits { sessions: arguments.sessions, idle: Duration::from_mins(arguments.idle_minutes) };
    let description = describe(&settings, &folder);
    let environment = Environment::new(settings, folder, history, limits)?;
    let ready = |server: &Server| {
        data(format_args!("http://{}", server.address()));
        note(description);
    };
    let http = arguments.listen.options(8078)?;
    runtime()?.block_on(async { serve(environment, http, ready, shutdown_signal()).await })?;
    Ok(Exit::Done)
}

fn models(arguments: &ServeModels) -> Result<Exit, CliError> {
    let mut layers = arguments.source.load()?;
    let names = named(&mut layers, &arguments.names)?;
    let config = layers.config();
    let mut sections: BTreeMap<String, ModelSection> = if arguments.names.is_empty() {
        let here = |section: &ModelSection| {
            matches!(section.provider, Some(ProviderKind::Local | ProviderKind::Llama))
        };
        layers.settings()?.models.into_iter().filter(|(_, section)| here(section)).collect()
    } else {
        let section = |name: String| Some((name.clone(), config.models.get(&name)?.clone()));
        names.into_iter().filter_map(section).collect()
    };
    if let Some((name, _)) =
        sections.iter().find(|(_, section)| section.provider == Some(ProviderKind::Openai))
    {
        let hint = "name models whose provider is `local` or `llama`; `aske models` lists them";
        return Err(CliError::usage(format!("`{name}` is a remote model that is already served"), hint));
    }
    if sections.is_empty() {
        let hint = "name one, or choose a configuration: `--config nano` or `--config local`";
        return Err(CliError::usage("this configuration has no local model", hint));
    }
    let names: Vec<&str> = sections.keys().map(String::as_str).collect();
    note(format_args!("loading {}", names.join(", ")));
    for section in sections.values_mut() {
        // Engines schedule requests fairly; a queue in front of them would not.
        section.limits.concurrency = usize::MAX;
        if arguments.no_instruction {
            section.instruction = None;
        }
    }
    let registry = ModelRegistry::from_sections(&sections, config.run.concurrency, &dialogue(config))?;
    let models = Models::new(&registry, &sections, arguments.max_tokens);
    let http = arguments.listen.options(8079)?;
    let key = if http.access.is_required() { "the API key is the token" } else { "any API key works" };
    let ready = |server: &Server| {
        data(format_args!("http://{}/v1", server.address()));
        note(format_args!("OpenAI-compatible, with streaming; {key}; stop with Ctrl-C"));
    };
    runtime()?.block_on(async { serve_models(models, http, ready, shutdown_signal()).await })?;
    Ok(Exit::Done)
}

fn describe(settings: &Settings, folder: &RunDir) -> String {
    let check = &settings.check.model;
    let judge = if *check == settings.asker.model { "the trainer's policy" } else { check.as_str() };
    let (solvers, path) = (settings.solvers.len(), folder.path().display());
    format!("{solvers} boundary solvers, checked by {judge}; into {path}; stop with Ctrl-C")
}
