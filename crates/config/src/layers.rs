//! Merges the layers of a configuration: defaults, built-in files, files, environment and flags. Keeps the origin of every
//! value.

use crate::environment::{CONFIG_VARIABLE, nested, read_value, table};
use crate::named::{Definition, define, find_provider, is_bare_url, is_url, references};
use crate::providers::{BUNDLED, BUNDLED_PROVIDERS, ProviderEnvironment};
use crate::renamed::{self, OldKey};
use crate::secret::{redact, shown};
use crate::{Config, ConfigError, EvalSection, ModelSection, TrainSection, builtin, closest, suggest};
use aske_chat::plain_parse_error;
use aske_model::redact_text;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, Deserializer};
use toml::{Table, Value};

/// The default configuration file.
const DEFAULT_FILE: &str = "aske.toml";
/// The configuration that is used without a file.
const NANO: &str = "nano";
/// What to do about a value of another type.
const TYPES: &str = "`aske config` shows every key with its value";
/// What to do about a file that is not TOML.
const SYNTAX: &str = "a file has sections in [brackets], and lines `key = value` with text in quotes";
/// The name of a configuration that is given as text.
const GIVEN: &str = "configuration";
/// The models of the paper.
const MODELS: &str = "paper-models";

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// No layer sets it.
    Default,
    /// A built-in configuration.
    Builtin(String),
    /// A file.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// A flag.
    Flag(String),
    /// The name of a model that is not a configured one: a path, an address or `PROVIDER/MODEL`.
    Named(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Builtin(name) => write!(f, "built-in {name}"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) | Self::Flag(name) | Self::Named(name) => f.write_str(name),
        }
    }
}

