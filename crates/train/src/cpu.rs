//! The CPU backend: a small Llama-style network that is trained and sampled without further dependencies.
//!
//! The backward pass is hand-written on the SIMD kernels that also run inference, several times faster than a graph of
//! small operations. The result is bit-identical for any number of threads.

mod adamw;
mod attention;
mod kernels;
mod layout;
mod network;

use std::path::Path;

use aske_chat::Message;
use aske_model::{EngineOptions, LlamaConfig, Provider, ProviderError};
use rayon::prelude::*;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use self::adamw::{AdamW, grad_norm};
use self::layout::ParameterLayout;
use self::network::{Network, PackedWeights, Target, Workspace};
use crate::batch::Targets;
use crate::error::require_finite_weights;
use crate::files::{self, OPTIMIZER, STEPS, WEIGHTS};
use crate::policy::StatsSum;
use crate::serving::{CpuServing, TokenizerFiles};
use crate::{AdamWConfig, Batch, LearnError, Loss, Policy, StepStats, Weights};

/// Sequences are distributed over this many stripes, each summed in order; threads process stripes. So sums do not
/// depend on the number of threads.
const STRIPES: usize = 8;

/// A policy trained and sampled on the CPU in single precision.
pub struct CpuPolicy {
    config: LlamaConfig,
    layout: ParameterLayout,
    network: Network,
    parameters: Vec<f32>,
    optimizer: AdamW,
    serving: Option<CpuServing>,
}

/// One sequence of a batch and its targets.
struct TargetSequence<'b> {
    tokens: &'b [u32],
    targets: Vec<Target>,
    weights: Vec<f32>,
    old_logprobs: Vec<f32>,
}

impl CpuPolicy {
    /// Creates a policy without a tokenizer; it can be trained but not served.
    pub fn new(config: &LlamaConfig, weights: &Weights, optimizer: AdamWConfig) -> Result<Self, LearnError> {
        weights.check(config)?;
        let layout = ParameterLayout::new(config)?;
        let parameters = layout.pack(weights);
        let optimizer = AdamW::new(&parameters, layout.norms, optimizer);
        let network = Network::new(config, &layout)?;
        Ok(Self { config: config.clone(), layout, network, parameters, optimizer, serving: None })
    }

    /// Adds a tokenizer, if there is one, so that the policy can be served.
    pub(crate) fn with_tokenizer(
        mut self,
        tokenizer: Option<(TokenizerFiles, EngineOptions)>,
    ) -> Result<Self, LearnError> {
        if let Some((files, engine)) = tokenizer {
            self.serving = Some(CpuServing::new(&self.config, &self.weights()?, files, engine)?);
        }
        Ok(self)
    }

    /// Computes the loss of the batches without a step.
    pub fn evaluate(&self, batches: &[Batch], loss: Loss) -> Result<StepStats, LearnError> {
        self.loss_and_grad(batches, loss, false)?.0.finish(0.0, f64::INFINITY)
    }

    /// The gradient of all batches together.
    pub fn gradient(&self, batches: &[Batch], loss: Loss) -> Result<Weights, LearnError> {
        let (_, gradient) = self.loss_and_grad(batches, loss, true)?;
        self.layout.unpack(&self.config, &gradient)
    }

    /// The loss of the batches and, with `backward`, its gradient.
    fn loss_and_grad(
        &self,
        batches: &[Batch],
        loss: Loss,
        backward: bool,
    ) -> Result<(StatsSum, Vec<f32>), LearnError> {
        let mut sequences = Vec::new();
        for batch in batches {
            let targets = batch.targets(self.config.vocab_size, self.config.max_position_embeddings, loss)?;
            sequences.extend(split_sequences(batch, &targets));
        }
        let weights = self.network.pack(&self.parameters);
        let stripes: Vec<Vec<&TargetSequence>> = (0..STRIPES.min(sequences.len()))
            .map(|stripe| sequences.iter().skip(stripe).step_by(STRIPES).collect())
            .collect();
        let parts: Vec<(StatsSum, Vec<f32>)> = stripes
            .into_par_iter()
            .map(|sequences| self.stripe(&weights, &sequences, loss, backward))
            .collect();
        let mut parts = parts.into_iter();
        let (mut stats, mut gradient) = parts.next().unwrap_or_default();
        for (other, more) in parts {
            stats.merge(&other);
            for (sum, more) in gradient.iter_mut().zip(more) {
                *sum += more;
            }
        }
        Ok((stats, gradient))
    }

    fn stripe(
        &self,
        weights: &PackedWeights,
        sequences: &[&TargetSequence],
        loss: Loss,
        backward: bool,
    ) -> (StatsSum, Vec<f32>) {
        let mut work = Workspace::default();
        let mut stats = StatsSum::default();
        let mut gradient = vec![0.0; if backward { self.layout.len } else { 0 }];
        for sequence in sequences {
            let predictions = self.network.forward(weights, sequence.tokens, &sequence.targets, &mut work);
            let each = predictions.iter().zip(&sequence.weights).zip(&sequence.old_logprobs);
            let grads: Vec<f64> = each
                .map(|((prediction, weight), old)| {
                    let token = loss.token(prediction.logprob, f64::from(*old), f64::from(*weight));
                    stats.push(&token, prediction.logprob - f64::from(*old), prediction.entropy);
                    token.grad
                })
                .collect();
            if backward {
                let targets = (sequence.targets.as_slice(), grads.as_slice());
                self.network.backward(weights, sequence.tokens, targets, &mut work, &mut gradient);
            }
        }
        (stats, gradient)
    }

