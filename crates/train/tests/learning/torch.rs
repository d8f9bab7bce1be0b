//! Both backends agree, in single precision on the CPU.

use crate::common::{mixed, step, tiny};
use aske_model::LlamaConfig;
use aske_train::{
    AdamWConfig, Batch, CpuPolicy, LearnError, Loss, Policy, TorchOptions, TorchPolicy, Weights,
};

fn torch(config: &LlamaConfig, weights: &Weights, optimizer: AdamWConfig) -> TorchPolicy {
    let options = TorchOptions { optimizer, ..TorchOptions::small_network() };
    TorchPolicy::new(config, weights, "cpu", options).unwrap()
}

#[test]
fn both_give_the_same_loss_and_the_same_steps() {
    for (tied, kv_heads) in [(true, 2), (false, 4), (true, 1)] {
        let config = LlamaConfig { tie_word_embeddings: tied, num_key_value_heads: kv_heads, ..tiny() };
        let optimizer = AdamWConfig { weight_decay: 0.1, ema_decay: Some(0.9), ..AdamWConfig::default() };
        let start = Weights::random(&config, 11);
        let mut cpu = CpuPolicy::new(&config, &start, optimizer).unwrap();
        let mut torch = torch(&config, &start, optimizer);
        assert!(torch.weights().unwrap() == start);
        for seed in 0..3 {
            let batch = [mixed(&config, 4, 9, seed)];
            let one = cpu.evaluate(&batch, Loss::Likelihood).unwrap().loss;
            let other = torch.evaluate(&batch, Loss::Likelihood).unwrap().loss;
            assert!((one - other).abs() < 1e-4, "{one} {other}");
            let (one, other) = (step(&mut cpu, &batch[0], 1e-2), step(&mut torch, &batch[0], 1e-2));
            assert!((one.loss - other.loss).abs() < 1e-4, "{one:?} {other:?}");
            assert!((one.grad_norm / other.grad_norm - 1.0).abs() < 1e-3, "{one:?} {other:?}");
        }
        let (one, other) = (cpu.weights().unwrap(), torch.weights().unwrap());
        let mut furthest = 0.0_f32;
        for (one, other) in one.iter().zip(&other) {
            for (one, other) in one.data.iter().zip(&other.data) {
                furthest = furthest.max((one - other).abs());
            }
        }
        println!("furthest weights apart after three steps: {furthest:e}");
        assert!(furthest < 1e-3, "{furthest}");
    }
}

/// A batch as if it had been sampled: some tokens are the policy's own.
fn sampled(config: &LlamaConfig, seed: u64) -> Batch {
    let mut batch = mixed(config, 3, 8, seed);
    let mut random = fastrand::Rng::with_seed(seed);
    let logprob = || if random.bool() { -2.5 - random.f32() } else { f32::NAN };
    batch.old_logprobs = std::iter::repeat_with(logprob).take(batch.tokens.len()).collect();
    batch
}

#[test]
fn both_learn_the_same_from_rewards_and_go_on_alike() {
    let config = tiny();
    let start = Weights::random(&config, 11);
    let batches = [sampled(&config, 1), sampled(&config, 2)];
    for loss in [Loss::Cispo { low: 0.75, high: 3.0 }, Loss::Surrogate { low: 0.2, high: 0.28 }] {
        let mut cpu = CpuPolicy::new(&config, &start, AdamWConfig::default()).unwrap();
        let mut torch = torch(&config, &start, AdamWConfig::default());
        let grads = (cpu.gradient(&batches, loss).unwrap(), torch.gradient(&batches, loss).unwrap());
        for (one, other) in grads.0.iter().zip(&grads.1) {
            assert_eq!(one.name, other.name);
            for (one, other) in one.data.iter().zip(&other.data) {
                assert!((one - other).abs() < 1e-5, "{one} {other}");
            }
        }
        let refused = torch.step(&batches, loss, 1e-2, 1e-9);
        assert!(matches!(refused, Err(LearnError::GradientExploded { .. })), "{refused:?}");
        for _ in 0..2 {
            let one = cpu.step(&batches, loss, 1e-2, f64::INFINITY).unwrap();
            let other = torch.step(&batches, loss, 1e-2, f64::INFINITY).unwrap();
            assert_eq!(one.tokens, other.tokens);
            assert_eq!(one.clip_fraction.to_bits(), other.clip_fraction.to_bits());
            for (one, other) in [
                (one.loss, other.loss),
                (one.grad_norm, other.grad_norm),
                (one.mean_ratio, other.mean_ratio),
                (one.mean_abs_log_ratio, other.mean_abs_log_ratio),
                (one.entropy, other.entropy),
            ] {
                assert!((one - other).abs() < 1e-4 * one.abs().max(1.0), "{one} {other}");
            }
        }
        let folder = tempfile::tempdir().unwrap();
        torch.save_checkpoint(folder.path()).unwrap();
        let mut again = self::torch(&config, &start, AdamWConfig::default());
        again.load_checkpoint(folder.path()).unwrap();
        let (one, other) = (
            torch.step(&batches, loss, 1e-2, f64::INFINITY).unwrap(),
            again.step(&batches, loss, 1e-2, f64::INFINITY).unwrap(),
        );
        assert_eq!(one, other);
        assert!(torch.weights().unwrap() == again.weights().unwrap());
    }
}

#[test]
fn an_unknown_device_is_refused() {
    let config = tiny();
    let start = Weights::random(&config, 11);
    for name in ["gpu", "cuda:x", "cuda:99", ""] {
        assert!(TorchPolicy::new(&config, &start, name, TorchOptions::small_network()).is_err(), "{name}");
    }
}
