//! The model being trained: the [`Policy`] trait, which the CPU and the libtorch backend implement, and its statistics.

use std::path::Path;

use aske_chat::Message;
use aske_model::{EngineOptions, LlamaConfig, Provider, ProviderError};

use crate::{AdamWConfig, Batch, CpuPolicy, LearnError, Loss, TokenLoss, TokenizerFiles, Weights};

/// A model that generates and is trained, by supervised learning or by policy gradients.
pub trait Policy: Send {
    /// Serves a snapshot of the current weights in this process; later steps do not change it.
    ///
    /// Replies carry their tokens, log-probabilities and this version of the weights ([`aske_chat::Trace`]). Only small
    /// networks can be served so; others return [`LearnError::NoSampler`].
    fn serve(&self, version: u64) -> Result<Box<dyn Provider>, LearnError>;

    /// The tokens of a conversation, up to where the model's reply begins.
    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError>;

    /// Takes one optimizer step along the gradient of all batches together.
    ///
    /// Returns an error and leaves the policy unchanged if the loss or the gradient is not finite, or if the gradient
    /// norm exceeds `abort_grad_norm`.
    fn step(
        &mut self,
        batches: &[Batch],
        loss: Loss,
        learning_rate: f64,
        abort_grad_norm: f64,
    ) -> Result<StepStats, LearnError>;

    /// Returns an error if a weight or the optimizer state is not finite.
    ///
    /// A policy that fails this check must not be served, saved or trained further.
    fn check_finite(&self) -> Result<(), LearnError>;

    /// The current weights, or their exponential moving average where [`AdamWConfig::ema_decay`] is set.
    fn weights(&self) -> Result<Weights, LearnError>;

    /// Writes the weights as a checkpoint that transformers and vLLM can read.
    fn export(&self, folder: &Path) -> Result<(), LearnError>;

    /// Writes the weights and the optimizer state for [`Policy::load_checkpoint`].
    fn save_checkpoint(&self, folder: &Path) -> Result<(), LearnError>;

    /// Resumes from a folder written by [`Policy::save_checkpoint`].
    fn load_checkpoint(&mut self, folder: &Path) -> Result<(), LearnError>;

    /// Context length in tokens.
    fn max_sequence_length(&self) -> usize;
}

/// Creates a policy from weights in memory: on the CPU (`cpu`), or through libtorch (`cuda`, `cuda:N`) where the program was
/// built with it. With a tokenizer it can also be served, on the CPU: networks of this kind are too small for a GPU.
pub fn policy_from_weights(
    config: &LlamaConfig,
    weights: &Weights,
    optimizer: AdamWConfig,
    device: &str,
    tokenizer: Option<(TokenizerFiles, EngineOptions)>,
) -> Result<Box<dyn Policy>, LearnError> {
    match device {
        "cpu" => Ok(Box::new(CpuPolicy::new(config, weights, optimizer)?.with_tokenizer(tokenizer)?)),
        #[cfg(feature = "torch")]
        _ => {
            let options = crate::TorchOptions { optimizer, ..crate::TorchOptions::small_network() };
            let policy = crate::TorchPolicy::new(config, weights, device, options)?;
            Ok(Box::new(policy.with_tokenizer(tokenizer)?))
        }
        #[cfg(not(feature = "torch"))]
        _ => Err(LearnError::Device(device.to_owned())),
    }
}

/// Statistics of an optimizer step; means are over the target tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepStats {
    /// Number of target tokens.
    pub tokens: u64,
    /// Loss before the step.
    pub loss: f64,
    /// Gradient norm before clipping.
    pub grad_norm: f64,
    /// Mean importance ratio.
    pub mean_ratio: f64,
    /// Fraction of tokens whose importance ratio was clipped.
    pub clip_fraction: f64,
    /// Mean absolute difference between the current log-probabilities and those at sampling time.
    pub mean_abs_log_ratio: f64,
    /// Mean entropy of the next-token distribution.
    pub entropy: f64,
}

/// Sums from which [`StepStats`] are computed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StatsSum {
    loss: f64,
    tokens: u64,
    ratio: f64,
    clipped: u64,
    abs_log_ratio: f64,
    entropy: f64,
}

impl StatsSum {
    pub(crate) fn push(&mut self, token: &TokenLoss, log_ratio: f64, entropy: f64) {
        self.tokens += 1;
        self.loss += token.loss;
        self.ratio += token.ratio;
        self.clipped += u64::from(token.clipped);
        self.abs_log_ratio += log_ratio.abs();
        self.entropy += entropy;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.loss += other.loss;
        self.ratio += other.ratio;
        self.clipped += other.clipped;
        self.abs_log_ratio += other.abs_log_ratio;
        self.entropy += other.entropy;
    }

    /// The means, or an error if the loss or the gradient is not finite or the gradient norm exceeds the limit.
    pub(crate) fn finish(&self, grad_norm: f64, abort_grad_norm: f64) -> Result<StepStats, LearnError> {
        if !self.loss.is_finite() || !grad_norm.is_finite() {
            return Err(LearnError::Diverged { loss: self.loss, grad_norm });
        }
        if grad_norm > abort_grad_norm {
            return Err(LearnError::GradientExploded { grad_norm, limit: abort_grad_norm });
        }
        let count = self.tokens.max(1) as f64;
        Ok(StepStats {
            tokens: self.tokens,
            loss: self.loss,
            grad_norm,
            mean_ratio: self.ratio / count,
            clip_fraction: self.clipped as f64 / count,
            mean_abs_log_ratio: self.abs_log_ratio / count,
            entropy: self.entropy / count,
        })
    }
}
