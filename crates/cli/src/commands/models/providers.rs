//! `aske models providers`: the providers of models, and the models that one of them offers.

use crate::arguments::Providers;
use crate::display::tables::table;
use crate::error::{CliError, Exit};
use crate::output::{data, note, safe_line};
use crate::runs::named::{address, list, unreachable};
use aske_config::{Layers, ModelSection, did_you_mean};
use serde_json::json;

pub(crate) fn run(arguments: &Providers) -> Result<Exit, CliError> {
    let layers = arguments.source.load()?;
    if let Some(name) = &arguments.name {
        return offered(name, &layers, arguments.json);
    }
    all(&layers, arguments.json);
    Ok(Exit::Done)
}

/// A provider by its name, and the keys that its models have in common.
pub(crate) fn find(name: &str, layers: &Layers) -> Result<(String, ModelSection), CliError> {
    layers.provider(name).ok_or_else(|| {
        let known: Vec<&str> = layers.config().providers.keys().map(String::as_str).collect();
        let hint =
            did_you_mean(&name.to_lowercase(), known.iter().copied(), format!("one of {}", known.join(", ")));
        CliError::usage(format!("unknown provider `{name}`"), hint)
    })
}

/// Lists the models that a provider offers.
fn offered(name: &str, layers: &Layers, as_json: bool) -> Result<Exit, CliError> {
    let (name, section) = find(name, layers)?;
    let models = list(&name, &section)?.map_err(|error| unreachable(&section, &error))?.unwrap_or_default();
    if as_json {
        data(json!(models.iter().map(|model| format!("{name}/{model}")).collect::<Vec<_>>()));
        return Ok(Exit::Done);
    }
    for model in &models {
        data(format_args!("{name}/{}", safe_line(model)));
    }
    if models.is_empty() {
        note(format_args!("{} lists no models", address(&section)));
    }
    Ok(Exit::Done)
}

fn all(layers: &Layers, as_json: bool) {
    let found: Vec<_> = layers.config().providers.keys().filter_map(|name| layers.provider(name)).collect();
    if as_json {
        let providers = found.iter().map(|(name, section)| {
            let provider = &layers.config().providers[name];
            json!({
                "provider": name,
                "url": address(section),
                "aliases": provider.aliases,
                "api_key_env": section.api_key_env,
                "key": section.api_key_env.as_ref().map(|variable| super::key_is_set(variable)),
                "start": section.start,
                "prices": provider.prices,
                "priced": priced(layers, name),
            })
        });
        data(json!(providers.collect::<Vec<_>>()));
        return;
    }
    let mut shown = table(&["provider", "address", "key or server", "models with a price"], &[3]);
    for (name, section) in &found {
        shown.add_row([name.clone(), address(section), state(section), count(priced(layers, name).len())]);
    }
    data(shown);
    note("\nname a model PROVIDER/MODEL; `aske models providers NAME` lists what a provider offers");
}

/// The models of a provider whose price is known.
fn priced(layers: &Layers, name: &str) -> Vec<String> {
    let models = layers.config().providers.get(name).map(|provider| &provider.models);
    let priced = models.into_iter().flatten().filter(|(_, keys)| keys.contains_key("price"));
    priced.map(|(model, _)| model.clone()).collect()
}

fn count(number: usize) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}

/// Whether the key is set, or how the server is started.
pub(crate) fn state(section: &ModelSection) -> String {
    match (&section.api_key_env, &section.start) {
        (Some(variable), _) if super::key_is_set(variable) => format!("{variable} is set"),
        (_, Some(start)) => start.clone(),
        (Some(variable), None) => format!("needs {variable}"),
        (None, None) => String::new(),
    }
}