/// What a library reads its configuration from.
#[derive(Clone, Copy, Debug)]
pub enum ConfigSource<'s> {
    /// A file, or a built-in configuration.
    Named(&'s str),
    /// The text of a file in the working directory.
    Text(&'s str),
}

/// All layers, merged.
#[derive(Debug)]
pub struct Layers {
    config: Config,
    origins: BTreeMap<String, Origin>,
    source: Origin,
    notices: Vec<String>,
    /// `[models]` as the layers set it.
    models: Table,
    /// The names given to models that are named otherwise.
    named: BTreeMap<String, String>,
    environment: ProviderEnvironment,
}

impl Layers {
    /// Loads the named configuration (a path, or the name of a built-in one) or the default one, and applies the
    /// environment and the flags. A flag consists of its name, a dotted key and a value.
    pub fn load(
        named: Option<&str>,
        environment: impl Iterator<Item = (String, String)>,
        flags: &[(String, String, Value)],
    ) -> Result<Self, ConfigError> {
        let variables: Vec<_> = environment.collect();
        let by_variable =
            variables.iter().find(|(name, _)| name == CONFIG_VARIABLE).map(|(_, value)| value.as_str());
        let mut stack = Stack::new()?;
        let source = match named.or(by_variable) {
            Some(name) => stack.add_named(name, None)?,
            None if Path::new(DEFAULT_FILE).exists() => stack.add_file(Path::new(DEFAULT_FILE))?,
            None => stack.add_builtin(NANO)?,
        };
        stack.finish(source, &variables, flags)
    }

    /// Loads a configuration for a library, whose process may have variables that are meant for others: one that looks like
    /// a setting but is none becomes a notice.
    pub fn embedded(
        source: ConfigSource<'_>,
        environment: impl Iterator<Item = (String, String)>,
        flags: &[(String, String, Value)],
    ) -> Result<Self, ConfigError> {
        let mut stack = Stack { reports_unknown_variables: true, ..Stack::new()? };
        let source = match source {
            ConfigSource::Named(name) => stack.add_named(name, None)?,
            ConfigSource::Text(text) => {
                stack.add_text(Origin::File(PathBuf::from(GIVEN)), text, Some(Path::new(GIVEN)))?
            }
        };
        stack.finish(source, &environment.collect::<Vec<_>>(), flags)
    }

    /// Loads the configuration of a run, which is `stored` in the file `path`, and applies the environment and the flags.
    /// Models that it does not define are those of the named configuration, or of the default file, and the built-in ones.
    pub fn of_run(
        stored: Table,
        path: &Path,
        named: Option<&str>,
        environment: impl Iterator<Item = (String, String)>,
        flags: &[(String, String, Value)],
    ) -> Result<Self, ConfigError> {
        let mut stack = Stack::new()?;
        stack.add_builtin(NANO)?;
        stack.add_builtin(MODELS)?;
        match named {
            Some(name) => drop(stack.add_named(name, None)?),
            None if Path::new(DEFAULT_FILE).exists() => drop(stack.add_file(Path::new(DEFAULT_FILE))?),
            None => {}
        }
        stack.merged.retain(|key, _| matches!(key, "models" | "providers"));
        let source = Origin::File(path.to_owned());
        // Models of the run replace other definitions entirely.
        if let (Some(Value::Table(models)), Some(Value::Table(own))) =
            (stack.merged.get_mut("models"), stored.get("models"))
        {
            models.retain(|name, _| !own.contains_key(name));
        }
        let mut stored = stored;
        renamed::update(&mut stored);
        stack.add(&source, stored)?;
        stack.finish(source, &environment.collect::<Vec<_>>(), flags)
    }

    /// Whether there is a default configuration: the file `aske.toml`, or one that `ASKE_CONFIG` names.
    pub fn has_default() -> bool {
        Path::new(DEFAULT_FILE).exists() || std::env::var_os(CONFIG_VARIABLE).is_some()
    }

    /// The merged configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A line for each key that a file, a variable or a flag sets by its old name, and for each variable of [`Self::embedded`]
    /// that sets nothing.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The short name of the loaded file or built-in configuration, for the name of a run folder.
    pub fn name(&self) -> String {
        match &self.source {
            Origin::Builtin(name) => name.clone(),
            Origin::File(path) => {
                path.file_stem().map_or_else(|| "run".to_owned(), |stem| stem.to_string_lossy().into_owned())
            }
            _ => "run".to_owned(),
        }
    }

    /// Every key with its value and origin, in the order of the schema, without the bundled providers. Secrets are masked:
    /// API keys, and users, passwords and queries of URLs.
    pub fn values(&self) -> Vec<(String, Value, Origin)> {
        let bundled = Origin::Builtin(BUNDLED_PROVIDERS.to_owned());
        let mut values = self.values_with_providers();
        values.retain(|(.., origin)| *origin != bundled);
        values
    }

    /// The same with the bundled providers.
    pub fn values_with_providers(&self) -> Vec<(String, Value, Origin)> {
        let mut values = Vec::new();
        if let Ok(Value::Table(table)) = Value::try_from(&self.config) {
            flatten("", &table, &mut |key, value| {
                let origin = self.origins.get(&key).cloned().unwrap_or(Origin::Default);
                let value = shown(&key, value);
                values.push((key, value, origin));
            });
        }
        values
    }

    /// The name of the model that a word names, which is defined if it is not yet: a configured model, an existing
    /// checkpoint folder or GGUF file, `URL#MODEL` or `PROVIDER/MODEL`.
    pub fn name_model(&mut self, word: &str) -> Result<String, ConfigError> {
        if self.config.models.contains_key(word) {
            return Ok(word.to_owned());
        }
        if let Some(name) = self.named.get(word) {
            return Ok(name.clone());
        }
        let definition = define(word, &self.config, &self.environment)?;
        self.define_all(&BTreeMap::from([(word.to_owned(), definition)]))?;
        Ok(self.named.get(word).cloned().unwrap_or_default())
    }

    /// Addresses of servers that the configuration names without a model.
    pub fn bare_urls(&self) -> BTreeSet<String> {
        let mut config = self.config.clone();
        references(&mut config).filter(|word| is_bare_url(word)).map(|word| word.clone()).collect()
    }

    /// The models that are named `URL#MODEL`, and their addresses.
    pub fn addresses(&self) -> impl Iterator<Item = (&str, &str)> {
        self.named.iter().filter_map(|(word, name)| {
            let (url, _) = word.split_once('#').filter(|_| is_url(word))?;
            Some((name.as_str(), url))
        })
    }

    /// Names the model that the configuration means by the address of its server alone.
    pub fn name_served(&mut self, url: &str, model: &str) -> Result<(), ConfigError> {
        let name = self.name_model(&format!("{}#{model}", url.trim_end_matches('#')))?;
        references(&mut self.config).filter(|word| *word == url).for_each(|word| word.clone_from(&name));
        Ok(())
    }

    /// Defines the models that any layer names by a path, an address or their provider. Words that name no model are
    /// left as they are; the error is reported where the model is needed.
    fn name_references(&mut self, words: BTreeSet<String>) -> Result<(), ConfigError> {
        let unknown = words.into_iter().filter(|word| !self.config.models.contains_key(word));
        let defined: BTreeMap<_, _> = unknown
            .filter_map(|word| {
                let definition = define(&word, &self.config, &self.environment).ok()?;
                Some((word, definition))
            })
            .collect();
        self.define_all(&defined)?;
        for word in references(&mut self.config) {
            if let Some(name) = self.named.get(word) {
                word.clone_from(name);
            }
        }
        Ok(())
    }

    /// Adds models under the shortest names that no other model has.
    fn define_all(&mut self, definitions: &BTreeMap<String, Definition>) -> Result<(), ConfigError> {
        for (word, definition) in definitions {
            let others = || definitions.iter().filter(|(other, _)| *other != word);
            let is_free = |name: &&String| {
                let taken = self.models.get(*name).and_then(Value::as_table);
                taken.is_none_or(|taken| is_same(name, taken, &definition.keys))
                    && !others().any(|(_, other)| {
                        other.names.contains(name) && !is_same(name, &other.keys, &definition.keys)
                    })
            };
            let name = definition.names.iter().find(is_free).or(definition.names.last());
            let name = name.cloned().unwrap_or_default();
            let mut keys = definition.keys.clone();
            if let Some(Value::Table(own)) = self.models.get(&name) {
                // A section of the same model is used as it is; keys alone, such as those of --override, win over those
                // of the definition.
                if own.contains_key("provider") {
                    self.named.insert(word.clone(), name);
                    continue;
                }
                merge(&mut keys, own.clone());
            }
            let shown = redact_text(word);
            let section: ModelSection = Value::Table(keys.clone())
                .try_into()
                .map_err(|error| ConfigError { location: Some(shown.clone()), ..explain(None, &error) })?;
            flatten("", &definition.keys, &mut |key, _| {
                let key = format!("models.{}.{key}", quoted(&name));
                self.origins.entry(key).or_insert_with(|| Origin::Named(shown.clone()));
            });
            self.models.insert(name.clone(), Value::Table(keys));
            self.config.models.insert(name.clone(), section);
            self.named.insert(word.clone(), name);
        }
        Ok(())
    }

    /// A provider by its name or another one it has: its name, and the keys that all its models have in common.
    pub fn provider(&self, name: &str) -> Option<(String, ModelSection)> {
        let (name, provider) = find_provider(&self.config, name)?;
        let mut keys = provider.model("NAME", &self.environment);
        keys.remove("model");
        let section = Value::Table(keys).try_into().ok()?;
        Some((name.clone(), section))
    }

    /// The error of a name that no model has.
    pub(crate) fn unknown_model(&self, word: &str) -> ConfigError {
        define(word, &self.config, &self.environment)
            .err()
            .unwrap_or_else(|| ConfigError::at(redact_text(word), "names a model, and no section does"))
    }

    /// The configuration as stored in a run folder: without secrets and providers, and without `[eval]` and `[train]` if
    /// they have only default values.
    pub fn stored(&self) -> Table {
        let mut table = Table::try_from(&self.config).unwrap_or_default();
        table.remove("providers");
        if self.config.eval == EvalSection::default() {
            table.remove("eval");
        }
        if self.config.train == TrainSection::default() {
            table.remove("train");
        }
        redact(&mut table);
        table
    }

    /// Parses `key=value`; returns the flag for messages, the dotted key and the value.
    pub fn parse_override(text: &str) -> Result<(String, String, Value), ConfigError> {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            ConfigError::at(format!("--override {}", redact_text(text)), "expected KEY=VALUE")
                .with_hint("for example run.samples=3")
        })?;
        let (key, value) = (key.trim().to_owned(), read_value(value.trim()));
        let shown = shown(&key, &value);
        let flag =
            if shown == value { format!("--override {text}") } else { format!("--override {key}={shown}") };
        Ok((flag, key, value))
    }
}

