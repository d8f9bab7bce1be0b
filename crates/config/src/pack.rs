//! Reading a prompt pack from a folder.

use crate::ConfigError;
use aske_session::Pack;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads and checks a pack: a folder, or `builtin:NAME`.
pub fn load_pack(name: &str) -> Result<Pack, ConfigError> {
    let Some(name) = name.strip_prefix("builtin:") else { return from_folder(Path::new(name)) };
    let files = Pack::extra_files(name).ok_or_else(|| {
        let known = Pack::EXTRA.map(|name| format!("builtin:{name}")).join(", ");
        ConfigError::at(name, "no built-in prompt pack has this name").with_hint(format!("there are {known}"))
    })?;
    Pack::parse(&files).map_err(|problems| ConfigError::at(name, problems.to_string()))
}

fn from_folder(folder: &Path) -> Result<Pack, ConfigError> {
    let place = folder.display().to_string();
    let advice = format!("`aske prompts export {place}` writes a complete pack to start from");
    let unreadable = |error: std::io::Error| ConfigError::at(place.clone(), error.to_string());
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(error).with_hint(advice.clone()))? {
        let path = entry.map_err(unreadable)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if path.extension().is_some_and(|ending| ending == "txt") {
            let text = std::fs::read_to_string(&path)
                .map_err(|error| ConfigError::at(path.display().to_string(), error.to_string()))?;
            files.insert(name.to_owned(), text);
        }
    }
    Pack::parse(&files).map_err(|problems| {
        let problems = problems.to_string().replace('\n', "\n  ");
        ConfigError::at(place, format!("the prompt pack is not usable:\n  {problems}")).with_hint(advice)
    })
}
