//! A policy that runs on the processor and learns there or on a GPU: a Llama-style checkpoint of a few million
//! parameters.

use std::path::Path;

use aske_chat::Message;
use aske_model::{Checkpoint, EngineOptions, LlamaConfig, Local, Provider, ProviderError};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use crate::{
    Batch, LearnError, Loss, Moments, Options, Policy, Reinforce, Reinforced, Weight, Weights, learner,
};

const WEIGHTS: &str = "model.safetensors";
const OPTIMISER: &str = "optimizer.safetensors";
const STEPS: &str = "steps";

/// The files of a checkpoint, but for its weights.
#[derive(Clone, Debug)]
pub struct Files {
    /// `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// `tokenizer_config.json`, with the chat template.
    pub tokenizer_config: Vec<u8>,
}

/// A small network that asks, answers and learns.
pub struct LocalPolicy {
    config: LlamaConfig,
    files: Files,
    learner: Box<dyn Reinforce + Send>,
    options: Options,
    device: String,
    engine: EngineOptions,
    /// Reads conversations; its weights are those of the start.
    reader: Checkpoint,
}

impl LocalPolicy {
    /// A policy that starts from these weights; `untied` gives it a head of its own, which starts as the embedding.
    pub fn new(
        config: &LlamaConfig,
        weights: &Weights,
        files: Files,
        options: Options,
        engine: EngineOptions,
        untied: bool,
        device: &str,
    ) -> Result<Self, LearnError> {
        let (config, weights) =
            if untied { with_own_head(config, weights)? } else { (config.clone(), weights.clone()) };
        let learner = learner(&config, &weights, options, device)?;
        let reader = checkpoint(&config, &weights, &files)?;
        Ok(Self { config, files, learner, options, device: device.to_owned(), engine, reader })
    }
}

/// The same network with a head that is no longer the embedding.
fn with_own_head(config: &LlamaConfig, weights: &Weights) -> Result<(LlamaConfig, Weights), LearnError> {
    if !config.tie_word_embeddings {
        return Ok((config.clone(), weights.clone()));
    }
    let config = LlamaConfig { tie_word_embeddings: false, ..config.clone() };
    let head = weights
        .get("model.embed_tokens.weight")
        .map(|embedding| Weight { name: "lm_head.weight".to_owned(), ..embedding.clone() });
    let weights = Weights::new(&config, weights.iter().cloned().chain(head))?;
    Ok((config, weights))
}

/// These weights, ready to be served.
fn checkpoint(config: &LlamaConfig, weights: &Weights, files: &Files) -> Result<Checkpoint, LearnError> {
    let (config, bytes) = (json(config)?, weights.to_safetensors(false)?);
    Checkpoint::from_bytes(&config, &bytes, &files.tokenizer, &files.tokenizer_config)
        .map_err(|error| LearnError::Weights(error.to_string()))
}

fn json(config: &LlamaConfig) -> Result<Vec<u8>, LearnError> {
    serde_json::to_vec_pretty(config)
        .map_err(|error| LearnError::Library { library: "serde_json", message: error.to_string() })
}

impl Policy for LocalPolicy {
    fn serve(&self) -> Result<Box<dyn Provider>, LearnError> {
        let checkpoint = checkpoint(&self.config, &self.learner.weights()?, &self.files)?;
        let engine = checkpoint
            .start(&self.engine)
            .map_err(|error| LearnError::Library { library: "engine", message: error.to_string() })?;
        Ok(Box::new(Local::new(engine).traced()))
    }

    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        self.reader.vocabulary().prompt(messages)
    }

    fn learn(
        &mut self,
        batches: &[Batch],
        loss: Loss,
        rate: f64,
        longest: f64,
    ) -> Result<Reinforced, LearnError> {
        self.learner.reinforce(batches, loss, rate, longest)
    }

    fn check(&self) -> Result<(), LearnError> {
        self.learner.check()
    }

    fn save(&self, folder: &Path) -> Result<(), LearnError> {
        write(folder, "config.json", &json(&self.config)?)?;
        write(folder, "tokenizer.json", &self.files.tokenizer)?;
        write(folder, "tokenizer_config.json", &self.files.tokenizer_config)?;
        write(folder, WEIGHTS, &self.learner.weights()?.to_safetensors(false)?)
    }

    fn keep(&self, folder: &Path) -> Result<(), LearnError> {
        self.save(folder)?;
        write(folder, OPTIMISER, &packed(&self.learner.moments()?)?)
    }

    fn restore(&mut self, folder: &Path) -> Result<(), LearnError> {
        let weights = Weights::from_safetensors(&self.config, &read(folder, WEIGHTS)?)?;
        let moments = unpacked(&read(folder, OPTIMISER)?)?;
        let mut fresh = learner(&self.config, &weights, self.options, &self.device)?;
        fresh.remember(&moments)?;
        self.learner = fresh;
        Ok(())
    }

    fn longest(&self) -> usize {
        self.config.max_position_embeddings
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), LearnError> {
    let path = folder.join(name);
    std::fs::write(&path, bytes).map_err(|error| LearnError::file(&path, &error))
}

/// A file of a folder.
pub(crate) fn read(folder: &Path, name: &str) -> Result<Vec<u8>, LearnError> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(|error| LearnError::file(&path, &error))
}

fn broken(error: &safetensors::SafeTensorError) -> LearnError {
    LearnError::Library { library: "safetensors", message: error.to_string() }
}

/// The optimiser's memory as a safetensors file.
fn packed(moments: &Moments) -> Result<Vec<u8>, LearnError> {
    let bytes =
        |numbers: &[f32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
    let all = [("first", &moments.first), ("second", &moments.second)]
        .map(|(name, row)| (name, row.len(), bytes(row)));
    let mut views = Vec::new();
    for (name, length, bytes) in &all {
        views.push((
            *name,
            TensorView::new(Dtype::F32, vec![*length], bytes).map_err(|error| broken(&error))?,
        ));
    }
    let metadata = [(STEPS.to_owned(), moments.steps.to_string())].into();
    safetensors::serialize(views, Some(metadata)).map_err(|error| broken(&error))
}

fn unpacked(file: &[u8]) -> Result<Moments, LearnError> {
    let (_, header) = SafeTensors::read_metadata(file).map_err(|error| broken(&error))?;
    let tensors = SafeTensors::deserialize(file).map_err(|error| broken(&error))?;
    let steps = header.metadata().as_ref().and_then(|metadata| metadata.get(STEPS)?.parse().ok());
    let row = |name: &str| -> Result<Vec<f32>, LearnError> {
        let view = tensors.tensor(name).map_err(|error| broken(&error))?;
        Ok(view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    };
    let steps =
        steps.ok_or_else(|| LearnError::Weights("the optimiser's memory lacks its steps".to_owned()))?;
    Ok(Moments { steps, first: row("first")?, second: row("second")? })
}
