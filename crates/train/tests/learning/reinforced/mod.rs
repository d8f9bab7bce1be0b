//! The losses of reinforcement and their gradients are PyTorch's own: the fixture is made by `make.py` beside this
//! file.

use aske_model::LlamaConfig;
use aske_train::{AdamWConfig, Batch, CpuPolicy, LearnError, Loss, Policy, StepStats, Weights};
use serde::Deserialize;

const CISPO: Loss = Loss::Cispo { low: 0.75, high: 3.0 };
const SURROGATE: Loss = Loss::Surrogate { low: 0.2, high: 0.28 };

#[derive(Deserialize)]
struct Network {
    config: LlamaConfig,
}

#[derive(Deserialize)]
struct Expected {
    tokens: Vec<Vec<u32>>,
    before: Vec<Vec<Option<f32>>>,
    advantages: Vec<f32>,
    cispo: f64,
    surrogate: f64,
    ratio: f64,
    clipped: f64,
}

impl Expected {
    /// All rows as one batch, every own token with its share.
    fn batch(&self) -> Batch {
        let own = self.before.iter().flatten().flatten().count() as f32;
        let weights = self.before.iter().zip(&self.advantages);
        Batch {
            lengths: self.tokens.iter().map(Vec::len).collect(),
            tokens: self.tokens.concat(),
            weights: weights
                .flat_map(|(row, advantage)| {
                    row.iter().map(move |own_token| own_token.map_or(0.0, |_| advantage / own))
                })
                .collect(),
            old_logprobs: self.before.iter().flatten().map(|before| before.unwrap_or(f32::NAN)).collect(),
        }
    }
}

fn fixture() -> (Expected, LlamaConfig, Weights) {
    let expected: Expected = serde_json::from_str(include_str!("expected.json")).unwrap();
    let network: Network = serde_json::from_str(include_str!("../transformers/expected.json")).unwrap();
    let file = include_bytes!("../transformers/model.safetensors");
    let weights = Weights::from_safetensors(&network.config, file).unwrap();
    (expected, network.config, weights)
}

fn fixture_policy() -> (Expected, CpuPolicy) {
    let (expected, config, weights) = fixture();
    let policy = CpuPolicy::new(&config, &weights, AdamWConfig::default()).unwrap();
    (expected, policy)
}

/// Weights and optimizer state.
fn checkpoint(policy: &CpuPolicy) -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().unwrap();
    policy.save_checkpoint(folder.path()).unwrap();
    ["model.safetensors", "optimizer.safetensors"]
        .map(|name| std::fs::read(folder.path().join(name)).unwrap())
}

/// The largest difference of any tensor, as a share of that tensor's norm.
fn apart(found: &Weights, wanted: &Weights) -> f64 {
    let norm =
        |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|number| number.powi(2)).sum::<f64>().sqrt();
    let mut largest = 0.0_f64;
    for (found, wanted) in found.iter().zip(wanted) {
        let each = found.data.iter().zip(&wanted.data);
        let gap = norm(&mut each.map(|(found, wanted)| f64::from(found - wanted)));
        let size = norm(&mut wanted.data.iter().map(|number| f64::from(*number)));
        assert!(size > 0.0, "{}", wanted.name);
        largest = largest.max(gap / size);
    }
    println!("gradients lie {largest:e} apart");
    largest
}

/// What both backends compute without a step.
type Gradient<'p> = &'p dyn Fn(&[Batch], Loss) -> (StepStats, Weights);

fn check(gradient: Gradient<'_>, config: &LlamaConfig, expected: &Expected) {
    let cispo = Weights::from_safetensors(config, include_bytes!("cispo.safetensors")).unwrap();
    let surrogate = Weights::from_safetensors(config, include_bytes!("surrogate.safetensors")).unwrap();
    let batch = expected.batch();
    for (loss, value, wanted) in [(CISPO, expected.cispo, cispo), (SURROGATE, expected.surrogate, surrogate)]
    {
        let (stats, found) = gradient(std::slice::from_ref(&batch), loss);
        assert!((stats.loss - value).abs() < 1e-6, "{} {value}", stats.loss);
        assert!(apart(&found, &wanted) < 1e-4);
    }
    let (stats, _) = gradient(&[batch], CISPO);
    assert!(
        (stats.mean_ratio - expected.ratio).abs() < 1e-5
            && (stats.clip_fraction - expected.clipped).abs() < 1e-6,
        "{stats:?}"
    );
}

#[test]
fn losses_and_gradients_are_those_of_pytorch() {
    let (expected, config, weights) = fixture();
    let policy = CpuPolicy::new(&config, &weights, AdamWConfig::default()).unwrap();
    let gradient = |batches: &[Batch], loss: Loss| {
        (policy.evaluate(batches, loss).unwrap(), policy.gradient(batches, loss).unwrap())
    };
    check(&gradient, &config, &expected);
}

