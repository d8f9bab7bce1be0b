//! Models that are named by a path, an address or `PROVIDER/MODEL` instead of a section `[models.NAME]`.

use crate::providers::ProviderEnvironment;
use crate::{Config, ConfigError, ProviderSection, did_you_mean, renamed, sanitize_name};
use aske_model::{redact_text, redact_url};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

const WEIGHTS: [&str; 2] = ["model.safetensors", "model.safetensors.index.json"];

/// The definition of a model that no section defines.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    /// Valid names for it, from the shortest to a unique one.
    pub(crate) names: Vec<String>,
    /// Its keys, as in `[models.NAME]`.
    pub(crate) keys: Table,
}

impl Definition {
    fn new(word: &str, name: &str, more: Option<&str>, keys: Table) -> Self {
        let name = sanitize_name(name, "model");
        let hash = blake3::hash(word.as_bytes()).to_hex();
        let longer = more.map(|more| sanitize_name(&format!("{name}-{more}"), "model"));
        let unique = format!("{name}-{}", &hash[..8]);
        Self { names: std::iter::once(name).chain(longer).chain([unique]).collect(), keys }
    }
}

/// Whether this is the address of a server without the name of a model.
pub fn is_bare_url(word: &str) -> bool {
    is_url(word) && word.split_once('#').is_none_or(|(_, model)| model.is_empty())
}

/// Whether this is an address.
pub(crate) fn is_url(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// Defines the model that a word names: an existing checkpoint folder or GGUF file, `URL#MODEL` or `PROVIDER/MODEL`.
///
/// The error says what the word is instead.
pub(crate) fn define(
    word: &str,
    config: &Config,
    environment: &ProviderEnvironment,
) -> Result<Definition, ConfigError> {
    let path = Path::new(word);
    let is_gguf = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"));
    if is_gguf && path.is_file() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        return Ok(Definition::new(word, &name, None, at_path("llama", path)));
    }
    if path.is_dir() {
        return checkpoint(word, path);
    }
    if path.exists() {
        return Err(ConfigError::at(word, "neither a GGUF file nor a checkpoint folder").with_hint(
            "name a folder with config.json and model.safetensors, or a file that ends in .gguf",
        ));
    }
    if is_url(word) {
        return served(word, config, environment);
    }
    hosted(word, config, environment).ok_or_else(|| unknown(word, config, is_gguf))
}

/// A provider by its name or another one it has.
pub(crate) fn find_provider<'c>(
    config: &'c Config,
    given: &str,
) -> Option<(&'c String, &'c ProviderSection)> {
    config.providers.iter().find(|(name, provider)| {
        given.eq_ignore_ascii_case(name) || provider.aliases.to_vec().iter().any(|alias| alias == given)
    })
}

/// `PROVIDER/MODEL`.
fn hosted(word: &str, config: &Config, environment: &ProviderEnvironment) -> Option<Definition> {
    let (given, model) = word.split_once('/')?;
    let (name, provider) = find_provider(config, given)?;
    let model = Some(model).filter(|model| !model.is_empty())?;
    let keys = provider.model(model, environment);
    Some(Definition::new(word, &format!("{name}-{model}"), None, keys))
}

/// `URL#MODEL`. An address of a provider has the provider's key and defaults.
fn served(word: &str, config: &Config, environment: &ProviderEnvironment) -> Result<Definition, ConfigError> {
    let Some((url, model)) = word.split_once('#').filter(|(_, model)| !model.is_empty()) else {
        let shown = redact_url(word.trim_end_matches('#'));
        return Err(ConfigError::at(shown.clone(), "which model of this server?")
            .with_hint(format!("append its name: {shown}#NAME")));
    };
    let url = url.trim_end_matches('/').trim_end_matches("/chat/completions");
    let trimmed = |url: &str| url.trim_end_matches('/').to_owned();
    let is_its = |own: &Option<String>| own.as_deref().is_some_and(|own| trimmed(own) == trimmed(url));
    let provider = config.providers.values().find(|provider| is_its(&provider.url));
    let mut keys = provider.map_or_else(Table::new, |provider| provider.model(model, environment));
    for (key, value) in [("provider", "openai"), ("url", url), ("model", model)] {
        keys.insert(key.to_owned(), value.into());
    }
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default().rsplit('@').next().unwrap_or_default();
    let name = model.rsplit('/').next().unwrap_or(model);
    Ok(Definition::new(word, name, Some(host), keys))
}

fn at_path(provider: &str, path: &Path) -> Table {
    let path = Value::from(path.to_string_lossy().into_owned());
    Table::from_iter([("provider".to_owned(), provider.into()), ("path".to_owned(), path)])
}

/// A checkpoint folder, or the folder of a seed of a training.
fn checkpoint(word: &str, path: &Path) -> Result<Definition, ConfigError> {
    let trained = path.join("trained");
    let folder = if is_checkpoint(&trained) { &trained } else { path };
    if !is_checkpoint(folder) {
        return Err(ConfigError::at(word, "no checkpoint in this folder").with_hint(
            "a checkpoint has config.json, model.safetensors, or several files and model.safetensors.index.json, and a \
             tokenizer; `aske train` writes one to FOLDER/seed-N/trained",
        ));
    }
    let mut keys = at_path("local", folder);
    keys.extend(inherited(folder));
    Ok(Definition::new(word, &name_of(folder), None, keys))
}

