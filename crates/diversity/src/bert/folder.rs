//! The folder of an encoder: which files there are, and what they say.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use xxhash_rust::xxh3::Xxh3;

use super::network::{Config, Network, Pooling};
use super::tokens::Tokens;
use crate::EmbedError;

/// Nothing larger is read: this is for small encoders, and a file is not to be trusted about itself.
const MOST_WEIGHTS: u64 = 1 << 31;
const MOST_TEXT: u64 = 1 << 25;

/// What a folder holds.
pub(super) struct Parts {
    pub(super) tokens: Tokens,
    pub(super) network: Network,
    pub(super) fingerprint: String,
}

/// One entry of `modules.json`.
#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

/// What is read of `sentence_bert_config.json`.
#[derive(Default, Deserialize)]
struct Limits {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

/// Reads a folder in the layout of transformers and sentence-transformers.
pub(super) fn read(folder: &Path) -> Result<Parts, EmbedError> {
    let (inner, pooling) = modules(folder)?;
    let inner = folder.join(inner);
    let at = |name: &str| inner.join(name);
    let (config_file, tokens_file, weights_file) =
        (bytes(&at("config.json"))?, bytes(&at("tokenizer.json"))?, weights(&at("model.safetensors"))?);
    let config =
        Config::read(&config_file).map_err(|problem| EmbedError::file(&at("config.json"), problem))?;
    let limits_at = at("sentence_bert_config.json");
    let limits: Limits =
        if limits_at.is_file() { parsed(&limits_at, &bytes(&limits_at)?)? } else { Limits::default() };
    let longest = limits.max_seq_length.map_or(config.longest(), |most| most.min(config.longest()));
    let lower = limits.do_lower_case;
    let tokens = Tokens::read(&tokens_file, config.vocabulary(), longest, lower)
        .map_err(|problem| EmbedError::file(&at("tokenizer.json"), problem))?;
    let network = Network::load(config, pooling, &weights_file)
        .map_err(|problem| EmbedError::file(&at("model.safetensors"), problem))?;
    let mut hash = Xxh3::new();
    for file in [&config_file, &tokens_file, &weights_file] {
        hash.update(&(file.len() as u64).to_le_bytes());
        hash.update(file);
    }
    let lower = if lower { "-lower" } else { "" };
    let fingerprint = format!("bert-{}-{longest}{lower}-{:032x}", pooling.name(), hash.digest128());
    Ok(Parts { tokens, network, fingerprint })
}

/// The folder of the network, from `modules.json`, and how its vectors become one.
///
/// A folder that says nothing is read as sentence-transformers reads it: the mean.
fn modules(folder: &Path) -> Result<(String, Pooling), EmbedError> {
    let list = folder.join("modules.json");
    let usual = folder.join("1_Pooling").join("config.json");
    if !list.is_file() {
        let pooling = if usual.is_file() { pooling(&usual)? } else { Pooling::Mean };
        return Ok((String::new(), pooling));
    }
    let modules: Vec<Module> = parsed(&list, &bytes(&list)?)?;
    let (mut network, mut found) = (None, None);
    for module in modules {
        match module.kind.rsplit('.').next() {
            Some("Transformer") if network.is_none() => network = Some(module.path),
            Some("Pooling") if found.is_none() => {
                found = Some(pooling(&folder.join(module.path).join("config.json"))?);
            }
            Some("Normalize") => {}
            _ => {
                let problem = format!(
                    "a module `{}` is not computed here, only one Transformer, one Pooling and Normalize",
                    module.kind
                );
                return Err(EmbedError::file(&list, problem));
            }
        }
    }
    match (network, found) {
        (Some(network), Some(pooling)) => Ok((network, pooling)),
        _ => Err(EmbedError::file(&list, "it lists no Transformer or no Pooling")),
    }
}

/// Reads the configuration of a Pooling module: one flag for each way, or the name of one.
fn pooling(path: &Path) -> Result<Pooling, EmbedError> {
    let all: Map<String, Value> = parsed(path, &bytes(path)?)?;
    let flag = |(key, value): (&String, &Value)| {
        key.strip_prefix("pooling_mode_").filter(|_| *value == Value::Bool(true)).map(str::to_owned)
    };
    let ways: Vec<String> = match all.get("pooling_mode") {
        Some(Value::String(way)) => vec![way.clone()],
        Some(other) => vec![other.to_string()],
        None => all.iter().filter_map(flag).collect(),
    };
    match ways.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["cls" | "cls_token"] => Ok(Pooling::First),
        ["mean" | "mean_tokens"] => Ok(Pooling::Mean),
        others => {
            let problem = format!("pooling by {others:?} is not computed here, only `cls` or `mean`");
            Err(EmbedError::file(path, problem))
        }
    }
}

fn parsed<'a, T: Deserialize<'a>>(path: &Path, text: &'a [u8]) -> Result<T, EmbedError> {
    serde_json::from_slice(text).map_err(|error| EmbedError::file(path, error.to_string()))
}

fn bytes(path: &Path) -> Result<Vec<u8>, EmbedError> {
    bounded(path, MOST_TEXT)
}

fn weights(path: &Path) -> Result<Vec<u8>, EmbedError> {
    bounded(path, MOST_WEIGHTS)
}

fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, EmbedError> {
    let unreadable = |error: std::io::Error| EmbedError::file(path, format!("cannot be read: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    if length > most {
        return Err(EmbedError::file(path, format!("{length} bytes are more than the {most} that are read")));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}
