//! Loads a checkpoint from a folder or from memory.

use super::error::{BoxError, CheckpointError};
use super::network::Network;
use super::raw_config::ARCHITECTURE;
use super::tokenizer::{ChatTokenizer, LoadedTokenizer, NetworkTokens, TokenizerConfig};
use super::{Engine, EngineOptions, LlamaConfig};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A Llama-style network with its tokenizer and chat template, ready to run.
///
/// ```no_run
/// use aske_model::{Checkpoint, EngineOptions};
/// let engine = Checkpoint::from_folder("models/teacher".as_ref())?.start(&EngineOptions::default())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Checkpoint {
    pub(super) network: Network,
    pub(super) tokenizer: ChatTokenizer,
}

const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const SETTINGS: &str = "tokenizer_config.json";
const TEMPLATE: &str = "chat_template.jinja";
const GENERATION_CONFIG: &str = "generation_config.json";
/// The list of files of weights that are split over several.
const WEIGHTS_INDEX: &str = "model.safetensors.index.json";

/// Larger files are rejected: the engine is made for small networks.
const MAX_WEIGHTS: u64 = 1 << 30;
const MAX_TEXT: u64 = 1 << 25;

impl Checkpoint {
    /// Reads `config.json`, `model.safetensors`, `tokenizer.json` and `tokenizer_config.json` from a folder.
    ///
    /// The chat template may also be in `chat_template.jinja`, as newer versions of transformers write it.
    pub fn from_folder(folder: &Path) -> Result<Self, CheckpointError> {
        let (config, tokenizer) = (read(folder, CONFIG, MAX_TEXT)?, read(folder, TOKENIZER, MAX_TEXT)?);
        let settings = read(folder, SETTINGS, MAX_TEXT)?;
        let weights = read(folder, WEIGHTS, MAX_WEIGHTS)?;
        Self::assemble(&config, &weights, &tokenizer, &settings, template(folder)?)
            .map_err(|error| error.below(folder))
    }

    /// Why this engine does not run the checkpoint in a folder: its architecture, or the size or format of its files.
    /// `None` where it may, and where the folder is not a complete checkpoint, which loading it reports.
    ///
    /// Reads `config.json` and the sizes of other files only.
    pub fn unsupported(folder: &Path) -> Option<CheckpointError> {
        let config = read(folder, CONFIG, MAX_TEXT).ok()?;
        let architectures = serde_json::from_slice::<Value>(&config).ok()?;
        let architectures = architectures.get("architectures")?.as_array()?;
        let names: Vec<&str> = architectures.iter().filter_map(Value::as_str).collect();
        let reason = |file: &str, message: String| Some(CheckpointError::new(file, message).below(folder));
        if !names.contains(&ARCHITECTURE) {
            let names = names.join(", ");
            let message = format!("the architecture is {names}; this engine runs {ARCHITECTURE}");
            return reason(CONFIG, message);
        }
        if let Err(error) = serde_json::from_slice::<LlamaConfig>(&config) {
            return reason(CONFIG, error.to_string());
        }
        match std::fs::metadata(folder.join(WEIGHTS)) {
            Ok(file) if file.len() > MAX_WEIGHTS => {
                let message = format!("{} bytes are more than the supported {MAX_WEIGHTS}", file.len());
                return reason(WEIGHTS, message);
            }
            Err(_) if folder.join(WEIGHTS_INDEX).is_file() => {
                let message = "the weights are in several files; this engine reads one".to_owned();
                return reason(WEIGHTS_INDEX, message);
            }
            _ => {}
        }
        let other = ["tokenizer.model", "tekken.json", "vocab.json"].into_iter();
        let other =
            other.filter(|_| !folder.join(TOKENIZER).exists()).find(|file| folder.join(file).is_file());
        let message = |file| format!("the tokenizer is in {file}; this engine reads {TOKENIZER}");
        other.and_then(|file| reason(TOKENIZER, message(file)))
    }

