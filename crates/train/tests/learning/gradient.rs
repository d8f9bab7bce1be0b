//! The gradient of the loss against finite differences of the loss itself.

use crate::common::{mixed, step, tiny};
use aske_model::LlamaConfig;
use aske_train::{AdamWConfig, Batch, CpuPolicy, Policy, Weight, Weights};

fn loss(config: &LlamaConfig, weights: &Weights, batch: &Batch) -> f64 {
    crate::common::loss(&CpuPolicy::new(config, weights, AdamWConfig::default()).unwrap(), batch)
}

/// Moves the weights along a direction: `w + by·d`.
fn moved(config: &LlamaConfig, weights: &Weights, along: &[Vec<f32>], by: f32) -> Weights {
    let all = weights.iter().zip(along).map(|(weight, along)| {
        let data = weight.data.iter().zip(along).map(|(number, slope)| number + by * slope).collect();
        Weight { data, ..weight.clone() }
    });
    Weights::new(config, all).unwrap()
}

/// The gradient, read off one step of an optimiser made plain: with a huge eps and no clipping or decay,
/// AdamW's first step is `-rate / eps · gradient`.
fn gradient(config: &LlamaConfig, weights: &Weights, batch: &Batch) -> Vec<Vec<f32>> {
    let plain = AdamWConfig { eps: 1e9, weight_decay: 0.0, max_grad_norm: None, ..AdamWConfig::default() };
    let mut policy = CpuPolicy::new(config, weights, plain).unwrap();
    step(&mut policy, batch, 1e9);
    let after = policy.weights().unwrap();
    let each = weights.iter().zip(after.iter());
    each.map(|(old, new)| old.data.iter().zip(&new.data).map(|(old, new)| old - new).collect()).collect()
}

#[test]
fn the_slope_along_any_weight_is_the_gradient_there() {
    for tied in [true, false] {
        let config = LlamaConfig { tie_word_embeddings: tied, ..tiny() };
        let weights = Weights::random(&config, 3);
        let batch = mixed(&config, 3, 7, 5);
        let slopes = gradient(&config, &weights, &batch);
        let mut random = fastrand::Rng::with_seed(8);
        for (at, weight) in weights.iter().enumerate() {
            // One tensor at a time, along random signs: every number of it takes part.
            let mut along: Vec<Vec<f32>> =
                weights.iter().map(|weight| vec![0.0; weight.data.len()]).collect();
            along[at] = weight.data.iter().map(|_| if random.bool() { 1.0 } else { -1.0 }).collect();
            let given: f64 =
                slopes[at].iter().zip(&along[at]).map(|(slope, along)| f64::from(slope * along)).sum();
            let by = 2e-3;
            let up = loss(&config, &moved(&config, &weights, &along, by), &batch);
            let down = loss(&config, &moved(&config, &weights, &along, -by), &batch);
            let seen = (up - down) / (2.0 * f64::from(by));
            let size: f64 = slopes[at].iter().map(|slope| f64::from(*slope).powi(2)).sum::<f64>().sqrt();
            assert!(size > 1e-4, "{} has no gradient", weight.name);
            assert!((seen - given).abs() < 0.01 * size + 5e-4, "{}: {seen} {given} of {size}", weight.name);
        }
    }
}
