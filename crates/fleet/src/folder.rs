//! A local folder with a model: its size from the headers of its safetensors files, and its shape from `config.json`.

mod config;
mod weights;

use crate::shape::CacheShape;
use aske_chat::Hint;
use config::{CacheError, Config};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use weights::Weights;

/// What a local folder says about its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFolder {
    /// Its weights; none if they are in another format than safetensors.
    pub(crate) weights: Option<Weights>,
    /// Its cache, if known.
    pub(crate) cache: Option<CacheShape>,
    /// Why its cache is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unknown: Option<String>,
    /// The longest context, in tokens.
    pub(crate) max_context: Option<u32>,
    /// Whether the weights are published in fewer than 16 bits.
    pub(crate) quantised: bool,
}

/// A local folder that no server can load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct FolderError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub message: String,
}

impl Hint for FolderError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(
            "vLLM serves a folder with config.json, weights as safetensors and a tokenizer; another copy or a \
             repository on the hub is named by `model`"
                .into(),
        )
    }
}

const CONFIG: &str = "config.json";
/// The configuration of Mistral's own format.
const MISTRAL_CONFIG: &str = "params.json";
/// The most bytes of a file of text, and of the header of a safetensors file.
const MAX_TEXT: u64 = 1 << 26;

impl ModelFolder {
    /// Reads a folder.
    pub fn read(folder: &Path) -> Result<Self, FolderError> {
        let weights = Weights::read(folder)?;
        let path = folder.join(CONFIG);
        if !path.exists() {
            if folder.join(MISTRAL_CONFIG).is_file() {
                let unknown = Some(format!("{} has no {CONFIG}", folder.display()));
                return Ok(Self { weights, cache: None, unknown, max_context: None, quantised: false });
            }
            return Err(FolderError { path: folder.to_owned(), message: format!("there is no {CONFIG}") });
        }
        let wrong = |message| FolderError { path: path.clone(), message };
        let config = Config::parse(&read_text(&path)?).map_err(wrong)?;
        let (cache, unknown) = match config.cache() {
            Ok(cache) => (Some(cache), None),
            Err(CacheError::Unknown(reason)) => (None, Some(format!("{}: {reason}", path.display()))),
            Err(CacheError::Invalid(message)) => return Err(wrong(message)),
        };
        Ok(Self {
            weights,
            unknown,
            cache,
            max_context: config.max_context().map_err(wrong)?,
            quantised: config.is_quantised(),
        })
    }

    /// Why its cache is not known.
    pub fn unknown_cache(&self) -> Option<&str> {
        self.unknown.as_deref()
    }
}

fn read_text(path: &Path) -> Result<Vec<u8>, FolderError> {
    let error = |message: String| FolderError { path: path.to_owned(), message };
    let length = std::fs::metadata(path).map_err(|cause| error(cause.to_string()))?;
    if !length.is_file() {
        return Err(error("it is not a file".to_owned()));
    }
    if length.len() > MAX_TEXT {
        return Err(error(format!("{} bytes are more than the supported {MAX_TEXT}", length.len())));
    }
    let mut text = Vec::new();
    let file = File::open(path).and_then(|file| file.take(MAX_TEXT).read_to_end(&mut text));
    file.map_err(|cause| error(cause.to_string()))?;
    Ok(text)
}
