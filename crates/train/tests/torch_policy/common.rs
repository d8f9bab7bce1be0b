//! The fixtures, and what is asked of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use aske_train::{AdamWConfig, Batch, Loss, TorchOptions, TorchPolicy};
use serde::Deserialize;

pub(crate) const MODELS: [&str; 3] = ["llama", "qwen2", "qwen3"];

/// What PyTorch stats of a checkpoint.
#[derive(Deserialize)]
pub(crate) struct Expected {
    pub(crate) tokens: Vec<Vec<u32>>,
    /// Of every token but the first of each row, as all that follows.
    pub(crate) logp: Vec<Vec<f64>>,
    own: Vec<Vec<u8>>,
    before: Vec<Vec<f32>>,
    weights: Vec<Vec<f32>>,
    low: f64,
    high: f64,
    pub(crate) loss: f64,
    /// Norm and two projections of each weight's gradient.
    pub(crate) gradients: BTreeMap<String, [f64; 3]>,
    pub(crate) adapted_logp: Vec<Vec<f64>>,
    pub(crate) adapted: BTreeMap<String, [f64; 3]>,
}

pub(crate) fn folder(model: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/torch_policy").join(model)
}

pub(crate) fn expected(model: &str) -> Expected {
    serde_json::from_slice(&std::fs::read(folder(model).join("expected.json")).unwrap()).unwrap()
}

pub(crate) fn plain() -> TorchOptions {
    TorchOptions { export_bf16: false, full_precision: true, ..TorchOptions::default() }
}

/// The processor, or the device that `ASKE_TORCH_DEVICE` names.
pub(crate) fn device() -> String {
    std::env::var("ASKE_TORCH_DEVICE").unwrap_or_else(|_| "cpu".to_owned())
}

/// How far two computations of one number may be apart: sums on a GPU have no fixed order; on the CPU they do.
pub(crate) fn tolerance() -> f64 {
    if device() == "cpu" { 0.0 } else { 1e-6 }
}

pub(crate) fn policy(model: &str, options: TorchOptions) -> TorchPolicy {
    TorchPolicy::from_folder(&folder(model), &device(), options).unwrap()
}

/// An optimizer without weight decay.
pub(crate) fn eager() -> AdamWConfig {
    AdamWConfig { weight_decay: 0.0, ..AdamWConfig::default() }
}

impl Expected {
    pub(crate) fn loss_kind(&self) -> Loss {
        Loss::Cispo { low: self.low, high: self.high }
    }

    /// The batch of the loss.
    pub(crate) fn batch(&self) -> Batch {
        let (rows, length) = (self.tokens.len(), self.tokens[0].len());
        let (mut weights, mut before) = (Vec::new(), Vec::new());
        for row in 0..rows {
            weights.push(0.0);
            before.push(f32::NAN);
            for at in 0..length - 1 {
                let own = self.own[row][at] == 1;
                weights.push(if own { self.weights[row][at] } else { 0.0 });
                before.push(if own { self.before[row][at] } else { f32::NAN });
            }
        }
        Batch { lengths: vec![length; rows], tokens: self.tokens.concat(), weights, old_logprobs: before }
    }
}

/// The log-probability of every token but the first.
pub(crate) fn logps(policy: &TorchPolicy, tokens: &[u32]) -> Vec<f64> {
    let weights = vec![1.0; tokens.len()];
    let tokens = tokens.to_vec();
    let batch = Batch { lengths: vec![tokens.len()], tokens, weights, old_logprobs: Vec::new() };
    policy.logprobs(&[batch], Loss::Likelihood).unwrap().into_iter().map(f64::from).collect()
}

/// The signs that `make.py` projects a gradient of this name on.
pub(crate) fn direction(name: &str, size: usize, which: u64) -> Vec<f64> {
    let sum: u64 = (1..).zip(name.bytes()).map(|(at, byte)| u64::from(byte) * at).sum();
    let mut state = (sum * 2 + 7 * which + 1) % 2_147_483_647;
    let next = || {
        state = state * 48_271 % 2_147_483_647;
        if state % 64 < 32 { 1.0 } else { -1.0 }
    };
    std::iter::repeat_with(next).take(size).collect()
}
