//! Resolves a model named on the command line: a configured model, a URL, a GGUF file or a checkpoint folder.

use crate::error::CliError;
use aske_config::{Layers, ModelSection, ProviderKind, sanitize_name};
use aske_model::redact_url;
use aske_record::Manifest;
use std::path::{Path, PathBuf};
use toml::Value;

const WEIGHTS: &str = "model.safetensors";
const WEIGHTS_INDEX: &str = "model.safetensors.index.json";

/// A model name, and the configuration keys that define it if the configuration does not.
#[derive(Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) keys: Vec<(String, Value)>,
}

/// Whether this may be an address, a file or a folder; a configured model of the same name has precedence.
pub(crate) fn is_place(word: &str) -> bool {
    word.contains("://") || word.contains(std::path::MAIN_SEPARATOR) || Path::new(word).exists()
}

/// Resolves a model argument: a configured model, `URL#NAME`, a GGUF file, a checkpoint folder, or a seed folder of a
/// training.
pub(crate) fn named(word: &str, layers: &Layers) -> Result<Named, CliError> {
    if layers.config().models.contains_key(word) {
        return Ok(Named { name: word.to_owned(), keys: Vec::new() });
    }
    if word.starts_with("http://") || word.starts_with("https://") {
        return served(word);
    }
    let path = Path::new(word);
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gguf")) {
        if !path.is_file() {
            return Err(CliError::usage(format!("{word}: no such file"), "name an existing GGUF file"));
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        return Ok(local(&name, "llama", path));
    }
    if path.is_dir() {
        let trained = path.join("trained");
        let folder = if is_checkpoint(&trained) { &trained } else { path };
        if is_checkpoint(folder) {
            let mut checkpoint = local(&name_of(folder), "local", folder);
            checkpoint.keys.extend(inherited(folder, &checkpoint.name)?);
            return Ok(checkpoint);
        }
        return Err(CliError::usage(
            format!("{word}: no checkpoint in this folder"),
            "a checkpoint has config.json, model.safetensors, or several files and model.safetensors.index.json, and a \
             tokenizer; `aske train` writes one to FOLDER/seed-N/trained",
        ));
    }
    // Not a file either: loading the configuration reports the unknown name and suggests a close one.
    Ok(Named { name: word.to_owned(), keys: Vec::new() })
}

/// `URL#NAME`.
fn served(word: &str) -> Result<Named, CliError> {
    let Some((url, served)) = word.split_once('#').filter(|(_, served)| !served.is_empty()) else {
        let word = redact_url(word);
        return Err(CliError::usage(
            format!("{word}: which model of this server?"),
            format!("append its name: {word}#NAME"),
        ));
    };
    let name = sanitize_name(served.rsplit('/').next().unwrap_or(served), "model");
    let keys = [("provider", "openai"), ("url", url), ("model", served)];
    Ok(Named { keys: keys_of(&name, &keys), name })
}

fn local(name: &str, provider: &str, path: &Path) -> Named {
    let name = sanitize_name(name, "model");
    let path = path.to_string_lossy();
    Named { keys: keys_of(&name, &[("provider", provider), ("path", &path)]), name }
}

fn keys_of(name: &str, keys: &[(&str, &str)]) -> Vec<(String, Value)> {
    keys.iter().map(|(key, value)| (key_of(name, key), Value::from(*value))).collect()
}

fn key_of(name: &str, key: &str) -> String {
    format!("models.\"{name}\".{key}")
}

fn is_checkpoint(folder: &Path) -> bool {
    let file = |name: &str| folder.join(name).is_file();
    file("config.json") && (file(WEIGHTS) || file(WEIGHTS_INDEX))
}

/// The configuration keys of the model that a checkpoint was trained from; they apply to the checkpoint as well.
fn inherited(checkpoint: &Path, name: &str) -> Result<Vec<(String, Value)>, CliError> {
    let checkpoint = std::path::absolute(checkpoint).unwrap_or_else(|_| checkpoint.to_owned());
    for folder in checkpoint.ancestors().skip(1).take(2) {
        let Some(Manifest { config, .. }) = Manifest::read(folder)? else { continue };
        let start = config.get("asker").and_then(|asker| asker.get("model")?.as_str());
        let Some(section) = start.and_then(|start| config.get("models")?.get(start)?.as_table()) else {
            break;
        };
        let others =
            section.iter().filter(|(key, _)| !matches!(key.as_str(), "provider" | "path" | "params"));
        return Ok(others.map(|(key, value)| (key_of(name, key), value.clone())).collect());
    }
    Ok(Vec::new())
}

