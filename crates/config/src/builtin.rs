//! The configurations and scripts that ship inside the program.

use crate::ConfigError;
use include_dir::{Dir, include_dir};

static CONFIGS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../configs");

/// The names of the configurations that ship.
pub fn config_names() -> Vec<&'static str> {
    let files = CONFIGS.files().map(include_dir::File::path);
    let mut names: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter_map(|path| path.file_stem()?.to_str())
        .collect();
    names.sort_unstable();
    names
}

/// The text of a configuration that ships.
pub(crate) fn config(name: &str) -> Option<&'static str> {
    CONFIGS.get_file(format!("{name}.toml"))?.contents_utf8()
}

/// The text of a script: a file, or one that ships, named `builtin:NAME`.
pub fn load_script(path: &str) -> Result<String, ConfigError> {
    let text = match path.strip_prefix("builtin:") {
        Some(name) => CONFIGS
            .get_file(name)
            .and_then(|file| file.contents_utf8())
            .map(str::to_owned)
            .ok_or_else(|| std::io::Error::other("no script of this name ships")),
        None => std::fs::read_to_string(path),
    };
    text.map_err(|error| ConfigError::at(path, error.to_string()).hint("`script` names a file of JSON lines"))
}
