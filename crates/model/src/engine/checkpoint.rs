//! A checkpoint: everything that makes a model, from a folder or from memory.

use super::error::{CheckpointError, CheckpointProblem};
use super::network::Network;
use super::vocabulary::{Settings, Tokens, Vocabulary};
use super::{Engine, EngineOptions, LlamaConfig};
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
    pub(super) vocabulary: Vocabulary,
}

const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const SETTINGS: &str = "tokenizer_config.json";
const TEMPLATE: &str = "chat_template.jinja";

/// Nothing larger is read: this engine is for small networks, and a file is not to be trusted about itself.
const MOST_WEIGHTS: u64 = 1 << 30;
const MOST_TEXT: u64 = 1 << 25;

impl Checkpoint {
    /// Reads `config.json`, `model.safetensors`, `tokenizer.json` and `tokenizer_config.json` from a folder.
    ///
    /// The chat template may also be in `chat_template.jinja`, as newer versions of transformers write it.
    pub fn from_folder(folder: &Path) -> Result<Self, CheckpointError> {
        let read = |name: &str, most: u64| {
            let path = folder.join(name);
            bounded(&path, most).map_err(|problem| CheckpointError::new(&path.display().to_string(), problem))
        };
        let template = if folder.join(TEMPLATE).is_file() {
            Some(String::from_utf8_lossy(&read(TEMPLATE, MOST_TEXT)?).into_owned())
        } else {
            None
        };
        let (config, tokenizer) = (read(CONFIG, MOST_TEXT)?, read(TOKENIZER, MOST_TEXT)?);
        let (settings, weights) = (read(SETTINGS, MOST_TEXT)?, read(WEIGHTS, MOST_WEIGHTS)?);
        Self::assemble(&config, &weights, &tokenizer, &settings, template)
            .map_err(|error| CheckpointError { file: folder.join(error.file).display().to_string(), ..error })
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
            config.check().map_err(CheckpointProblem::Unfit)?;
            Ok(config)
        };
        let config = read().map_err(within(CONFIG))?;
        let settings: Settings =
            serde_json::from_slice(settings).map_err(|error| within(SETTINGS)(error.into()))?;
        let tokens = Tokens::read(tokenizer, config.vocab_size).map_err(within(TOKENIZER))?;
        let template = template.or_else(|| settings.chat_template.clone()).ok_or_else(|| {
            within(SETTINGS)(CheckpointProblem::Template("there is no `chat_template`".to_owned()))
        })?;
        let vocabulary = Vocabulary::new(&config, tokens, &settings, template).map_err(within(SETTINGS))?;
        let network = Network::load(config, weights).map_err(within(WEIGHTS))?;
        Ok(Self { network, vocabulary })
    }

    /// The shape of the network.
    pub fn config(&self) -> &LlamaConfig {
        &self.network.config
    }

    /// The tokens and the chat template.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Starts an engine that runs this checkpoint.
    pub fn start(self, options: &EngineOptions) -> std::io::Result<Engine> {
        Engine::start(self, options)
    }
}

fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, CheckpointProblem> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(CheckpointProblem::TooLarge(length, most));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