fn is_checkpoint(folder: &Path) -> bool {
    folder.join("config.json").is_file() && WEIGHTS.iter().any(|name| folder.join(name).is_file())
}

/// The keys of the model that a checkpoint was trained from, which apply to the checkpoint as well; from the `run.toml` of
/// its training.
fn inherited(checkpoint: &Path) -> Table {
    let checkpoint = std::path::absolute(checkpoint).unwrap_or_else(|_| checkpoint.to_owned());
    let manifests = checkpoint.ancestors().skip(1).take(2).map(|folder| folder.join("run.toml"));
    let Some(text) = manifests.into_iter().find_map(|path| std::fs::read_to_string(path).ok()) else {
        return Table::new();
    };
    let Some(Value::Table(mut config)) = text.parse::<Table>().ok().and_then(|mut run| run.remove("config"))
    else {
        return Table::new();
    };
    renamed::update(&mut config);
    let start = config.get("asker").and_then(|asker| asker.get("model")?.as_str());
    let section = start.and_then(|start| config.get("models")?.get(start)?.as_table());
    let mut keys = section.cloned().unwrap_or_default();
    keys.retain(|key, _| !matches!(key, "provider" | "path" | "params"));
    keys
}

/// The name of a checkpoint: its folder, or the training, seed and step that it belongs to.
fn name_of(folder: &Path) -> String {
    let folder: PathBuf = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let parts: Vec<String> =
        folder.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    match parts.as_slice() {
        [.., training, seed, last] if last == "trained" => format!("{training}-{seed}"),
        [.., training, seed, between, step] if between == "checkpoints" => {
            format!("{training}-{seed}-{step}")
        }
        [.., last] => last.clone(),
        [] => String::new(),
    }
}

/// What is wrong with a word that names no model.
fn unknown(word: &str, config: &Config, is_gguf: bool) -> ConfigError {
    // It may be a key that was pasted into the wrong place.
    let shown = redact_text(word);
    let error = |message: String, hint: String| ConfigError { location: None, message, hint: Some(hint) };
    if is_gguf || [".", "/", "~"].iter().any(|start| word.starts_with(start)) || word.contains('\\') {
        let hint = "name an existing checkpoint folder or GGUF file".to_owned();
        return error(format!("{shown}: no such file or folder"), hint);
    }
    let (given, model) = word.split_once('/').unwrap_or((word, ""));
    if model.is_empty()
        && let Some((name, _)) = find_provider(config, given)
    {
        let hint = format!("append its name: {name}/NAME; `aske models providers {name}` lists them");
        return error(format!("which model of {name}?"), hint);
    }
    if !word.contains('/') {
        let known = config.models.keys().map(String::as_str);
        return error(
            format!("unknown model `{shown}`"),
            did_you_mean(word, known, definition_hint(word, config)),
        );
    }
    let given = redact_text(given);
    let hint = if given.contains([':', '.']) || given == "localhost" {
        format!("an address begins with http:// or https://, such as http://{shown}")
    } else {
        let known = config.providers.keys().map(String::as_str);
        let otherwise = format!(
            "name a provider first, such as openrouter/{shown} or, on your own server, vllm/{shown}; `aske models providers` \
             lists all providers"
        );
        did_you_mean(&given.to_lowercase(), known, otherwise)
    };
    error(format!("`{shown}`: unknown provider `{given}`, and no such folder"), hint)
}

/// How to define a model that is named by a single word.
fn definition_hint(word: &str, config: &Config) -> String {
    let is_its = |(_, provider): &(&String, &ProviderSection)| provider.models.contains_key(word);
    let provider = config.providers.iter().find(is_its).map(|(name, _)| name.clone());
    match provider.or_else(|| family(word)) {
        Some(provider) => format!("name its provider: {provider}/{word}"),
        None => "name PROVIDER/MODEL, URL#MODEL, a GGUF file, a checkpoint folder or a configured model; `aske models` lists \
                 what is configured"
            .to_owned(),
    }
}

/// The provider of a model whose name begins like those of a well-known family, or has a tag as in ollama.
fn family(word: &str) -> Option<String> {
    let families = [
        ("gpt-", "openai"),
        ("o3", "openai"),
        ("o4-", "openai"),
        ("claude-", "anthropic"),
        ("gemini-", "google"),
        ("mistral-", "mistral"),
        ("deepseek-", "deepseek"),
        ("grok-", "xai"),
    ];
    let found = families.iter().find(|(start, _)| word.starts_with(start)).map(|(_, provider)| *provider);
    found.or_else(|| word.contains(':').then_some("ollama")).map(str::to_owned)
}

/// Every place of a configuration that names a model.
pub(crate) fn references(config: &mut Config) -> impl Iterator<Item = &mut String> {
    let single = [
        &mut config.asker.model,
        &mut config.check.model,
        &mut config.equivalence.model,
        &mut config.eval.judge.model,
        &mut config.difficulty.solver,
        &mut config.train.watch.model,
    ];
    let sets = config.sets.values_mut().flat_map(|set| &mut set.solvers);
    single.into_iter().flatten().chain(&mut config.boundary.solvers).chain(sets)
}
