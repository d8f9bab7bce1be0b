//! The maths is transformers' own: the fixture is made by `make.py` beside this file.

use aske_model::LlamaConfig;
use aske_train::{Batch, CpuLearner, Learner, Options, Weights};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    config: LlamaConfig,
    tokens: Vec<Vec<u32>>,
    /// Negative log-likelihood of every token but the first of each row.
    surprise: Vec<Vec<f64>>,
}

fn furthest(learner: &mut dyn Learner, expected: &Expected) -> f64 {
    let (rows, length) = (expected.tokens.len(), expected.tokens[0].len());
    let mut furthest = 0.0_f64;
    for (row, surprises) in expected.surprise.iter().enumerate() {
        for (at, surprise) in surprises.iter().enumerate() {
            // The loss where one token alone counts is that token's surprise.
            let mut weights = vec![0.0; rows * length];
            weights[row * length + at + 1] = 1.0;
            let batch = Batch { rows, length, tokens: expected.tokens.concat(), weights, before: Vec::new() };
            furthest = furthest.max((learner.loss(&batch).unwrap() - surprise).abs());
        }
    }
    println!("furthest from transformers: {furthest:e}");
    furthest
}

fn fixture() -> (Expected, Weights) {
    let expected: Expected = serde_json::from_str(include_str!("expected.json")).unwrap();
    let weights = Weights::from_safetensors(&expected.config, include_bytes!("model.safetensors")).unwrap();
    (expected, weights)
}

#[test]
fn candle_gives_every_token_the_likelihood_that_transformers_gives_it() {
    let (expected, weights) = fixture();
    let mut learner = CpuLearner::new(&expected.config, &weights, Options::default()).unwrap();
    assert!(furthest(&mut learner, &expected) < 1e-5);
}

#[cfg(feature = "torch")]
#[test]
fn libtorch_gives_every_token_the_likelihood_that_transformers_gives_it() {
    let (expected, weights) = fixture();
    let mut learner =
        aske_train::TorchLearner::new(&expected.config, &weights, Options::default(), "cpu").unwrap();
    assert!(furthest(&mut learner, &expected) < 1e-5);
}