    /// The same from the contents of the files, for checkpoints that are part of a program.
    pub fn from_bytes(
        config: &[u8],
        weights: &[u8],
        tokenizer: &[u8],
        tokenizer_config: &[u8],
    ) -> Result<Self, CheckpointError> {
        Self::assemble(config, weights, tokenizer, tokenizer_config, None)
    }

    fn assemble(
        config: &[u8],
        weights: &[u8],
        tokenizer: &[u8],
        settings: &[u8],
        template: Option<String>,
    ) -> Result<Self, CheckpointError> {
        let config: LlamaConfig =
            serde_json::from_slice(config).map_err(|error| CheckpointError::new(CONFIG, error))?;
        let texts = TokenizerFiles { tokenizer, settings, template };
        let (ends, control) = ([config.eos_token_id], [config.bos_token_id, config.pad_token_id]);
        let tokenizer = texts.load(config.vocab_size, &control, |_, _| ends.to_vec())?;
        let network = Network::load(config, weights).map_err(|error| CheckpointError::new(WEIGHTS, error))?;
        Ok(Self { network, tokenizer })
    }

    /// The shape of the network.
    pub fn config(&self) -> &LlamaConfig {
        &self.network.config
    }

    /// The tokenizer and the chat template.
    pub fn tokenizer(&self) -> &ChatTokenizer {
        &self.tokenizer
    }

    /// Sets variables of the chat template, such as `enable_thinking`.
    #[must_use]
    pub fn with_template_variables(self, variables: Map<String, Value>) -> Self {
        Self { tokenizer: self.tokenizer.with_template_variables(variables), ..self }
    }

    /// Starts an engine that runs this checkpoint.
    pub fn start(self, options: &EngineOptions) -> std::io::Result<Engine> {
        Engine::start(self, options)
    }
}

/// The files of a tokenizer.
struct TokenizerFiles<'a> {
    tokenizer: &'a [u8],
    settings: &'a [u8],
    /// Where it has a file of its own.
    template: Option<String>,
}

impl TokenizerFiles<'_> {
    fn load(
        self,
        size: usize,
        control: &[u32],
        ends: impl FnOnce(&LoadedTokenizer, &TokenizerConfig) -> Vec<u32>,
    ) -> Result<ChatTokenizer, CheckpointError> {
        let wrong = |error: BoxError| CheckpointError::new(SETTINGS, error);
        let settings: TokenizerConfig =
            serde_json::from_slice(self.settings).map_err(|error| wrong(error.into()))?;
        let tokens = LoadedTokenizer::read(self.tokenizer, size)
            .map_err(|error| CheckpointError::new(TOKENIZER, error))?;
        let template = self.template.or_else(|| settings.chat_template.clone());
        let template = template.ok_or_else(|| wrong("chat template: there is no `chat_template`".into()))?;
        let ends = ends(&tokens, &settings);
        let known = NetworkTokens { size, ends: &ends, control };
        ChatTokenizer::new(&known, tokens, &settings, template).map_err(wrong)
    }
}

impl ChatTokenizer {
    /// Reads `tokenizer.json`, `tokenizer_config.json` and, where there is one, `chat_template.jinja` from a folder.
    ///
    /// The vocabulary size is that of `config.json`. A reply ends with a token that `config.json`, `generation_config.json`
    /// or the tokenizer names.
    pub fn from_folder(folder: &Path) -> Result<Self, CheckpointError> {
        let (tokenizer, settings) = (read(folder, TOKENIZER, MAX_TEXT)?, read(folder, SETTINGS, MAX_TEXT)?);
        let texts =
            TokenizerFiles { tokenizer: &tokenizer, settings: &settings, template: template(folder)? };
        let config = read_json(folder, CONFIG)?;
        let size = config["vocab_size"].as_u64().and_then(|size| usize::try_from(size).ok());
        let size =
            size.ok_or_else(|| CheckpointError::new(CONFIG, "there is no `vocab_size`").below(folder))?;
        let mut ends = token_ids(&config["eos_token_id"]);
        if folder.join(GENERATION_CONFIG).is_file() {
            ends.extend(token_ids(&read_json(folder, GENERATION_CONFIG)?["eos_token_id"]));
        }
        let all = |tokens: &LoadedTokenizer, settings: &TokenizerConfig| {
            ends.extend(settings.end().and_then(|end| tokens.id(end)));
            ends.sort_unstable();
            ends.dedup();
            ends
        };
        texts.load(size, &[], all).map_err(|error| error.below(folder))
    }
}

