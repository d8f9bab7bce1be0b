//! `aske models`: the configured models, whether they answer, and models to download.

mod catalogue;
pub(crate) mod providers;
mod pull;

use crate::arguments::{Models, ModelsCommand};
use crate::display::tables::{Table, table};
use crate::error::{CliError, Exit};
use crate::output::{data, note, safe_line};
use crate::runs::models::{dialogue, named};
use crate::runs::summary::is_price_unknown;
use crate::runtime::{Interrupt, block_on};
use aske_bench::ModelRegistry;
use aske_chat::Hint;
use aske_config::{Config, ModelSection, is_env_var_name};
use aske_model::Halt;
use aske_report::number::size;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) fn run(arguments: &Models) -> Result<Exit, CliError> {
    match &arguments.command {
        None => show(arguments),
        Some(ModelsCommand::Pull(pull)) => pull::run(pull),
        Some(ModelsCommand::Catalogue(catalogue)) => catalogue::run(catalogue),
        Some(ModelsCommand::Providers(list)) => providers::run(list),
        Some(ModelsCommand::Remove(remove)) => pull::remove(remove),
    }
}

fn show(arguments: &Models) -> Result<Exit, CliError> {
    let mut layers = arguments.source.load()?;
    let names = named(&mut layers, &arguments.names)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let config = layers.config();
    let probed =
        if arguments.probe || !arguments.names.is_empty() { probe(config, &names)? } else { BTreeMap::new() };
    let failed = probed.values().any(Result::is_err);
    if arguments.json {
        data(Value::Array(names.iter().map(|name| as_json(config, name, &probed)).collect()));
    } else {
        data(as_table(config, &names, &probed));
        for error in probed.values().filter_map(|result| result.as_ref().err()) {
            note(format_args!("\n{error}"));
        }
    }
    Ok(if failed { Exit::Failures } else { Exit::Done })
}

type ProbeResults = BTreeMap<String, Result<String, String>>;

/// Tests each model on its own, so that one without a key does not hide the others.
fn probe(config: &Config, names: &[&str]) -> Result<ProbeResults, CliError> {
    let (halt, interrupt) = (Halt::default(), Interrupt::default());
    let dialogue = &dialogue(config);
    let probes = names.iter().map(|name| async move {
        let section = BTreeMap::from_iter(
            config.models.get(*name).map(|section| ((*name).to_owned(), section.clone())),
        );
        let outcome = match ModelRegistry::from_sections(&section, 1, dialogue) {
            Err(error) => Err(format!("{error}\nhint: {}", error.hint().unwrap_or_default())),
            Ok(models) => match models.get(name) {
                None => Err("not configured".to_owned()),
                Some(model) => model
                    .probe()
                    .await
                    .map_err(|failure| format!("{failure}\nhint: {}", failure.hint().unwrap_or_default())),
            },
        };
        ((*name).to_owned(), outcome)
    });
    block_on(&halt, &interrupt, join_all(probes)).map(|probed| probed.into_iter().collect())
}

fn as_table(config: &Config, names: &[&str], probed: &ProbeResults) -> Table {
    let header = ["model", "provider", "served as", "size", "USD/M read", "USD/M written", "roles", "state"];
    let mut table = table(&header, &[3, 4, 5]);
    // Smaller models first; those of unknown size keep their order after them.
    let size_of =
        |name: &str| config.models.get(name).and_then(|section| section.params).unwrap_or(f64::INFINITY);
    let mut names = names.to_vec();
    names.sort_by(|one, two| size_of(one).total_cmp(&size_of(two)));
    for name in &names {
        let Some(section) = config.models.get(*name) else { continue };
        let price = |pick: fn(&aske_chat::Price) -> f64| {
            let unknown = if is_price_unknown(section) { "unknown" } else { "" };
            section.price.as_ref().map_or_else(|| unknown.to_owned(), |price| format!("{:.2}", pick(price)))
        };
        table.add_row([
            (*name).to_owned(),
            provider(section).as_str().unwrap_or_default().to_owned(),
            safe_line(&served(name, section)),
            section.params.map_or_else(String::new, size),
            price(|price| price.input),
            price(|price| price.output),
            roles(config, name).join(", "),
            state(section, probed.get(*name)),
        ]);
    }
    table
}

fn as_json(config: &Config, name: &str, probed: &ProbeResults) -> Value {
    let section = config.models.get(name);
    json!({
        "model": name,
        "provider": section.map(provider),
        "served_as": section.map(|section| served(name, section)),
        "params": section.and_then(|section| section.params),
        "price": section.and_then(|section| section.price),
        "price_date": section.and_then(|section| section.price_date.as_ref()),
        "roles": roles(config, name),
        "key": section.and_then(|section| section.api_key_env.as_ref()).map(|variable| key_is_set(variable)),
        "answers": probed.get(name).map(Result::is_ok),
        "said": probed.get(name).map(|result| match result { Ok(said) | Err(said) => said }),
    })
}

/// The provider's name in the configuration.
fn provider(section: &ModelSection) -> Value {
    section.provider.map_or_else(|| json!("none"), |kind| json!(kind))
}

fn served(name: &str, section: &ModelSection) -> String {
    let file = section.script.clone().or_else(|| section.path.clone());
    file.or_else(|| section.model.clone()).unwrap_or_else(|| name.to_owned())
}

fn roles(config: &Config, name: &str) -> Vec<&'static str> {
    let is = |model: &Option<String>| model.as_deref() == Some(name);
    let set = config.boundary.set.as_ref().and_then(|set| config.sets.get(set)).map(|set| &set.solvers);
    let listed = Some(&config.boundary.solvers).filter(|solvers| !solvers.is_empty()).or(set);
    let solver = listed.is_some_and(|solvers| solvers.iter().any(|solver| solver == name));
    [
        (is(&config.asker.model), "asker"),
        (solver, "solver"),
        (is(&config.check.model), "check"),
        (is(&config.equivalence.model), "equivalence"),
    ]
    .into_iter()
    .filter_map(|(has, role)| has.then_some(role))
    .collect()
}

fn key_is_set(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|key| !key.trim().is_empty())
}

fn state(section: &ModelSection, probed: Option<&Result<String, String>>) -> String {
    match (probed, &section.api_key_env) {
        (Some(Ok(said)), _) => said.clone(),
        (Some(Err(_)), _) => "fails, see below".to_owned(),
        (None, Some(variable)) if key_is_set(variable) => "key is set".to_owned(),
        (None, Some(variable)) if is_env_var_name(variable) => format!("needs {variable}"),
        (None, Some(_)) => "api_key_env names no variable".to_owned(),
        (None, None) => String::new(),
    }
}
