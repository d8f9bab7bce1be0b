//! Builds the provider of a model from its configuration section. [`ModelRegistry`](crate::ModelRegistry) and the Python
//! environment use it.

use aske_config::{
    ConfigError, MODEL_FOLDER_HINT, ModelSection, PROVIDER_HINT, ProviderKind, is_env_var_name, load_script,
};
use aske_model::{Checkpoint, Endpoint, EngineOptions, HttpClient, Local, OpenAi, Provider, Scripted};
use aske_session::Pack;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The sessions that a `fixed` or `staircase` asker takes part in.
#[derive(Clone, Debug)]
pub struct Dialogue {
    /// The prompts.
    pub pack: Arc<Pack>,
    /// Probing rounds.
    pub rounds: u32,
}

/// Hint for a checkpoint that this engine does not run.
const SERVE_HINT: &str = "`aske eval`, `ask`, `bench` and `train` start vLLM for such a folder; elsewhere serve it with \
                          `vllm serve FOLDER`, and set provider = \"openai\", `url` and `model`";

/// Megabytes of the prefix cache of a local model by default. Small, because solvers see one message each.
const CACHE_MB: usize = 4;

/// Builds a model's provider: connects to a server, reads a script or loads weights. API keys are read from the
/// environment here and stored nowhere else.
pub fn provider(
    http: &HttpClient,
    name: &str,
    section: &ModelSection,
    dialogue: &Dialogue,
) -> Result<Box<dyn Provider>, ConfigError> {
    let key = format!("models.{name}");
    match section.provider {
        Some(ProviderKind::Openai) => Ok(Box::new(openai(http, name, section)?)),
        Some(ProviderKind::Scripted) => Ok(Box::new(scripted(name, section)?)),
        Some(ProviderKind::Local) => Ok(Box::new(local(name, section)?)),
        Some(ProviderKind::Llama) => gguf(name, section),
        Some(kind @ (ProviderKind::Fixed | ProviderKind::Staircase)) => {
            nano_asker(kind, &key, section, dialogue)
        }
        Some(ProviderKind::Imported) => {
            Err(ConfigError::at(key, "only the name is known, from imported rollouts")
                .with_hint(format!("say who serves it: `-o models.{name}.provider=…` and what that needs")))
        }
        None => Err(ConfigError::at(key, "no provider").with_hint(PROVIDER_HINT)),
    }
}

fn openai(http: &HttpClient, name: &str, section: &ModelSection) -> Result<OpenAi, ConfigError> {
    let endpoint = Endpoint {
        urls: section.url.to_vec(),
        model: section.model.clone().unwrap_or_else(|| name.to_owned()),
        api_key: section.api_key_env.as_deref().map(|variable| api_key(name, variable)).transpose()?,
        tokens_field: section.max_tokens_field,
        omit: section.omit.clone(),
        fold_system: section.fold_system,
        extra: as_json(&section.extra_body),
        headers: Vec::new(),
    };
    OpenAi::new(http, endpoint).map_err(|error| ConfigError::caused_by(format!("models.{name}"), &error))
}

fn api_key(name: &str, variable: &str) -> Result<String, ConfigError> {
    let error = |message: String| ConfigError::at(format!("models.{name}.api_key_env"), message);
    match std::env::var(variable) {
        Ok(key) if !key.trim().is_empty() => Ok(key.trim().to_owned()),
        _ if is_env_var_name(variable) => {
            Err(error(format!("the environment variable {variable} is not set"))
                .with_hint(format!("export {variable}=… with the key of this provider")))
        }
        // It may be the key itself, so it is not repeated.
        _ => Err(error("this is not the name of an environment variable".to_owned()).with_hint(
            "put the key into a variable, such as `export OPENAI_API_KEY=…`, and name the variable here: \
             api_key_env = \"OPENAI_API_KEY\"",
        )),
    }
}