/// The name of a checkpoint: its folder, or the training, seed and step that it belongs to.
fn name_of(folder: &Path) -> String {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
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

/// A checksum of local weights, so that another checkpoint of the same name is not mistaken for this one. `None` for
/// built-in and served models.
pub(crate) fn weights(section: &ModelSection) -> Option<String> {
    let path = section.path.as_deref().filter(|path| !path.starts_with("builtin:"))?;
    match section.provider {
        Some(ProviderKind::Local) => {
            let whole = aske_eval::file_hash(&Path::new(path).join(WEIGHTS)).ok();
            whole.or_else(|| split_weights(Path::new(path)))
        }
        Some(ProviderKind::Llama) if !path.starts_with("pulled:") => {
            aske_eval::file_hash(Path::new(path)).ok()
        }
        _ => None,
    }
}

/// The checksums of weights in several files.
fn split_weights(folder: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "safetensors")).collect();
    files.sort();
    let hashes = files.iter().map(|file| aske_eval::file_hash(file).ok());
    let hashes = hashes.collect::<Option<Vec<_>>>()?;
    (!hashes.is_empty()).then(|| hashes.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers() -> Layers {
        Layers::load(Some("nano"), std::iter::empty(), &[]).unwrap()
    }

    #[test]
    fn a_word_is_a_configured_model_first_then_an_address_a_file_or_a_folder() {
        assert_eq!(named("nano-asker", &layers()).unwrap().keys, []);
        let served = named("http://localhost:8000/v1#Qwen/Qwen3.5-4B", &layers()).unwrap();
        assert_eq!(served.name, "Qwen3.5-4B");
        assert_eq!(
            served.keys[1],
            ("models.\"Qwen3.5-4B\".url".to_owned(), "http://localhost:8000/v1".into())
        );
        assert!(named("http://localhost:8000/v1", &layers()).is_err());
        assert!(named("none.gguf", &layers()).is_err());
        let folder = tempfile::tempdir().unwrap();
        let seed = folder.path().join("my-train/seed-3");
        std::fs::create_dir_all(seed.join("trained")).unwrap();
        assert!(named(&seed.to_string_lossy(), &layers()).is_err(), "no checkpoint yet");
        for file in ["config.json", "model.safetensors"] {
            std::fs::write(seed.join("trained").join(file), "x").unwrap();
        }
        let trained = named(&seed.to_string_lossy(), &layers()).unwrap();
        assert_eq!(trained.name, "my-train-seed-3");
        assert_eq!(named(&seed.join("trained").to_string_lossy(), &layers()).unwrap(), trained);
    }

    #[test]
    fn a_checkpoint_of_a_training_is_asked_like_the_model_it_was_trained_from() {
        let folder = tempfile::tempdir().unwrap();
        let seed = folder.path().join("my-train/seed-3");
        let config = "asker.model = 'start'\n[models.start]\nprovider = 'local'\npath = 'builtin:start'\n\
                      instruction = 'Go.'\nsampling.temperature = 0.7\n";
        let manifest = Manifest::new("1", aske_record::Identity::default(), config.parse().unwrap());
        for checkpoint in ["trained", "checkpoints/step-000005"] {
            let place = seed.join(checkpoint);
            std::fs::create_dir_all(&place).unwrap();
            for file in ["config.json", "model.safetensors"] {
                std::fs::write(place.join(file), "x").unwrap();
            }
        }
        std::fs::write(seed.join("run.toml"), toml::to_string(&manifest).unwrap()).unwrap();
        for (checkpoint, name) in
            [("trained", "my-train-seed-3"), ("checkpoints/step-000005", "my-train-seed-3-step-000005")]
        {
            let place = seed.join(checkpoint).to_string_lossy().into_owned();
            let found = named(&place, &layers()).unwrap();
            assert_eq!(found.name, name);
            let key = |key: &str| format!("models.\"{name}\".{key}");
            let expected = [
                (key("provider"), Value::from("local")),
                (key("path"), place.into()),
                (key("instruction"), "Go.".into()),
                (key("sampling"), toml::Table::from_iter([("temperature".to_owned(), 0.7.into())]).into()),
            ];
            assert_eq!(found.keys, expected);
        }
    }
}