/// Splits `models."a.b".url` at the dots outside quotes.
fn split_key(key: &str) -> Vec<&str> {
    let mut quoted = false;
    key.split(|c| {
        quoted ^= c == '"';
        c == '.' && !quoted
    })
    .map(|part| part.trim_matches('"'))
    .collect()
}

/// Whether a section of this name and a definition are of one model. A section without a provider only sets keys of the
/// model that is defined.
fn is_same(name: &str, section: &Table, keys: &Table) -> bool {
    let value = |table: &Table, key: &str| table.get(key).cloned();
    let served = value(section, "model").unwrap_or_else(|| name.into());
    !section.contains_key("provider")
        || (["provider", "url", "path"].iter().all(|key| value(section, key) == value(keys, key))
            && (!keys.contains_key("model") || value(keys, "model") == Some(served)))
}

#[derive(Default)]
struct Stack {
    merged: Table,
    origins: BTreeMap<String, Origin>,
    /// The files being read, to detect cycles.
    open: Vec<String>,
    notices: Vec<String>,
    /// Variables that set nothing are notices instead of errors.
    reports_unknown_variables: bool,
    /// What the layers call models.
    words: BTreeSet<String>,
}

impl Stack {
    /// A stack with the bundled providers.
    fn new() -> Result<Self, ConfigError> {
        let mut stack = Self::default();
        stack.add_text(Origin::Builtin(BUNDLED_PROVIDERS.to_owned()), BUNDLED, None)?;
        Ok(stack)
    }

