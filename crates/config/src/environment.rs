//! Values from the environment: `ASKE_RUN_SAMPLES=3` sets `run.samples`.

use crate::{ConfigError, closest};
use toml::{Table, Value};

/// The variable with the path of the configuration file.
pub(crate) const CONFIG_VARIABLE: &str = "ASKE_CONFIG";

/// The variable with the folder of downloaded models.
const CACHE_VARIABLE: &str = "ASKE_CACHE";

/// The variable with the token of a server.
const TOKEN_VARIABLE: &str = "ASKE_TOKEN";

/// The variable with the levels of the log.
const LOG_VARIABLE: &str = "ASKE_LOG";

/// The message for a variable that looks like a setting and is none.
pub(crate) const SETS_NOTHING: &str = "this environment variable sets nothing";

const SECTIONS: [&str; 6] = ["protocol", "asker", "boundary", "check", "equivalence", "run"];

/// The configuration that a variable sets; `None` if the variable sets none.
pub(crate) fn table(name: &str, value: &str) -> Option<Result<Table, ConfigError>> {
    if [CONFIG_VARIABLE, CACHE_VARIABLE, TOKEN_VARIABLE, LOG_VARIABLE].contains(&name) {
        return None;
    }
    let key = name.strip_prefix("ASKE_")?.to_lowercase();
    let Some((section, key)) = key.split_once('_').filter(|(section, _)| SECTIONS.contains(section)) else {
        let section = key.split('_').next().unwrap_or_default();
        let hint = match closest(section, SECTIONS) {
            Some(likely) => format!("did you mean ASKE_{}_…?", likely.to_uppercase()),
            None => "ASKE_SECTION_KEY sets a key, such as ASKE_RUN_SAMPLES=3".to_owned(),
        };
        return Some(Err(ConfigError::at(name, SETS_NOTHING).with_hint(hint)));
    };
    Some(Ok(nested(&[section, key], read_value(value))))
}

/// Parses a value as TOML, else as a string.
pub(crate) fn read_value(text: &str) -> Value {
    let parsed = toml::from_str::<Table>(&format!("value = {text}"));
    parsed.ok().and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// A table with one value at the end of a path.
pub(crate) fn nested(path: &[&str], value: Value) -> Table {
    let (last, outer) = path.split_last().unwrap_or((&"", &[]));
    let mut table = Table::from_iter([((*last).to_owned(), value)]);
    for name in outer.iter().rev() {
        table = Table::from_iter([((*name).to_owned(), Value::Table(table))]);
    }
    table
}
