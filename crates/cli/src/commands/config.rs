//! `aske config`: every configuration value and where it comes from.

use crate::arguments::ShowConfig;
use crate::error::{CliError, Exit};
use crate::output::{DIM, data, note, paint};
use aske_config::{BUNDLED_PROVIDERS, Origin, config_names};
use serde_json::json;

pub(crate) fn run(arguments: &ShowConfig) -> Result<Exit, CliError> {
    let layers = arguments.configuration.load(Vec::new())?;
    let prefix = arguments.prefix.as_deref().unwrap_or_default();
    // The bundled providers are long, and rarely what is looked for.
    let bundled = Origin::Builtin(BUNDLED_PROVIDERS.to_owned());
    let is_shown = |key: &str, origin: &Origin| {
        key.starts_with(prefix)
            && !(prefix.is_empty() && key.starts_with("providers.") && matches!(origin, Origin::Default)
                || prefix.is_empty() && *origin == bundled)
    };
    let values = layers.values().into_iter().filter(|(key, _, origin)| is_shown(key, origin));
    let values: Vec<_> = values.collect();
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
