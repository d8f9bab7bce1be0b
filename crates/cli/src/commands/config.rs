//! `aske config`: every configuration value and where it comes from.

use crate::arguments::ShowConfig;
use crate::error::{CliError, Exit};
use crate::output::{DIM, data, note, paint};
use aske_config::{Origin, config_names};
use serde_json::json;

pub(crate) fn run(arguments: &ShowConfig) -> Result<Exit, CliError> {
    let layers = arguments.configuration.load(Vec::new())?;
    let prefix = arguments.prefix.as_deref().unwrap_or_default();
    // The bundled providers are long, and rarely what is looked for.
    let mut values = if prefix.is_empty() { layers.values() } else { layers.values_with_providers() };
    values.retain(|(key, ..)| key.starts_with(prefix));
    if values.is_empty() {
        return Err(CliError::usage(
            format!("no key starts with `{prefix}`"),
            "`aske config` without a prefix shows all keys",
        ));
    }
    if arguments.json {
        let values: Vec<_> = values
            .iter()
            .map(|(key, value, origin)| json!({"key": key, "value": value, "origin": origin.to_string()}))
            .collect();
        data(serde_json::Value::Array(values));
        return Ok(Exit::Done);
    }
    for (key, value, origin) in &values {
        let shown = match origin {
            Origin::Default => paint(DIM, origin),
            other => other.to_string(),
        };
        data(format_args!("{key} = {value}  # {shown}"));
    }
    note(paint(DIM, format_args!("built-in configurations: {}", config_names().join(", "))));
    Ok(Exit::Done)
}
