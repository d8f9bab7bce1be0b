//! libtorch and candle agree, in single precision on the processor.

use crate::common::{mixed, tiny};
use aske_model::LlamaConfig;
use aske_train::{Batch, CpuLearner, LearnError, Learner, Loss, Options, Reinforce, TorchLearner, Weights};

#[test]
fn both_give_the_same_loss_and_the_same_steps() {
    for (tied, shared) in [(true, 2), (false, 4), (true, 1)] {
        let config = LlamaConfig { tie_word_embeddings: tied, num_key_value_heads: shared, ..tiny() };
        let options = Options { decay: 0.1, average: Some(0.9), ..Options::default() };
        let start = Weights::random(&config, 11);
        let mut candle = CpuLearner::new(&config, &start, options).unwrap();
        let mut torch = TorchLearner::new(&config, &start, options, "cpu").unwrap();
        assert!(torch.weights().unwrap() == start);
        for seed in 0..3 {
            let batch = mixed(&config, 4, 9, seed);
            let (one, other) = (candle.loss(&batch).unwrap(), torch.loss(&batch).unwrap());
            assert!((one - other).abs() < 1e-4, "{one} {other}");
            candle.step(&batch, 1e-2).unwrap();
            torch.step(&batch, 1e-2).unwrap();
            let (one, other) = (candle.report().unwrap(), torch.report().unwrap());
            assert_eq!((one.steps, other.steps), (1, 1));
            assert!((one.loss - other.loss).abs() < 1e-4, "{one:?} {other:?}");
            assert!((one.gradient_norm / other.gradient_norm - 1.0).abs() < 1e-3, "{one:?} {other:?}");
        }
        let (one, other) = (candle.weights().unwrap(), torch.weights().unwrap());
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
    let before = || if random.bool() { -2.5 - random.f32() } else { f32::NAN };
    batch.before = std::iter::repeat_with(before).take(batch.tokens.len()).collect();
    batch
}

#[test]
fn both_learn_the_same_from_rewards_and_go_on_alike() {
    let config = tiny();
    let start = Weights::random(&config, 11);
    let batches = [sampled(&config, 1), sampled(&config, 2)];
    for loss in [Loss::Cispo { low: 0.75, high: 3.0 }, Loss::Surrogate { low: 0.2, high: 0.28 }] {
        let mut candle = CpuLearner::new(&config, &start, Options::default()).unwrap();
        let mut torch = TorchLearner::new(&config, &start, Options::default(), "cpu").unwrap();
        let slopes = (candle.gradient(&batches, loss).unwrap(), torch.gradient(&batches, loss).unwrap());
        for (one, other) in slopes.0.iter().zip(&slopes.1) {
            for (one, other) in one.data.iter().zip(&other.data) {
                assert!((one - other).abs() < 1e-5, "{one} {other}");
            }
        }
        let refused = torch.reinforce(&batches, loss, 1e-2, 1e-9);
        assert!(matches!(refused, Err(LearnError::Exploded { .. })), "{refused:?}");
        for _ in 0..2 {
            let one = candle.reinforce(&batches, loss, 1e-2, f64::INFINITY).unwrap();
            let other = torch.reinforce(&batches, loss, 1e-2, f64::INFINITY).unwrap();
            assert_eq!((one.tokens, one.clipped.to_bits()), (other.tokens, other.clipped.to_bits()));
            for (one, other) in [
                (one.loss, other.loss),
                (one.gradient_norm, other.gradient_norm),
                (one.ratio, other.ratio),
                (one.drift, other.drift),
                (one.entropy, other.entropy),
            ] {
                assert!((one - other).abs() < 1e-4 * one.abs().max(1.0), "{one} {other}");
            }
        }
        let moments = torch.moments().unwrap();
        assert_eq!(moments.steps, 2);
        let now = torch.weights().unwrap();
        let mut again = TorchLearner::new(&config, &now, Options::default(), "cpu").unwrap();
        again.remember(&moments).unwrap();
        let (one, other) = (
            torch.reinforce(&batches, loss, 1e-2, f64::INFINITY).unwrap(),
            again.reinforce(&batches, loss, 1e-2, f64::INFINITY).unwrap(),
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
        assert!(TorchLearner::new(&config, &start, Options::default(), name).is_err(), "{name}");
    }
}
