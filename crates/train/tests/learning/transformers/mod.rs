//! The maths is transformers' own: the fixture is made by `make.py` beside this file.

use aske_model::LlamaConfig;
use aske_train::{AdamWConfig, Batch, CpuPolicy, Loss, Weights};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    config: LlamaConfig,
    tokens: Vec<Vec<u32>>,
    /// Negative log-likelihood of every token but the first of each row.
    surprise: Vec<Vec<f64>>,
}

fn furthest(loss: impl Fn(&[Batch]) -> f64, expected: &Expected) -> f64 {
    let (rows, length) = (expected.tokens.len(), expected.tokens[0].len());
    let mut furthest = 0.0_f64;
    for (row, surprises) in expected.surprise.iter().enumerate() {
        for (at, surprise) in surprises.iter().enumerate() {
            // The loss where one token alone counts is that token's surprise.
            let mut weights = vec![0.0; rows * length];
            weights[row * length + at + 1] = 1.0;
            let batch = Batch {
                lengths: vec![length; rows],
                tokens: expected.tokens.concat(),
                weights,
                old_logprobs: Vec::new(),
            };
            furthest = furthest.max((loss(&[batch]) - surprise).abs());
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
fn the_cpu_gives_every_token_the_likelihood_that_transformers_gives_it() {
    let (expected, weights) = fixture();
    let policy = CpuPolicy::new(&expected.config, &weights, AdamWConfig::default()).unwrap();
    let loss = |batches: &[Batch]| policy.evaluate(batches, Loss::Likelihood).unwrap().loss;
    assert!(furthest(loss, &expected) < 1e-5);
}

#[cfg(feature = "torch")]
#[test]
fn libtorch_gives_every_token_the_likelihood_that_transformers_gives_it() {
    let (expected, weights) = fixture();
    let options = aske_train::TorchOptions::small_network();
    let policy = aske_train::TorchPolicy::new(&expected.config, &weights, "cpu", options).unwrap();
    let loss = |batches: &[Batch]| policy.evaluate(batches, Loss::Likelihood).unwrap().loss;
    assert!(furthest(loss, &expected) < 1e-5);
}