    fn add_named(&mut self, name: &str, beside: Option<&Path>) -> Result<Origin, ConfigError> {
        let path =
            beside.and_then(Path::parent).map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
        if path.is_file() {
            return self.add_file(&path);
        }
        if path.is_dir() && builtin::config(name).is_none() {
            return Err(ConfigError::at(name, "is a folder").with_hint("name the TOML file in it"));
        }
        if builtin::config(name).is_some() {
            return self.add_builtin(name);
        }
        let mut names = builtin::config_names();
        names.retain(|name| *name != MODELS);
        let hint = match closest(name, names.iter().copied()) {
            Some(likely) => format!("did you mean the built-in `{likely}`?"),
            None => format!("name a file, or a built-in configuration: {}", names.join(", ")),
        };
        Err(ConfigError::at(name, "no such configuration").with_hint(hint))
    }

    /// Applies the environment and the flags.
    fn finish(
        mut self,
        source: Origin,
        environment: &[(String, String)],
        flags: &[(String, String, Value)],
    ) -> Result<Layers, ConfigError> {
        let mut variables: Vec<_> =
            environment.iter().filter(|(name, _)| name.starts_with("ASKE_")).collect();
        variables.sort();
        let keys = self.key_variables();
        for (name, value) in variables.into_iter().filter(|(name, _)| !keys.contains(name)) {
            let Some(layer) = table(name, value) else { continue };
            match layer.and_then(|layer| self.add_given(&Origin::Environment(name.clone()), layer)) {
                Err(error) if self.reports_unknown_variables && error.is_unknown_variable() => {
                    let hint = error.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
                    self.notices.push(format!("{error}{hint}"));
                }
                added => added?,
            }
        }
        for (flag, key, value) in flags {
            let path: Vec<&str> = split_key(key);
            self.add_given(&Origin::Flag(flag.clone()), nested(&path, value.clone()))?;
        }
        let models = self.merged.get("models").and_then(Value::as_table).cloned().unwrap_or_default();
        let config: Config = Value::Table(self.merged).try_into().map_err(|error| explain(None, &error))?;
        let environment = ProviderEnvironment::new(&config.providers, environment);
        let (origins, notices, named) = (self.origins, self.notices, BTreeMap::new());
        let mut layers = Layers { config, origins, source, notices, models, named, environment };
        layers.name_references(self.words)?;
        Ok(layers)
    }

