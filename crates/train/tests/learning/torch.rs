//! libtorch and candle agree, in single precision on the processor.

use crate::common::{mixed, tiny};
use aske_model::LlamaConfig;
use aske_train::{CpuLearner, Learner, Options, TorchLearner, Weights};

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

#[test]
fn an_unknown_device_is_refused() {
    let config = tiny();
    let start = Weights::random(&config, 11);
    for name in ["gpu", "cuda:x", "cuda:99", ""] {
        assert!(TorchLearner::new(&config, &start, Options::default(), name).is_err(), "{name}");
    }
}
