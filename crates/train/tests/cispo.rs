//! What our loss gives for a batch, written down for the Python hook of prime-rl.
//!
//! `ASKE_REWRITE=1 cargo test -p aske-train --test cispo` writes the file anew.

use aske_config::PolicyLoss;
use aske_train::Objective;
use aske_train::reinforce::{TokenSequence, pack_batches};
use serde::Serialize;
use serde_json::Value;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/tests/data/cispo.json");

/// One row of a rollout, as prime-rl hands it to a loss, and what ours makes of it.
#[derive(Debug, Serialize)]
struct Sequence {
    advantage: f64,
    /// The policy wrote the token.
    mask: Vec<bool>,
    /// The log-probability when it was sampled; nought where it was not.
    inference: Vec<f64>,
    trainer: Vec<f64>,
    /// The row's part of the step's loss.
    loss: f64,
    /// Its derivatives by the log-probabilities.
    slopes: Vec<f64>,
    clipped_low: usize,
    clipped_high: usize,
}

#[derive(Debug, Serialize)]
struct Step {
    clip_low: f64,
    clip_high: f64,
    /// The rewards of each group.
    rewards: Vec<Vec<f64>>,
    /// The step's own tokens, by which the loss is divided.
    tokens: usize,
    loss: f64,
    sequences: Vec<Sequence>,
}

/// Two groups of three rollouts, every second of them in two rows, with random log-probabilities; the rewards of the
/// second group are equal, so that its tokens count and weigh nothing.
fn step() -> Step {
    let (clip_low, clip_high) = (0.75, 3.0);
    let objective = Objective::new(PolicyLoss::Cispo, Some(clip_low), Some(clip_high), None);
    let rewards = vec![vec![1.7, 0.2, -0.25], vec![0.2; 3]];
    let mut random = fastrand::Rng::with_seed(7);
    let mut rollouts = Vec::new();
    for (at, advantage) in objective.advantages(&rewards).into_iter().flatten().enumerate() {
        let rows = (0..=at % 2).map(|_| row(&mut random)).collect::<Vec<_>>();
        rollouts.push((rows, advantage));
    }
    // No room: a batch for each row, in their order.
    let batches = pack_batches(&rollouts, objective, 0);
    let advantages = rollouts.iter().flat_map(|(rows, advantage)| rows.iter().map(|_| *advantage));
    let sequences: Vec<Sequence> = batches
        .iter()
        .zip(advantages)
        .map(|(batch, advantage)| {
            let mut sequence = Sequence {
                advantage,
                mask: batch.old_logprobs.iter().map(|before| !before.is_nan()).collect(),
                inference: Vec::new(),
                trainer: Vec::new(),
                loss: 0.0,
                slopes: Vec::new(),
                clipped_low: 0,
                clipped_high: 0,
            };
            for (before, weight) in batch.old_logprobs.iter().zip(&batch.weights) {
                let own = !before.is_nan();
                let before = if own { f64::from(*before) } else { 0.0 };
                // Ratios of e^-3 to e^3: about a quarter on either side of the bounds.
                let logp = if own { before + 6.0 * random.f64() - 3.0 } else { -6.0 * random.f64() };
                let token = objective.loss.token(logp, before, f64::from(*weight));
                sequence.inference.push(before);
                sequence.trainer.push(logp);
                sequence.loss += token.loss;
                sequence.slopes.push(token.grad);
                sequence.clipped_low += usize::from(own && token.clipped && token.ratio < 1.0);
                sequence.clipped_high += usize::from(own && token.clipped && token.ratio > 1.0);
            }
            sequence
        })
        .collect();
    let tokens = sequences.iter().flat_map(|sequence| &sequence.mask).filter(|own| **own).count();
    let loss = sequences.iter().map(|sequence| sequence.loss).sum();
    Step { clip_low, clip_high, rewards, tokens, loss, sequences }
}

/// Some tokens that the policy read, and some that it wrote.
fn row(random: &mut fastrand::Rng) -> TokenSequence {
    let (read, written) = (random.usize(1..4), random.usize(4..12));
    let mut before = vec![f32::NAN; read];
    before.extend((0..written).map(|_| -3.0 - 4.0 * random.f32()));
    TokenSequence { tokens: vec![0; before.len()], old_logprobs: before }
}

/// All numbers of a value, in its order; a flag is 0 or 1.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        Value::Object(fields) => fields.values().flat_map(numbers).collect(),
        Value::Bool(flag) => vec![f64::from(u8::from(*flag))],
        other => other.as_f64().into_iter().collect(),
    }
}

#[test]
fn the_file_of_the_python_hook_is_what_the_loss_gives() {
    let step = step();
    let clipped = |side: fn(&Sequence) -> usize| step.sequences.iter().map(side).sum::<usize>();
    assert!(clipped(|sequence| sequence.clipped_low) > 3 && clipped(|sequence| sequence.clipped_high) > 3);
    if std::env::var_os("ASKE_REWRITE").is_some() {
        std::fs::write(FILE, serde_json::to_string(&step).unwrap() + "\n").unwrap();
    }
    let kept = numbers(&serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap());
    let given = numbers(&serde_json::to_value(&step).unwrap());
    let near = |(kept, given): (&f64, &f64)| (kept - given).abs() < 1e-12;
    assert!(
        kept.len() == given.len() && kept.iter().zip(&given).all(near),
        "the loss gives other values than the file\nhint: ASKE_REWRITE=1 writes them anew"
    );
}
