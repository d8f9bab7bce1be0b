//! Sampling a small policy with the CPU engine of `aske-model`, whichever backend trains it.

use aske_chat::Message;
use aske_model::{Checkpoint, EngineOptions, LlamaConfig, Local, Provider, ProviderError};
use serde_json::{Map, Value};

use crate::{LearnError, Weights};

/// The tokenizer files of a checkpoint.
#[derive(Clone, Debug)]
pub struct TokenizerFiles {
    /// `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// `tokenizer_config.json`, with the chat template.
    pub tokenizer_config: Vec<u8>,
    /// Variables of the chat template, such as `enable_thinking`.
    pub chat_template_kwargs: Map<String, Value>,
}

/// Tokenizer and engine options of a policy.
pub(crate) struct CpuServing {
    pub(crate) files: TokenizerFiles,
    engine: EngineOptions,
    /// Only its tokenizer is used; the weights are the initial ones.
    initial: Checkpoint,
}

impl CpuServing {
    pub(crate) fn new(
        config: &LlamaConfig,
        weights: &Weights,
        files: TokenizerFiles,
        engine: EngineOptions,
    ) -> Result<Self, LearnError> {
        let initial = checkpoint(config, weights, &files)?;
        Ok(Self { files, engine, initial })
    }

    pub(crate) fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        self.initial.tokenizer().prompt(messages)
    }

    /// Starts an engine with these weights.
    pub(crate) fn serve(
        &self,
        config: &LlamaConfig,
        weights: &Weights,
        version: u64,
    ) -> Result<Box<dyn Provider>, LearnError> {
        let engine = checkpoint(config, weights, &self.files)?.start(&self.engine);
        let engine = engine.map_err(|error| LearnError::library("engine", error))?;
        Ok(Box::new(Local::new(engine).traced(version)))
    }
}

fn checkpoint(
    config: &LlamaConfig,
    weights: &Weights,
    files: &TokenizerFiles,
) -> Result<Checkpoint, LearnError> {
    let config = serde_json::to_vec(config).map_err(|error| LearnError::library("serde_json", error))?;
    let weights = weights.to_safetensors(false)?;
    Checkpoint::from_bytes(&config, &weights, &files.tokenizer, &files.tokenizer_config)
        .map(|checkpoint| checkpoint.with_template_variables(files.chat_template_kwargs.clone()))
        .map_err(|error| LearnError::Weights(error.to_string()))
}

impl From<LearnError> for ProviderError {
    fn from(error: LearnError) -> Self {
        Self::new(aske_model::ErrorCause::Rejected, error.to_string())
    }
}