#[cfg(feature = "torch")]
#[test]
fn those_of_libtorch_too() {
    let (expected, config, weights) = fixture();
    let options = aske_train::TorchOptions::small_network();
    let policy = aske_train::TorchPolicy::new(&config, &weights, "cpu", options).unwrap();
    let gradient = |batches: &[Batch], loss: Loss| {
        (policy.evaluate(batches, loss).unwrap(), policy.gradient(batches, loss).unwrap())
    };
    check(&gradient, &config, &expected);
}

#[test]
fn a_step_split_into_batches_is_the_same_step() {
    let (expected, policy) = fixture_policy();
    let whole = expected.batch();
    let row = |at: usize| {
        let length = whole.lengths[at];
        let part = at * length..(at + 1) * length;
        Batch {
            lengths: vec![length],
            tokens: whole.tokens[part.clone()].to_vec(),
            weights: whole.weights[part.clone()].to_vec(),
            old_logprobs: whole.old_logprobs[part].to_vec(),
        }
    };
    let parts: Vec<Batch> = (0..whole.lengths.len()).map(row).collect();
    let (one, other) = (policy.gradient(&[whole], CISPO).unwrap(), policy.gradient(&parts, CISPO).unwrap());
    assert!(one == other, "rows are summed in one order, however they come");
}

#[test]
fn what_the_policy_did_not_write_has_no_influence_at_all() {
    let (expected, policy) = fixture_policy();
    let batch = expected.batch();
    let honest = policy.gradient(std::slice::from_ref(&batch), CISPO).unwrap();
    let mut other = batch.clone();
    for at in 0..other.tokens.len() {
        if other.old_logprobs[at].is_nan() {
            other.weights[at] = 1e6;
        }
    }
    assert!(policy.gradient(&[other.clone()], CISPO).unwrap() == honest, "weights of others' tokens");
    // What follows the last own token of a row is not even read.
    for row in 0..other.lengths.len() {
        let (first, end) = (row * other.lengths[0], (row + 1) * other.lengths[0]);
        let last = (first..end).rev().find(|at| !other.old_logprobs[*at].is_nan()).unwrap();
        for at in last + 1..end {
            other.tokens[at] = (other.tokens[at] + 1) % 13;
        }
    }
    assert!(policy.gradient(&[other], CISPO).unwrap() == honest, "what comes after");
    // A rollout without an advantage moves nothing either: its row may say anything.
    let mut other = batch.clone();
    for at in 2 * batch.lengths[0]..3 * batch.lengths[0] {
        if !other.old_logprobs[at].is_nan() {
            other.old_logprobs[at] -= 0.5;
        }
    }
    assert!(policy.gradient(&[other], CISPO).unwrap() == honest, "a rollout like its group's mean");
}

#[test]
fn what_is_no_number_or_too_long_changes_nothing() {
    let (expected, mut policy) = fixture_policy();
    let (batch, start) = (expected.batch(), policy.weights().unwrap());
    let before = checkpoint(&policy);
    let mut broken = batch.clone();
    for (weight, before) in broken.weights.iter_mut().zip(&broken.old_logprobs) {
        *weight = if before.is_nan() { 0.0 } else { f32::MAX };
    }
    let failed = policy.step(&[broken], CISPO, 1e-3, f64::INFINITY);
    assert!(matches!(failed, Err(LearnError::Diverged { .. })), "{failed:?}");
    let failed = policy.step(std::slice::from_ref(&batch), CISPO, 1e-3, 1e-9);
    assert!(matches!(failed, Err(LearnError::GradientExploded { .. })), "{failed:?}");
    assert!(checkpoint(&policy) == before);
    policy.step(&[batch], CISPO, 1e-3, f64::INFINITY).unwrap();
    assert!(policy.weights().unwrap() != start);
}

#[test]
fn a_policy_goes_on_from_its_checkpoint_as_if_nothing_had_happened() {
    let (expected, config, weights) = fixture();
    let new = || CpuPolicy::new(&config, &weights, AdamWConfig::default()).unwrap();
    let step = |policy: &mut CpuPolicy| {
        policy.step(&[expected.batch()], CISPO, 1e-3, 1e9).unwrap();
    };
    let mut straight = new();
    (0..4).for_each(|_| step(&mut straight));
    let mut first = new();
    (0..2).for_each(|_| step(&mut first));
    let folder = tempfile::tempdir().unwrap();
    first.save_checkpoint(folder.path()).unwrap();
    let mut second = new();
    second.load_checkpoint(folder.path()).unwrap();
    (0..2).for_each(|_| step(&mut second));
    assert!(second.weights().unwrap() == straight.weights().unwrap());
}
