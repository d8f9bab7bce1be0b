//! From a model's section to what can be called, for providers that need no weights.

use crate::{ConfigError, ModelSection, ProviderKind, is_env_var_name, load_script};
use aske_model::{Endpoint, HttpClient, OpenAi, Provider, Scripted};
use serde_json::{Map, Value};
use std::time::Duration;

/// The provider of a served or a scripted model; none for those that live in this process. Keys are read from the
/// environment here and kept nowhere else.
pub fn connect(
    http: &HttpClient,
    name: &str,
    section: &ModelSection,
) -> Result<Option<Box<dyn Provider>>, ConfigError> {
    match section.provider {
        Some(ProviderKind::Openai) => Ok(Some(Box::new(openai(http, name, section)?))),
        Some(ProviderKind::Scripted) => Ok(Some(Box::new(scripted(name, section)?))),
        _ => Ok(None),
    }
}

fn openai(http: &HttpClient, name: &str, section: &ModelSection) -> Result<OpenAi, ConfigError> {
    let endpoint = Endpoint {
        urls: section.url.to_vec(),
        model: section.model.clone().unwrap_or_else(|| name.to_owned()),
        api_key: section.api_key_env.as_deref().map(|variable| key(name, variable)).transpose()?,
        tokens_field: section.max_tokens_field,
        omit: section.omit.clone(),
        fold_system: section.fold_system,
        extra: extra(section),
    };
    OpenAi::new(http, endpoint).map_err(|error| {
        ConfigError::at(format!("models.{name}"), error.to_string())
            .with_hint("an address looks like \"http://localhost:8000/v1\"")
    })
}

fn key(name: &str, variable: &str) -> Result<String, ConfigError> {
    match std::env::var(variable) {
        Ok(key) if !key.trim().is_empty() => Ok(key.trim().to_owned()),
        _ if is_env_var_name(variable) => Err(ConfigError::at(
            format!("models.{name}.api_key_env"),
            format!("the environment variable {variable} is not set"),
        )
        .with_hint(format!("export {variable}=… with the key of this provider"))),
        // It may be the key itself, so it is not repeated.
        _ => Err(ConfigError::at(
            format!("models.{name}.api_key_env"),
            "this is not the name of an environment variable",
        )
        .with_hint(
            "put the key into a variable, such as `export OPENAI_API_KEY=…`, and name the variable here: \
             api_key_env = \"OPENAI_API_KEY\"",
        )),
    }
}

/// The free table as JSON.
fn extra(section: &ModelSection) -> Map<String, Value> {
    match serde_json::to_value(&section.extra_body) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn scripted(name: &str, section: &ModelSection) -> Result<Scripted, ConfigError> {
    let path = section.script.as_deref().unwrap_or_default();
    let text = load_script(path).map_err(|error| {
        let place = Some(format!("models.{name}.script: {path}"));
        ConfigError { location: place, ..error }
    })?;
    let script = Scripted::parse(&text).map_err(|error| {
        ConfigError::at(path, error.to_string())
            .with_hint("each line is a JSON object with `reply` or `replies`, and perhaps `when`")
    })?;
    Ok(script.with_delay(Duration::from_millis(section.delay_ms.unwrap_or(0))))
}
