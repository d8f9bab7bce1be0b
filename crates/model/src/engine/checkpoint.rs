//! Loads a checkpoint from a folder or from memory.

use super::error::{CheckpointError, CheckpointErrorKind};
use super::network::Network;
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
    pub(super) vocabulary: ChatTokenizer,
}

const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const SETTINGS: &str = "tokenizer_config.json";
const TEMPLATE: &str = "chat_template.jinja";

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
        let within = |file: &'static str| move |problem| CheckpointError::new(file, problem);
        let read = || {
            let config: LlamaConfig = serde_json::from_slice(config)?;
            config.check().map_err(CheckpointErrorKind::Unfit)?;
            Ok(config)
        };
        let config = read().map_err(within(CONFIG))?;
        let texts = TokenizerFiles { tokenizer, settings, template };
        let (ends, control) = ([config.eos_token_id], [config.bos_token_id, config.pad_token_id]);
        let vocabulary = texts.vocabulary(config.vocab_size, &control, |_, _| ends.to_vec())?;
        let network = Network::load(config, weights).map_err(within(WEIGHTS))?;
        Ok(Self { network, vocabulary })
    }

    /// The shape of the network.
    pub fn config(&self) -> &LlamaConfig {
        &self.network.config
    }

    /// The tokens and the chat template.
    pub fn vocabulary(&self) -> &ChatTokenizer {
        &self.vocabulary
    }

    /// Sets variables of the chat template, such as `enable_thinking`.
    #[must_use]
    pub fn with_template_variables(self, variables: Map<String, Value>) -> Self {
        Self { vocabulary: self.vocabulary.with_template_variables(variables), ..self }
    }

    /// Starts an engine that runs this checkpoint.
    pub fn start(self, options: &EngineOptions) -> std::io::Result<Engine> {
        Engine::start(self, options)
    }
}

/// The files of a vocabulary.
struct TokenizerFiles<'a> {
    tokenizer: &'a [u8],
    settings: &'a [u8],
    /// Where it has a file of its own.
    template: Option<String>,
}

impl TokenizerFiles<'_> {
    fn vocabulary(
        self,
        size: usize,
        control: &[u32],
        ends: impl FnOnce(&LoadedTokenizer, &TokenizerConfig) -> Vec<u32>,
    ) -> Result<ChatTokenizer, CheckpointError> {
        let within = |file: &'static str| move |problem| CheckpointError::new(file, problem);
        let settings: TokenizerConfig =
            serde_json::from_slice(self.settings).map_err(|error| within(SETTINGS)(error.into()))?;
        let tokens = LoadedTokenizer::read(self.tokenizer, size).map_err(within(TOKENIZER))?;
        let template = self.template.or_else(|| settings.chat_template.clone()).ok_or_else(|| {
            within(SETTINGS)(CheckpointErrorKind::Template("there is no `chat_template`".to_owned()))
        })?;
        let ends = ends(&tokens, &settings);
        let known = NetworkTokens { size, ends: &ends, control };
        ChatTokenizer::new(&known, tokens, &settings, template).map_err(within(SETTINGS))
    }
}

impl ChatTokenizer {
    /// Reads `tokenizer.json`, `tokenizer_config.json` and, where there is one, `chat_template.jinja` from the
    /// folder of a network that knows `size` tokens, of which these and the tokenizer's own end a reply.
    pub fn from_folder(folder: &Path, size: usize, ends: &[u32]) -> Result<Self, CheckpointError> {
        let (tokenizer, settings) = (read(folder, TOKENIZER, MAX_TEXT)?, read(folder, SETTINGS, MAX_TEXT)?);
        let texts =
            TokenizerFiles { tokenizer: &tokenizer, settings: &settings, template: template(folder)? };
        let all = |tokens: &LoadedTokenizer, settings: &TokenizerConfig| {
            let own = settings.end().and_then(|end| tokens.id(end));
            let mut all: Vec<u32> = ends.iter().copied().chain(own).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        texts.vocabulary(size, &[], all).map_err(|error| error.below(folder))
    }
}

/// The template, where it has a file of its own.
fn template(folder: &Path) -> Result<Option<String>, CheckpointError> {
    if !folder.join(TEMPLATE).is_file() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&read(folder, TEMPLATE, MAX_TEXT)?).into_owned()))
}

fn read(folder: &Path, name: &str, most: u64) -> Result<Vec<u8>, CheckpointError> {
    bounded(&folder.join(name), most).map_err(|problem| CheckpointError::new(name, problem).below(folder))
}

fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, CheckpointErrorKind> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(CheckpointErrorKind::TooLarge(length, most));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
