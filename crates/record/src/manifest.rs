//! `run.toml`: identity and configuration of a run.

use crate::{RunError, SCHEMA, files};
use aske_chat::plain_parse_error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Prefixes of keys that may be added later: further models, datasets and judges.
pub(crate) const OPTIONAL_PREFIXES: [&str; 3] = ["models.", "data.", "judge."];

/// The key with the name of the comparison. Its version may change, because every grade names its own.
pub const COMPARISON: &str = "comparison";

/// Bytes of the longest `run.toml` that is read.
const MAX_BYTES: u64 = 64 << 20;

/// The keys and values, as text, that must be equal for two folders, or a folder and a configuration, to belong together. Keys under `models.`, `data.` and `judge.` may be absent on one side, so that a run can grow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Identity(pub BTreeMap<String, String>);

impl Identity {
    /// Adds the keys that only the other, earlier one has. The comparison stays the earlier one: grades of versions that
    /// did not name it were made by that one.
    pub(crate) fn add_missing(&mut self, other: &Self) {
        if let Some(earlier) = other.0.get(COMPARISON) {
            self.0.insert(COMPARISON.to_owned(), earlier.clone());
        }
        for (key, value) in &other.0 {
            self.0.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// The contents of `run.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the folder.
    pub schema: u32,
    /// The program that wrote it.
    pub aske: String,
    /// Sessions of the largest plan that `aske bench` has run into the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// What must stay the same.
    pub identity: Identity,
    /// The resolved configuration of the last start.
    pub config: toml::Table,
    /// Where the values of the configuration that are not defaults come from, by key. Earlier versions did not write it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub origins: BTreeMap<String, String>,
}

/// The key that only evaluations have.
pub const EVAL: &str = "eval";

impl Manifest {
    /// Whether the folder is one of an evaluation, and not of sessions.
    pub fn is_eval(&self) -> bool {
        self.identity.0.contains_key(EVAL)
    }

    /// What the folder is the run of.
    pub(crate) fn kind(&self) -> &'static str {
        let has = |key: &str| self.identity.0.contains_key(key);
        match () {
            () if self.is_eval() => "an evaluation",
            () if has("train") => "a training",
            () => "a run of sessions",
        }
    }

    /// A manifest in the current format.
    pub fn new(aske: &str, identity: Identity, config: toml::Table) -> Self {
        Self {
            schema: SCHEMA,
            aske: aske.to_owned(),
            planned: None,
            identity,
            config,
            origins: BTreeMap::new(),
        }
    }

    /// Reads the manifest of a folder; `None` if it has none.
    pub fn read(folder: &Path) -> Result<Option<Self>, RunError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
            #[serde(default)]
            aske: String,
        }
        if std::fs::metadata(folder).is_ok_and(|found| !found.is_dir()) {
            return Err(RunError::not_a_folder(folder));
        }
        let path = folder.join("run.toml");
        let Some(bytes) = files::read(&path, MAX_BYTES)? else { return Ok(None) };
        let text = String::from_utf8(bytes).map_err(|error| {
            RunError::manifest(&path, format_args!("not UTF-8 text: {}", error.utf8_error()))
        })?;
        let unreadable = |error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            RunError::manifest(&path, format_args!("line {line}: {}", plain_parse_error(error.message())))
        };
        let version: Version = toml::from_str(&text).map_err(unreadable)?;
        if version.schema != SCHEMA {
            let Version { schema, aske } = version;
            let message = format!("was written by aske {aske} in format {schema}; this is format {SCHEMA}");
            return Err(RunError::unusable(
                format!("{} {message}", folder.display()),
                "use the aske that wrote it, or choose another folder with --run",
            ));
        }
        toml::from_str(&text).map(Some).map_err(unreadable)
    }

    /// Reads the manifest of a folder that must have one.
    pub fn require(folder: &Path) -> Result<Self, RunError> {
        Self::read(folder)?
            .ok_or_else(|| if folder.exists() { RunError::no_run(folder) } else { RunError::missing(folder) })
    }

    /// Replaces the manifest atomically.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), RunError> {
        let path = folder.join("run.toml");
        let fresh = folder.join("run.toml.new");
        let text = toml::to_string(self).map_err(|error| RunError::manifest(&path, error))?;
        let mut file = std::fs::File::create(&fresh).map_err(RunError::io(&fresh))?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(RunError::io(&fresh))?;
        std::fs::rename(&fresh, &path).map_err(RunError::io(&path))
    }
}
