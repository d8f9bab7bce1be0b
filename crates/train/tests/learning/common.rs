//! A tiny network and batches for it.

use aske_model::LlamaConfig;
use aske_train::{Batch, CpuPolicy, Loss, Policy, StepStats};

/// Two layers of width 32 over twelve tokens.
pub(crate) fn tiny() -> LlamaConfig {
    serde_json::from_str(include_str!("tiny.json")).unwrap()
}

/// Random rows with random weights, some nought and some negative.
pub(crate) fn mixed(config: &LlamaConfig, rows: usize, length: usize, seed: u64) -> Batch {
    let mut random = fastrand::Rng::with_seed(seed);
    let known = u32::try_from(config.vocab_size).unwrap();
    let tokens = (0..rows * length).map(|_| random.u32(0..known)).collect();
    let weights = (0..rows * length)
        .map(|_| match random.u8(0..3) {
            0 => 0.0,
            1 => random.f32(),
            _ => -0.5 * random.f32(),
        })
        .collect();
    Batch { lengths: vec![length; rows], tokens, weights, old_logprobs: Vec::new() }
}

/// The likelihood loss of a batch.
pub(crate) fn loss(policy: &CpuPolicy, batch: &Batch) -> f64 {
    policy.evaluate(std::slice::from_ref(batch), Loss::Likelihood).unwrap().loss
}

/// One supervised step.
pub(crate) fn step(policy: &mut dyn Policy, batch: &Batch, learning_rate: f64) -> StepStats {
    policy.step(std::slice::from_ref(batch), Loss::Likelihood, learning_rate, f64::INFINITY).unwrap()
}
