//! Models in GGUF files, where the program was built with llama.cpp.

use aske_config::{ConfigError, ModelSection};
use aske_model::Provider;

#[cfg(feature = "llama")]
pub(crate) fn gguf(name: &str, section: &ModelSection) -> Result<Box<dyn Provider>, ConfigError> {
    use aske_model::{Gguf, Llama, LlamaError, LlamaOptions, Local};

    let wrong = |error: LlamaError| {
        ConfigError::at(format!("models.{name}.path"), error.to_string()).with_hint(error.hint())
    };
    let usual = LlamaOptions::default();
    let options = LlamaOptions {
        threads: section.threads.unwrap_or(usual.threads),
        batch: section.batch_size.unwrap_or(usual.batch),
        context: section.context_length.unwrap_or(usual.context),
        gpu_layers: section.gpu_layers.unwrap_or(usual.gpu_layers),
    };
    let path = find(name, section.path.as_deref().unwrap_or_default())?;
    let file = Gguf::open(&path, options.gpu_layers, for_template(section)).map_err(wrong)?;
    let local = Local::new(Llama::start(file, &options).map_err(wrong)?);
    Ok(Box::new(if section.fold_system { local.folded() } else { local }))
}

/// The file of a path: `pulled:NAME` is what `aske models pull NAME` has brought.
#[cfg(feature = "llama")]
fn find(name: &str, path: &str) -> Result<std::path::PathBuf, ConfigError> {
    use aske_weights::{Cache, Catalogue};

    let Some(pulled) = path.strip_prefix("pulled:") else { return Ok(path.into()) };
    let wrong = |problem: String| ConfigError::at(format!("models.{name}.path"), problem);
    let catalogue = Catalogue::builtin().map_err(|error| wrong(error.to_string()))?;
    let model = catalogue.find(pulled).filter(|model| model.file.is_some()).ok_or_else(|| {
        wrong(format!("no GGUF file `{pulled}` in the catalogue"))
            .with_hint("`aske models catalogue` lists what there is")
    })?;
    let cache = Cache::open().map_err(|error| wrong(error.to_string()))?;
    cache.find(model).ok_or_else(|| {
        wrong(format!("`{pulled}` is not on this machine"))
            .with_hint(format!("`aske models pull {pulled}` downloads it"))
    })
}

/// What the chat template is given: as servers take it, `extra_body.chat_template_kwargs`.
#[cfg(feature = "llama")]
fn for_template(section: &ModelSection) -> serde_json::Map<String, serde_json::Value> {
    let given = section.extra_body.get("chat_template_kwargs").map(serde_json::to_value);
    given.and_then(Result::ok).and_then(|given| given.as_object().cloned()).unwrap_or_default()
}

#[cfg(not(feature = "llama"))]
pub(crate) fn gguf(name: &str, _: &ModelSection) -> Result<Box<dyn Provider>, ConfigError> {
    Err(ConfigError::at(format!("models.{name}.provider"), "this program was built without llama.cpp")
        .with_hint("build it with `scripts/with-llama cargo install --path crates/cli --features llama`, or serve the model"))
}
