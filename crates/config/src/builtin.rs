//! The built-in configurations.

use crate::ConfigError;
use include_dir::{Dir, include_dir};

static CONFIGS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../configs");

/// The names of the built-in configurations.
pub fn config_names() -> Vec<&'static str> {
    let files = CONFIGS.files().map(include_dir::File::path);
    let mut names: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter_map(|path| path.file_stem()?.to_str())
        .collect();
    names.sort_unstable();
    names
}

/// The text of a built-in configuration.
pub(crate) fn config(name: &str) -> Option<&'static str> {
    CONFIGS.get_file(format!("{name}.toml"))?.contents_utf8()
}

/// Reads the file of a scripted model.
pub fn load_script(path: &str) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|error| {
        ConfigError::at(path, error.to_string()).with_hint("`script` names a file of JSON lines")
    })
}
