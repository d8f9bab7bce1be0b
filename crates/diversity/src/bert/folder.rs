//! Reads an encoder from a folder in the layout of transformers and sentence-transformers.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use xxhash_rust::xxh3::Xxh3;

use super::network::{BertConfig, Network, Pooling};
use super::tokens::TextTokenizer;
use crate::EmbedError;

/// Larger files are refused: only small encoders are supported.
const MAX_WEIGHT_BYTES: u64 = 1 << 31;
const MAX_TEXT_BYTES: u64 = 1 << 25;

/// The contents of a folder.
pub(super) struct Files {
    pub(super) tokenizer: TextTokenizer,
    pub(super) network: Network,
    pub(super) fingerprint: String,
}

/// An entry of `modules.json`.
#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

/// The settings of `sentence_bert_config.json` that are used.
#[derive(Default, Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

/// Reads the files of an encoder.
pub(super) fn read(folder: &Path) -> Result<Files, EmbedError> {
    let (inner, pooling) = modules(folder)?;
    let inner = folder.join(inner);
    let at = |name: &str| inner.join(name);
    let config_file = read_file(&at("config.json"), MAX_TEXT_BYTES)?;
    let tokenizer_file = read_file(&at("tokenizer.json"), MAX_TEXT_BYTES)?;
    let weights_file = read_file(&at("model.safetensors"), MAX_WEIGHT_BYTES)?;
    let config =
        BertConfig::read(&config_file).map_err(|reason| EmbedError::file(&at("config.json"), reason))?;
    let sentence_path = at("sentence_bert_config.json");
    let sentence: SentenceConfig =
        if sentence_path.is_file() { read_json(&sentence_path)? } else { SentenceConfig::default() };
    let network_max = config.max_position_embeddings;
    let max_length = sentence.max_seq_length.map_or(network_max, |length| length.min(network_max));
    let lowercase = sentence.do_lower_case;
    let tokenizer = TextTokenizer::read(&tokenizer_file, config.vocab_size, max_length, lowercase)
        .map_err(|reason| EmbedError::file(&at("tokenizer.json"), reason))?;
    let network = Network::load(config, pooling, &weights_file)
        .map_err(|reason| EmbedError::file(&at("model.safetensors"), reason))?;
    let mut hash = Xxh3::new();
    for file in [&config_file, &tokenizer_file, &weights_file] {
        hash.update(&(file.len() as u64).to_le_bytes());
        hash.update(file);
    }
    let lower = if lowercase { "-lower" } else { "" };
    let fingerprint = format!("bert-{}-{max_length}{lower}-{:032x}", pooling.name(), hash.digest128());
    Ok(Files { tokenizer, network, fingerprint })
}

/// The folder of the network, from `modules.json`, and its pooling.
///
/// As in sentence-transformers, the default is mean pooling.
fn modules(folder: &Path) -> Result<(String, Pooling), EmbedError> {
    let list = folder.join("modules.json");
    let pooling_config = folder.join("1_Pooling").join("config.json");
    if !list.is_file() {
        let pooling = if pooling_config.is_file() { pooling(&pooling_config)? } else { Pooling::Mean };
        return Ok((String::new(), pooling));
    }
    let modules: Vec<Module> = read_json(&list)?;
    let (mut network, mut found) = (None, None);
    for module in modules {
        match module.kind.rsplit('.').next() {
            Some("Transformer") if network.is_none() => network = Some(module.path),
            Some("Pooling") if found.is_none() => {
                found = Some(pooling(&folder.join(module.path).join("config.json"))?);
            }
            Some("Normalize") => {}
            _ => {
                let reason = format!(
                    "module `{}` is not supported, only one Transformer, one Pooling and Normalize",
                    module.kind
                );
                return Err(EmbedError::file(&list, reason));
            }
        }
    }
    match (network, found) {
        (Some(network), Some(pooling)) => Ok((network, pooling)),
        _ => Err(EmbedError::file(&list, "it lists no Transformer or no Pooling")),
    }
}

/// Reads the configuration of a Pooling module: a flag for each mode, or the name of one.
fn pooling(path: &Path) -> Result<Pooling, EmbedError> {
    let all: Map<String, Value> = read_json(path)?;
    let flag = |(key, value): (&String, &Value)| {
        key.strip_prefix("pooling_mode_").filter(|_| *value == Value::Bool(true)).map(str::to_owned)
    };
    let modes: Vec<String> = match all.get("pooling_mode") {
        Some(Value::String(mode)) => vec![mode.clone()],
        Some(other) => vec![other.to_string()],
        None => all.iter().filter_map(flag).collect(),
    };
    match modes.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["cls" | "cls_token"] => Ok(Pooling::Cls),
        ["mean" | "mean_tokens"] => Ok(Pooling::Mean),
        others => {
            Err(EmbedError::file(path, format!("pooling {others:?} is not supported, only `cls` or `mean`")))
        }
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, EmbedError> {
    let text = read_file(path, MAX_TEXT_BYTES)?;
    serde_json::from_slice(&text).map_err(|error| EmbedError::file(path, error.to_string()))
}

fn read_file(path: &Path, max_bytes: u64) -> Result<Vec<u8>, EmbedError> {
    let unreadable = |error: std::io::Error| EmbedError::file(path, format!("cannot be read: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    if length > max_bytes {
        return Err(EmbedError::file(path, format!("{length} bytes exceed the limit of {max_bytes}")));
    }
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}