/// The template, where it has a file of its own.
fn template(folder: &Path) -> Result<Option<String>, CheckpointError> {
    if !folder.join(TEMPLATE).is_file() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&read(folder, TEMPLATE, MAX_TEXT)?).into_owned()))
}

fn read_json(folder: &Path, name: &str) -> Result<Value, CheckpointError> {
    serde_json::from_slice(&read(folder, name, MAX_TEXT)?)
        .map_err(|error| CheckpointError::new(name, error).below(folder))
}

/// A token id, or a list of them.
fn token_ids(value: &Value) -> Vec<u32> {
    let all = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    all.iter().filter_map(Value::as_u64).filter_map(|id| u32::try_from(id).ok()).collect()
}

fn read(folder: &Path, name: &str, most: u64) -> Result<Vec<u8>, CheckpointError> {
    bounded(&folder.join(name), most).map_err(|error| CheckpointError::new(name, error).below(folder))
}

fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    if length > most {
        return Err(format!("{length} bytes are more than the supported {most}"));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_token_or_many() {
        assert_eq!(
            [json!(7), json!([7, 9]), json!(null)].map(|ids| token_ids(&ids)),
            [vec![7], vec![7, 9], vec![]]
        );
    }

    const LLAMA: &str = r#""architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 256,
        "hidden_size": 24, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 3"#;

    fn reason(files: &[(&str, &str)]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Checkpoint::unsupported(folder.path()).map(|error| error.to_string())
    }

    #[test]
    fn a_checkpoint_of_another_kind_is_told_from_one_that_is_incomplete() {
        let llama = format!("{{{LLAMA}}}");
        for files in [
            &[][..],
            &[("config.json", "x")],
            &[("config.json", "{}")],
            &[("config.json", &llama)],
            &[("config.json", &llama), ("model.safetensors", "x"), ("tokenizer.json", "x")],
        ] {
            assert_eq!(reason(files), None, "{files:?}");
        }
        let gemma = r#"{"architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text"}"#;
        let told = reason(&[("config.json", gemma)]).unwrap();
        assert!(told.ends_with(
            "config.json: the architecture is Gemma3ForCausalLM; this engine runs LlamaForCausalLM"
        ));
        let scaled = format!(r#"{{{LLAMA}, "rope_scaling": {{"rope_type": "llama3", "factor": 8.0}}}}"#);
        assert!(reason(&[("config.json", &scaled)]).unwrap().contains("rope scaling"));
        let quantised = format!(r#"{{{LLAMA}, "quantization_config": {{"quant_method": "awq"}}}}"#);
        assert!(reason(&[("config.json", &quantised)]).unwrap().contains("quantization_config"));
        let split = [("config.json", llama.as_str()), ("model.safetensors.index.json", "{}")];
        assert!(reason(&split).unwrap().contains("several files"));
        let spiece = [("config.json", llama.as_str()), ("model.safetensors", "x"), ("tokenizer.model", "x")];
        assert!(reason(&spiece).unwrap().contains("tokenizer.model"));
    }

    #[test]
    fn weights_that_are_too_large_to_read_are_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(CONFIG), format!("{{{LLAMA}}}")).unwrap();
        let weights = File::create(folder.path().join(WEIGHTS)).unwrap();
        weights.set_len(MAX_WEIGHTS).unwrap();
        assert!(Checkpoint::unsupported(folder.path()).is_none());
        weights.set_len(MAX_WEIGHTS + 1).unwrap();
        assert!(Checkpoint::unsupported(folder.path()).unwrap().to_string().contains("1073741824"));
    }
}
