//! `aske init`: chooses a model, tries it, and writes `aske.toml`.

mod prompt;

use super::models::providers;
use crate::arguments::{Arguments, Command, Init};
use crate::error::{CliError, Exit};
use crate::output::{BOLD, data, hint, note, paint, safe_line, write};
use crate::runs::named::{
    address, at_address, blocking, is_listed, list, listed, resolve, single, unreachable,
};
use crate::runs::summary::is_price_unknown;
use crate::shell::set_this_command;
use aske_bench::{Selection, estimate, plan};
use aske_chat::Hint;
use aske_config::{Layers, ModelSection, Settings};
use aske_model::{ErrorCause, Halt, Limits, Request, redact_text};
use clap::Parser;
use std::path::Path;
use toml::Value;

const FILE: &str = "aske.toml";

/// The same until it is known to be valid.
const DRAFT: &str = "aske.toml.new";

/// The command that runs a few sessions.
const SMOKE_TEST: [&str; 4] = ["aske", "bench", "--limit", "5"];

/// What the model is asked, and the tokens that it may think and write.
const QUESTION: &str = "What is 2 + 3? Reply with the number alone.";
const REPLY_TOKENS: u32 = 1000;

/// Seconds that the reply may take; a server may have to load the model first.
const REPLY_SECONDS: f64 = 120.0;

/// Token limits of an asker that is not one of the built-in ones, which write far less.
const ASKER_TOKENS: u32 = 4000;

pub(crate) fn run(arguments: &Init) -> Result<Exit, CliError> {
    if Path::new(FILE).exists() && !arguments.force {
        return Err(CliError::usage(
            format!("{FILE} exists, and is left as it is"),
            "edit it, or replace it with `aske init --force`; `aske config` shows what it sets",
        ));
    }
    let mut layers = Layers::load(Some("nano"), crate::arguments::environment(), &[])?;
    let chosen = choose(arguments, &layers)?;
    let name = resolve(&chosen.asker, &mut layers)?;
    let section = layers.config().models.get(&name).cloned().unwrap_or_default();
    try_model(&chosen.asker, section)?;
    let settings = write_valid(&text(&chosen, layers.config().models.get(&name)))?;
    data(format_args!("wrote {FILE}"));
    smoke_test(arguments, &settings)
}

/// Writes the file if the configuration is valid; its settings.
fn write_valid(text: &str) -> Result<Settings, CliError> {
    let draft = Path::new(DRAFT);
    write(draft, text)?;
    let checked = Layers::load(Some(DRAFT), crate::arguments::environment(), &[])
        .and_then(|layers| layers.settings())
        .map_err(CliError::from)
        .and_then(|settings| {
            let renamed = std::fs::rename(draft, FILE);
            renamed.map_err(|error| CliError::failure(format_args!("{FILE}: {error}")))?;
            Ok(settings)
        });
    if checked.is_err() {
        // What is wrong with the configuration matters more.
        let _ = std::fs::remove_file(draft);
    }
    checked
}

/// The models that the file will name.
struct Chosen {
    asker: String,
    solvers: Vec<String>,
}

/// A server, and how its models are named.
struct Server {
    /// What stands in front of the name of a model.
    prefix: String,
    section: ModelSection,
    models: Vec<String>,
}

fn choose(arguments: &Init, layers: &Layers) -> Result<Chosen, CliError> {
    if let (None, None, Some(model)) = (&arguments.provider, &arguments.url, &arguments.model)
        && model.contains(['/', '#'])
    {
        return Ok(Chosen { asker: model.clone(), solvers: arguments.solvers.clone() });
    }
    if let (None, Some(url)) = (&arguments.model, &arguments.url)
        && url.split_once('#').is_some_and(|(_, model)| !model.is_empty())
    {
        return Ok(Chosen { asker: url.clone(), solvers: arguments.solvers.clone() });
    }
    let server = server(arguments, layers)?;
    let word = |model: &str| format!("{}{model}", server.prefix);
    let model = match &arguments.model {
        Some(model) => known(model, &server)?,
        None => choose_model(&server)?,
    };
    let mut solvers = Vec::new();
    for solver in &arguments.solvers {
        solvers.push(known(solver, &server)?);
    }
    if arguments.solvers.is_empty() && prompt::is_there() && server.models.len() > 2 {
        note(
            "Two or more boundary solvers, separated by commas; Enter for the built-in nano models, which cost nothing.",
        );
        solvers = prompt::choose_some("boundary solvers", &server.models)?;
    }
    if solvers.len() == 1 {
        return Err(CliError::usage("a pair needs two solvers", "name at least two with --solvers A,B"));
    }
    Ok(Chosen { asker: word(&model), solvers: solvers.iter().map(|model| word(model)).collect() })
}