    /// The variables that hold API keys, according to the files read so far; they set no configuration key.
    fn key_variables(&self) -> Vec<String> {
        let sections = ["models", "providers"].into_iter().filter_map(|key| self.merged.get(key)?.as_table());
        let variables = sections.flat_map(Table::iter).filter_map(|(_, section)| section.get("api_key_env"));
        let texts = variables.flat_map(|variable| match variable {
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            one => Vec::from_iter(one.as_str()),
        });
        texts.map(str::to_owned).collect()
    }

    fn add_builtin(&mut self, name: &str) -> Result<Origin, ConfigError> {
        let text = builtin::config(name).unwrap_or_default();
        self.add_text(Origin::Builtin(name.to_owned()), text, None)
    }

    fn add_file(&mut self, path: &Path) -> Result<Origin, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let what = match error.kind() {
                std::io::ErrorKind::InvalidData => "not text in UTF-8".to_owned(),
                _ => error.to_string(),
            };
            ConfigError::at(path.display().to_string(), what).with_hint("name a TOML file that you can read")
        })?;
        self.add_text(Origin::File(path.to_owned()), &text, Some(path))
    }

    /// Checks a file on its own, so that an error has a line number; then adds what it extends, and then the file itself.
    fn add_text(&mut self, origin: Origin, text: &str, path: Option<&Path>) -> Result<Origin, ConfigError> {
        let name = origin.to_string();
        if self.open.contains(&name) {
            return Err(ConfigError::at(name, "the file extends itself"));
        }
        let in_file = |error: toml::de::Error| explain(Some((&name, text)), &error);
        let mut document = DeTable::parse(text).map_err(in_file)?;
        let old = renamed::update(document.get_mut());
        let config = Config::deserialize(Deserializer::from(document.clone())).map_err(in_file)?;
        let mut table = Table::deserialize(Deserializer::from(document)).map_err(in_file)?;
        self.notice(&origin, old);
        self.open.push(name);
        for base in config.extends.to_vec() {
            self.add_named(&base, path)?;
        }
        self.open.pop();
        table.remove("extends");
        if let Some(folder) = path.and_then(Path::parent) {
            anchor_paths(&mut table, folder);
        }
        self.add(&origin, table)?;
        Ok(origin)
    }

    /// Adds a layer from a variable or a flag.
    fn add_given(&mut self, origin: &Origin, mut layer: Table) -> Result<(), ConfigError> {
        let old = renamed::update(&mut layer);
        self.notice(origin, old);
        self.add(origin, layer)
    }

    fn notice(&mut self, origin: &Origin, old: Vec<OldKey>) {
        let lines = old
            .into_iter()
            .map(|OldKey { old, new }| format!("{origin}: `{old}` is deprecated; use `{new}`"));
        self.notices.extend(lines);
    }

    fn add(&mut self, origin: &Origin, layer: Table) -> Result<(), ConfigError> {
        let checked: Result<Config, toml::de::Error> = Value::Table(layer.clone()).try_into();
        match checked {
            Ok(mut config) => self.words.extend(references(&mut config).map(|word| word.clone())),
            Err(error) => {
                return Err(ConfigError { location: Some(origin.to_string()), ..explain(None, &error) });
            }
        }
        // A list of solvers replaces a set named below it, and a set named above it replaces the list.
        if layer.get("boundary").and_then(|b| b.get("set")).is_some()
            && let Some(Value::Table(boundary)) = self.merged.get_mut("boundary")
        {
            boundary.remove("solvers");
        }
        flatten("", &layer, &mut |key, _| {
            self.origins.insert(key, origin.clone());
        });
        merge(&mut self.merged, layer);
        Ok(())
    }
}