fn as_json(table: &toml::Table) -> Map<String, Value> {
    match serde_json::to_value(table) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn scripted(name: &str, section: &ModelSection) -> Result<Scripted, ConfigError> {
    let path = section.script.as_deref().unwrap_or_default();
    let text = load_script(path).map_err(|error| error.inside(format!("models.{name}.script")))?;
    let script = Scripted::parse(&text).map_err(|error| ConfigError::caused_by(path, &error))?;
    Ok(script.with_delay(Duration::from_millis(section.delay_ms.unwrap_or(0))))
}

fn local(name: &str, section: &ModelSection) -> Result<Local, ConfigError> {
    let path = section.path.as_deref().unwrap_or_default();
    let wrong =
        |error: String| ConfigError::at(format!("models.{name}.path"), error).with_hint(MODEL_FOLDER_HINT);
    if let Some(reason) = Checkpoint::unsupported(Path::new(path)) {
        return Err(wrong(reason.to_string()).with_hint(SERVE_HINT));
    }
    let checkpoint = match path.strip_prefix("builtin:") {
        Some(bundled) => builtin(bundled).map_err(wrong)?,
        None => Checkpoint::from_folder(Path::new(path)).map_err(|error| wrong(error.to_string()))?,
    };
    let threads = section.threads.unwrap_or(1);
    let prefix_cache_bytes = section.cache_mb.unwrap_or(CACHE_MB).saturating_mul(1_000_000);
    let options = EngineOptions { threads, prefix_cache_bytes, ..EngineOptions::default() };
    let checkpoint = checkpoint.with_template_variables(chat_template_kwargs(section));
    let local = Local::new(checkpoint.start(&options).map_err(|error| wrong(error.to_string()))?);
    Ok(if section.fold_system { local.folded() } else { local })
}

/// Variables of the chat template of a model in this process, such as `enable_thinking`.
pub fn chat_template_kwargs(section: &ModelSection) -> Map<String, Value> {
    let given = section.extra_body.get("chat_template_kwargs").and_then(toml::Value::as_table);
    given.map(as_json).unwrap_or_default()
}

#[cfg(feature = "nano")]
fn builtin(name: &str) -> Result<Checkpoint, String> {
    aske_nano::checkpoint(name).map_err(|error| error.to_string())
}

#[cfg(not(feature = "nano"))]
fn builtin(name: &str) -> Result<Checkpoint, String> {
    Err(format!("`builtin:{name}` is bundled with the program `aske` only"))
}

#[cfg(feature = "nano")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature it fails")]
fn nano_asker(
    kind: ProviderKind,
    _: &str,
    section: &ModelSection,
    dialogue: &Dialogue,
) -> Result<Box<dyn Provider>, ConfigError> {
    use aske_nano::{FreeAsker, Strategy, TAUGHT_LEVELS};

    let strategy = if kind == ProviderKind::Fixed { Strategy::Fixed } else { Strategy::Staircase };
    let levels = section.levels.unwrap_or(TAUGHT_LEVELS);
    let asker = FreeAsker::new(strategy, dialogue.pack.clone(), dialogue.rounds, levels);
    Ok(Box::new(if section.reuse_probes == Some(false) { asker.with_new_final_question() } else { asker }))
}

#[cfg(not(feature = "nano"))]
fn nano_asker(
    _: ProviderKind,
    key: &str,
    _: &ModelSection,
    _: &Dialogue,
) -> Result<Box<dyn Provider>, ConfigError> {
    Err(ConfigError::at(key, "this asker is bundled with the program `aske` only"))
}

#[cfg(feature = "llama")]
fn gguf(name: &str, section: &ModelSection) -> Result<Box<dyn Provider>, ConfigError> {
    use aske_model::{Gguf, Llama, LlamaError, LlamaOptions};

    let wrong = |error: LlamaError| ConfigError::caused_by(format!("models.{name}.path"), &error);
    let default = LlamaOptions::default();
    let options = LlamaOptions {
        threads: section.threads.unwrap_or(default.threads),
        batch: section.batch_size.unwrap_or(default.batch),
        context: section.context_length.unwrap_or(default.context),
        gpu_layers: section.gpu_layers.unwrap_or(default.gpu_layers),
    };
    let path = gguf_path(name, section.path.as_deref().unwrap_or_default())?;
    let file = Gguf::open(&path, options.gpu_layers, chat_template_kwargs(section)).map_err(wrong)?;
    let local = Local::new(Llama::start(file, &options).map_err(wrong)?);
    Ok(Box::new(if section.fold_system { local.folded() } else { local }))
}

/// The file at a path; `pulled:NAME` is the file that `aske models pull NAME` downloads.
#[cfg(feature = "llama")]
fn gguf_path(name: &str, path: &str) -> Result<std::path::PathBuf, ConfigError> {
    use aske_weights::{Cache, Catalogue};

    let Some(pulled) = path.strip_prefix("pulled:") else { return Ok(path.into()) };
    let wrong = |message: String| ConfigError::at(format!("models.{name}.path"), message);
    let catalogue = Catalogue::builtin().map_err(|error| wrong(error.to_string()))?;
    let model = catalogue.find(pulled).filter(|model| model.file.is_some()).ok_or_else(|| {
        wrong(format!("no GGUF file `{pulled}` in the catalogue"))
            .with_hint("`aske models catalogue` lists the names")
    })?;
    let cache = Cache::open().map_err(|error| wrong(error.to_string()))?;
    cache.find(model).ok_or_else(|| {
        wrong(format!("`{pulled}` is not on this machine"))
            .with_hint(format!("`aske models pull {pulled}` downloads it"))
    })
}

#[cfg(not(feature = "llama"))]
fn gguf(name: &str, _: &ModelSection) -> Result<Box<dyn Provider>, ConfigError> {
    Err(ConfigError::at(format!("models.{name}.provider"), "this program was built without llama.cpp").with_hint(
        "build it with `scripts/with-llama cargo install --path crates/cli --features llama`, or serve the model",
    ))
}