/// The provider or the address, and the models that it offers.
fn server(arguments: &Init, layers: &Layers) -> Result<Server, CliError> {
    let given = arguments.url.clone().or_else(|| arguments.provider.clone());
    let word = match given {
        Some(word) => word,
        None => choose_provider(layers)?,
    };
    let (prefix, section) = if word.contains("://") {
        let url = word.trim_end_matches(['#', '/']).to_owned();
        (format!("{url}#"), at_address(&url))
    } else {
        let (name, section) = providers::find(&word, layers)?;
        (format!("{name}/"), section)
    };
    let models = match list("server", &section)? {
        Ok(models) => models.unwrap_or_default(),
        // Not every provider lists its models; the model that is named is tried anyway.
        Err(error)
            if arguments.model.is_some()
                && section.start.is_none()
                && !matches!(error.cause, ErrorCause::Network | ErrorCause::Timeout) =>
        {
            Vec::new()
        }
        Err(error) => return Err(unreachable(&section, &error)),
    };
    Ok(Server { prefix, section, models })
}

fn choose_provider(layers: &Layers) -> Result<String, CliError> {
    let names: Vec<String> = layers.config().providers.keys().cloned().collect();
    if !prompt::is_there() {
        return Err(CliError::usage(
            "which provider, or which address?",
            "aske init --provider NAME --model MODEL, or aske init --url http://localhost:8000/v1; `aske models providers` \
             lists the providers",
        ));
    }
    let states = names.iter().filter_map(|name| layers.provider(name));
    let rows: Vec<String> =
        states.map(|(name, section)| format!("{name:<12} {}", providers::state(&section))).collect();
    prompt::choose_or_write("provider, or the address of a server", &names, &rows)
}

/// The model of this name; an error if a server of the user lists others. A provider may have more models than it lists.
fn known(model: &str, server: &Server) -> Result<String, CliError> {
    let is_hosted = server.section.api_key_env.is_some();
    if is_hosted || server.models.is_empty() || is_listed(&server.models, model) {
        return Ok(model.to_owned());
    }
    let likely = aske_config::closest(model, server.models.iter().map(String::as_str));
    let pull = server.section.pull.as_ref().map(|pull| pull.replace("NAME", model));
    let likely = likely.map(|likely| format!("did you mean `{}`?", safe_line(likely)));
    let hints: Vec<String> =
        likely.into_iter().chain(pull.map(|pull| format!("`{pull}` downloads it"))).collect();
    let hints = if hints.is_empty() { "name one of these".to_owned() } else { hints.join(" ") };
    Err(CliError::usage(
        format!("{} has no model `{model}`; it offers {}", address(&server.section), listed(&server.models)),
        hints,
    ))
}

fn choose_model(server: &Server) -> Result<String, CliError> {
    match server.models.as_slice() {
        [only] => Ok(only.clone()),
        [] => {
            let pull = server.section.pull.clone();
            let pull = pull.map_or_else(String::new, |pull| format!(", after `{pull}`"));
            Err(CliError::usage(
                format!("{} lists no models", address(&server.section)),
                format!("name one with --model NAME{pull}"),
            ))
        }
        models if prompt::is_there() => prompt::choose("the model that asks", models),
        models => Err(CliError::usage(
            format!("which model? {} offers {}", address(&server.section), listed(models)),
            "name one with --model NAME",
        )),
    }
}