    fn serving(&self) -> Result<&CpuServing, LearnError> {
        self.serving.as_ref().ok_or(LearnError::NoTokenizer)
    }
}

/// The sequences of a batch that have targets, each up to its last target.
fn split_sequences<'b>(batch: &'b Batch, targets: &Targets) -> Vec<TargetSequence<'b>> {
    let mut sequences = Vec::new();
    let each =
        targets.positions.iter().zip(&targets.tokens).zip(targets.weights.iter().zip(&targets.old_logprobs));
    let mut each = each.peekable();
    for range in batch.ranges() {
        let mut sequence = TargetSequence {
            tokens: &[],
            targets: Vec::new(),
            weights: Vec::new(),
            old_logprobs: Vec::new(),
        };
        while let Some(((position, token), (weight, old))) =
            each.next_if(|((position, _), _)| **position < range.end)
        {
            sequence.tokens = &batch.tokens[range.start..=*position];
            let position = position - range.start;
            sequence.targets.push(Target { position, token: usize::try_from(*token).unwrap_or(0) });
            sequence.weights.push(*weight);
            sequence.old_logprobs.push(*old);
        }
        if !sequence.targets.is_empty() {
            sequences.push(sequence);
        }
    }
    sequences
}

fn all_finite(values: &[f32]) -> bool {
    values.iter().all(|value| value.is_finite())
}

impl Policy for CpuPolicy {
    fn serve(&self, version: u64) -> Result<Box<dyn Provider>, LearnError> {
        self.serving()?.serve(&self.config, &self.weights()?, version)
    }

    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        self.serving()?.prompt(messages)
    }

    fn step(
        &mut self,
        batches: &[Batch],
        loss: Loss,
        learning_rate: f64,
        abort_grad_norm: f64,
    ) -> Result<StepStats, LearnError> {
        let (stats, gradient) = self.loss_and_grad(batches, loss, true)?;
        let grad_norm = grad_norm(&gradient);
        let stats = stats.finish(grad_norm, abort_grad_norm)?;
        self.optimizer.step(&mut self.parameters, &gradient, grad_norm, learning_rate);
        Ok(stats)
    }

    fn check_finite(&self) -> Result<(), LearnError> {
        require_finite_weights(all_finite(&self.parameters))?;
        self.optimizer.check_finite()
    }

    fn weights(&self) -> Result<Weights, LearnError> {
        self.layout.unpack(&self.config, self.optimizer.ema.as_ref().unwrap_or(&self.parameters))
    }

    fn export(&self, folder: &Path) -> Result<(), LearnError> {
        files::write_json(&folder.join("config.json"), &self.config)?;
        if let Some(CpuServing { files: TokenizerFiles { tokenizer, tokenizer_config, .. }, .. }) =
            &self.serving
        {
            files::write(&folder.join("tokenizer.json"), tokenizer)?;
            files::write(&folder.join("tokenizer_config.json"), tokenizer_config)?;
        }
        files::write(&folder.join(WEIGHTS), &self.weights()?.to_safetensors(false)?)
    }

    fn save_checkpoint(&self, folder: &Path) -> Result<(), LearnError> {
        self.export(folder)?;
        files::write(&folder.join(OPTIMIZER), &optimizer_to_safetensors(&self.optimizer)?)
    }

    fn load_checkpoint(&mut self, folder: &Path) -> Result<(), LearnError> {
        let weights = Weights::from_safetensors(&self.config, &files::read(&folder.join(WEIGHTS))?)?;
        let file = files::read(&folder.join(OPTIMIZER))?;
        let (_, header) = SafeTensors::read_metadata(&file)?;
        let tensors = SafeTensors::deserialize(&file)?;
        let moment = |name: &str| -> Result<Vec<f32>, LearnError> {
            let view = tensors.tensor(name)?;
            Ok(view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
        };
        let steps = files::optimizer_steps(header.metadata().as_ref())?;
        let parameters = self.layout.pack(&weights);
        let mut optimizer = AdamW::new(&parameters, self.layout.norms, self.optimizer.config);
        optimizer.restore(steps, moment("first")?, moment("second")?)?;
        (self.parameters, self.optimizer) = (parameters, optimizer);
        Ok(())
    }

    fn max_sequence_length(&self) -> usize {
        self.config.max_position_embeddings
    }
}

/// The optimizer state as a safetensors file.
fn optimizer_to_safetensors(optimizer: &AdamW) -> Result<Vec<u8>, LearnError> {
    let bytes = |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|value| value.to_le_bytes()).collect() };
    let moments = [("first", &optimizer.exp_avg), ("second", &optimizer.exp_avg_sq)]
        .map(|(name, values)| (name, values.len(), bytes(values)));
    let mut views = Vec::new();
    for (name, length, bytes) in &moments {
        views.push((*name, TensorView::new(Dtype::F32, vec![*length], bytes)?));
    }
    let metadata = [(STEPS.to_owned(), optimizer.steps.to_string())].into();
    Ok(safetensors::serialize(views, Some(metadata))?)
}