pub(crate) fn merge(base: &mut Table, layer: Table) {
    for (key, value) in layer {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

fn flatten(prefix: &str, table: &Table, visit: &mut impl FnMut(String, &Value)) {
    for (key, value) in table {
        let part = quoted(key);
        let path = if prefix.is_empty() { part } else { format!("{prefix}.{part}") };
        match value {
            Value::Table(inner) => flatten(&path, inner, visit),
            _ => visit(path, value),
        }
    }
}

/// A key, in quotes if TOML requires them.
fn quoted(key: &str) -> String {
    let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if plain { key.to_owned() } else { format!("\"{key}\"") }
}

/// Paths in a file are relative to that file.
fn anchor_paths(table: &mut Table, folder: &Path) {
    let anchor = |value: &mut Value| {
        if let Value::String(path) = value
            && !["builtin:", "pulled:"].iter().any(|origin| path.starts_with(origin))
        {
            *path = folder.join(&*path).to_string_lossy().into_owned();
        }
    };
    if let Some(Value::Table(protocol)) = table.get_mut("protocol") {
        protocol.get_mut("prompts").map(anchor);
    }
    if let Some(Value::Table(models)) = table.get_mut("models") {
        for (_, model) in models.iter_mut() {
            model.get_mut("script").map(anchor);
            model.get_mut("path").map(anchor);
        }
    }
    // A model may be named by its path.
    let is_path = |word: &Value| {
        word.as_str().is_some_and(|word| {
            word.contains('/') && !folder.as_os_str().is_empty() && folder.join(word).exists()
        })
    };
    for (section, key) in
        [("asker", "model"), ("check", "model"), ("equivalence", "model"), ("boundary", "solvers")]
    {
        let words = match table.get_mut(section).and_then(|section| section.get_mut(key)) {
            Some(Value::Array(words)) => words.as_mut_slice(),
            Some(word) => std::slice::from_mut(word),
            None => continue,
        };
        words.iter_mut().filter(|word| is_path(word)).for_each(anchor);
    }
}

/// Converts a parse error into file, line, message and suggestion.
fn explain(source: Option<(&str, &str)>, error: &toml::de::Error) -> ConfigError {
    let place = source.map(|(name, text)| match error.span() {
        Some(span) => {
            let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
            format!("{name}:{line}")
        }
        None => name.to_owned(),
    });
    let (what, hint) = suggest::unknown_field(error.message()).unwrap_or_else(|| {
        let what = plain_parse_error(error.message());
        let hint = if what.contains(", found ") { TYPES } else { SYNTAX };
        (what, hint.to_owned())
    });
    // A quoted value may be a misplaced API key.
    ConfigError { location: place, message: redact_text(&what), hint: Some(hint) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, variables: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Layers, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        std::fs::write(&path, text).unwrap();
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let flags: Vec<_> = flags
            .iter()
            .map(|(key, value)| ("--flag".to_owned(), (*key).to_owned(), read_value(value)))
            .collect();
        Layers::load(path.to_str(), variables, &flags)
    }

    fn origin(layers: &Layers, key: &str) -> String {
        let value = layers.values().into_iter().find(|(found, ..)| found == key);
        value.map_or_else(|| panic!("no {key}"), |(_, _, origin)| origin.to_string())
    }

    #[test]
    fn later_layers_win_and_every_value_knows_its_origin() {
        let text = "extends = \"paper-bench\"\n[run]\nsamples = 3\nseed = 4\n[protocol]\nrounds = 2";
        let layers =
            load(text, &[("ASKE_RUN_SEED", "5"), ("HOME", "/x")], &[("run.concurrency", "9")]).unwrap();
        let run = &layers.config().run;
        assert_eq!((run.samples, run.seed, run.concurrency), (3, 5, 9));
        assert_eq!((layers.config().protocol.rounds, layers.config().check.draws), (2, 3));
        assert!(origin(&layers, "run.samples").ends_with("x.toml"));
        assert_eq!(origin(&layers, "run.seed"), "ASKE_RUN_SEED");
        assert_eq!(origin(&layers, "run.concurrency"), "--flag");
        assert_eq!(origin(&layers, "check.draws"), "built-in paper-bench");
        assert_eq!(origin(&layers, "models.\"qwen3-1.7b\".params"), "built-in paper-models");
        assert_eq!(origin(&layers, "run.order"), "default");
    }

    #[test]
    fn values_of_sections_that_no_layer_sets_are_shown() {
        let layers = load("", &[], &[("eval.samples", "3")]).unwrap();
        assert_eq!(origin(&layers, "eval.samples"), "--flag");
        assert_eq!(origin(&layers, "eval.max_tokens"), "default");
        let sections = layers.values().into_iter().map(|(key, ..)| key.split('.').next().map(str::to_owned));
        let mut sections: Vec<_> = sections.collect::<Option<_>>().unwrap();
        sections.dedup();
        // Nothing of an asker has a default.
        let all = ["protocol", "boundary", "check", "equivalence", "eval", "run", "train"];
        assert_eq!(sections[..7], all, "in order, and each once");
        assert_eq!(origin(&layers, "train.watch.patience"), "default");
        let twice = layers.values().iter().filter(|(key, ..)| key == "eval.samples").count();
        assert_eq!(twice, 1);
    }

    #[test]
    fn an_error_names_its_file_and_line_and_guesses() {
        let error = load("[protocol]\nrounds = 4\n[run]\nsampels = 3\n", &[], &[]).unwrap_err();
        assert!(error.to_string().ends_with("x.toml:4: unknown key `sampels`"), "{error}");
        assert_eq!(error.hint.as_deref(), Some("did you mean `samples`?"));
        let error = load("[run]\nsamples = \"many\"", &[], &[]).unwrap_err();
        assert!(
            error.to_string().contains("x.toml:2: expected a whole number of 0 or more, found \"many\""),
            "{error}"
        );
        let error = load("[run", &[], &[]).unwrap_err();
        assert!(error.to_string().contains("x.toml:1:"), "{error}");
        let error = load("", &[("ASKE_RUN_SAMPELS", "1")], &[]).unwrap_err();
        assert_eq!(error.to_string(), "ASKE_RUN_SAMPELS: unknown key `sampels`");
        let error = load("", &[("ASKE_RNU_SAMPLES", "1")], &[]).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean ASKE_RUN_…?"));
        let error = load("", &[], &[("run.smaples", "1")]).unwrap_err();
        assert_eq!(error.to_string(), "--flag: unknown key `smaples`");
        let error = load("extends = \"papre-bench\"", &[], &[]).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean the built-in `paper-bench`?"));
    }

    #[test]
    fn old_keys_are_read_from_every_layer_with_a_notice() {
        let text = "[train]\ndecay = 0.5\n[equivalence]\ntokens = 7";
        let flags = [("train.warm_up", "9"), ("train.keep_checkpoints", "2")];
        let layers = load(text, &[("ASKE_EQUIVALENCE_TOKENS", "8")], &flags).unwrap();
        let config = layers.config();
        assert_eq!((config.train.warmup_steps, config.equivalence.max_tokens), (9, 8));
        assert!((config.train.weight_decay - 0.5).abs() < 1e-12);
        assert_eq!(origin(&layers, "train.warmup_steps"), "--flag");
        let notices = layers.notices();
        assert!(
            notices[0].ends_with("x.toml: `equivalence.tokens` is deprecated; use `equivalence.max_tokens`")
        );
        assert_eq!(notices.len(), 4, "{notices:?}");
        assert_eq!(notices[3], "--flag: `train.warm_up` is deprecated; use `train.warmup_steps`");
        let error = load("[train]\ndecay = 1\n\nsteps = \"x\"", &[], &[]).unwrap_err();
        assert!(
            error.to_string().contains("x.toml:4: expected a whole number of 0 or more, found \"x\""),
            "{error}"
        );
        let error = load("[train]\ndecay = 1\nweight_decay = 1", &[], &[]).unwrap_err();
        assert!(error.to_string().contains("x.toml:2: unknown key `decay`"), "{error}");
    }

    #[test]
    fn a_run_folder_with_old_keys_is_read_without_a_notice() {
        let stored = toml::from_str("[train]\nalpha = 0.25").unwrap();
        let layers = Layers::of_run(stored, Path::new("run.toml"), None, std::iter::empty(), &[]).unwrap();
        assert!((layers.config().train.diversity_coef - 0.25).abs() < 1e-12 && layers.notices().is_empty());
    }

    #[test]
    fn a_variable_that_holds_a_key_sets_nothing() {
        let text = "[models.a]\napi_key_env = \"ASKE_SECRET\"";
        let layers = load(text, &[("ASKE_SECRET", "sk-1")], &[]).unwrap();
        assert!(!format!("{layers:?}").contains("sk-1"));
        assert!(load("", &[("ASKE_SECRET", "sk-1")], &[]).is_err());
    }

    #[test]
    fn a_library_reports_variables_that_set_nothing_and_reads_text() {
        let load = |variables: &[(&str, &str)]| {
            let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            Layers::embedded(ConfigSource::Text("[run]\nsamples = 3"), variables, &[])
        };
        let layers =
            load(&[("ASKE_HOME", "sk-1"), ("ASKE_RUN_SAMPELS", "sk-2"), ("ASKE_RUN_SEED", "5")]).unwrap();
        assert_eq!((layers.config().run.samples, layers.config().run.seed), (3, 5));
        assert_eq!(
            layers.notices(),
            [
                "ASKE_HOME: this environment variable sets nothing; ASKE_SECTION_KEY sets a key, such as ASKE_RUN_SAMPLES=3",
                "ASKE_RUN_SAMPELS: unknown key `sampels`; did you mean `samples`?",
            ]
        );
        // A value that a key does not accept is an error.
        assert!(load(&[("ASKE_RUN_SEED", "many")]).is_err());
    }

    #[test]
    fn the_folder_of_downloaded_models_sets_nothing() {
        assert!(load("", &[("ASKE_CACHE", "/models")], &[]).is_ok());
    }

    #[test]
    fn a_set_named_above_a_list_of_solvers_replaces_it() {
        let text = "[boundary]\nsolvers = [\"a\", \"b\"]";
        let layers = load(text, &[], &[("boundary.set", "\"small\"")]).unwrap();
        assert!(layers.config().boundary.solvers.is_empty());
    }

    #[test]
    fn a_file_that_extends_itself_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "extends = \"a.toml\"").unwrap();
        let error = Layers::load(path.to_str(), std::iter::empty(), &[]).unwrap_err();
        assert!(error.to_string().ends_with("the file extends itself"), "{error}");
    }

    #[test]
    fn keys_with_dots_are_quoted() {
        assert_eq!(split_key("models.\"a.b\".url"), ["models", "a.b", "url"]);
    }
}