/// Asks the model a short question; shows what it answered, and how long it took.
fn try_model(word: &str, section: ModelSection) -> Result<(), CliError> {
    let limits = Limits { attempts: 1, timeout_s: REPLY_SECONDS, ..section.limits.clone() };
    let Some(model) = single("model", ModelSection { limits, ..section })? else { return Ok(()) };
    let word = safe_line(&redact_text(word));
    note(format_args!("asking {word}: {QUESTION}"));
    let request = Request { max_tokens: REPLY_TOKENS, ..Request::user(QUESTION) };
    let done = blocking(async move { model.complete(&request, &Halt::default()).await })?;
    let done = done.map_err(|error| {
        let hint = error.hint().map(|hint| hint.replace("models.model.", "models.NAME."));
        CliError { message: format!("{word}: {}", error.message), hint, exit: Exit::Failures }
    })?;
    let said: String = safe_line(done.reply.content.trim()).chars().take(60).collect();
    let usage = done.reply.usage;
    note(format_args!(
        "{} in {:.1} s, {} tokens read and {} written",
        if said.is_empty() { "it wrote nothing".to_owned() } else { format!("it wrote `{said}`") },
        done.latency.as_secs_f64(),
        usage.prompt,
        usage.completion,
    ));
    Ok(())
}

/// The file: what was chosen, and what to change next.
fn text(chosen: &Chosen, section: Option<&ModelSection>) -> String {
    let quoted = |word: &String| Value::from(word.as_str()).to_string();
    let asker = quoted(&chosen.asker);
    let key = section.and_then(|section| section.api_key_env.as_deref());
    let key = key
        .map_or_else(String::new, |key| format!("# The key is read from the environment: export {key}=…\n"));
    let head = format!(
        "# Written by `aske init`. `aske config` shows every value and where it comes from; flags override this file:\n\
         # `aske bench --asker PROVIDER/MODEL`, `-o run.samples=3`.\n{key}"
    );
    if chosen.solvers.is_empty() {
        return format!(
            "{head}\n\
             # The boundary solvers, the cross-check solver and the prompts of the nano world, which need no server and no\n\
             # key. They understand short exercises only: good for a first run, not for a result.\n\
             extends = \"nano\"\n\n\
             [protocol]\n\
             asker_tokens = {ASKER_TOKENS}\n\
             asker_final_tokens = {ASKER_TOKENS}\n\n\
             [asker]\n\
             model = {asker}\n\n\
             # For a result, remove `extends` and [protocol] above, and name solvers of different ability, and a cross-check\n\
             # solver that is stronger than all of them:\n\
             # [boundary]\n\
             # solvers = [\"PROVIDER/SMALL\", \"PROVIDER/LARGE\"]\n\
             # [check]\n\
             # model = \"PROVIDER/STRONGEST\"\n"
        );
    }
    let solvers: Vec<String> = chosen.solvers.iter().map(quoted).collect();
    format!(
        "{head}\n\
         [asker]\n\
         model = {asker}\n\n\
         # Every pair of them is asked. Choose models of different ability.\n\
         [boundary]\n\
         solvers = [{}]\n\n\
         # Gives the reference answer, so it should be stronger than the boundary solvers.\n\
         [check]\n\
         model = {asker}\n\n\
         [run]\n\
         samples = 10        # sessions for each pair\n\
         # budget_usd = 5.0  # stop when this much is spent\n",
        solvers.join(", ")
    )
}

/// Offers five sessions with their estimated cost.
fn smoke_test(arguments: &Init, settings: &Settings) -> Result<Exit, CliError> {
    let sessions = plan(settings, &Selection { limit: Some(5), ..Selection::default() })?;
    let estimate = estimate(settings, &sessions);
    let unknown: Vec<&str> = settings
        .models
        .iter()
        .filter(|(_, section)| is_price_unknown(section))
        .map(|(name, _)| name.as_str())
        .collect();
    let (expected, most) = estimate.usd();
    let cost = match unknown.as_slice() {
        [] if most.0 <= 0.0 => "no cost".to_owned(),
        [] => format!("{expected} expected, {most} at most"),
        names => format!("price unknown: {}", names.join(", ")),
    };
    let command = SMOKE_TEST.join(" ");
    note(format_args!(
        "{} {} sessions, {} calls, {cost}",
        paint(BOLD, "smoke test:"),
        sessions.len(),
        estimate.calls()
    ));
    if !(arguments.smoke_test || prompt::confirm(&format!("run `{command}` now?"))?) {
        hint(format_args!(
            "`{command}` runs it, `aske bench` the whole benchmark; `aske bench --dry-run` shows its cost"
        ));
        return Ok(Exit::Done);
    }
    match Arguments::parse_from(SMOKE_TEST).command {
        Command::Bench(bench) => {
            set_this_command(&command);
            super::bench::run(&bench)
        }
        _ => Ok(Exit::Done),
    }
}
