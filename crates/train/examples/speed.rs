//! Training speed in steps and tokens per second: `speed [cpu | cuda] [hidden size] [layers] [rows] [length]`.
#![expect(clippy::print_stdout, reason = "a program that prints what it measures")]

use std::error::Error;
use std::time::Instant;

use aske_model::LlamaConfig;
use aske_train::{AdamWConfig, Batch, Loss, Weights, policy_from_weights};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let device = words.next().unwrap_or_else(|| "cpu".to_owned());
    let mut number = |usual: usize| words.next().map_or(Ok(usual), |word| word.parse::<usize>());
    let (width, layers, rows, length) = (number(128)?, number(4)?, number(32)?, number(128)?);
    let mut config: LlamaConfig = serde_json::from_str(include_str!("../tests/learning/tiny.json"))?;
    config.vocab_size = 128;
    config.hidden_size = width;
    config.intermediate_size = width * 3;
    config.num_hidden_layers = layers;
    config.num_attention_heads = (width / 32).max(1);
    config.num_key_value_heads = config.num_attention_heads;
    config.head_dim = 32;
    config.max_position_embeddings = length;
    let optimizer = AdamWConfig { ema_decay: Some(0.999), ..AdamWConfig::default() };
    let mut policy = policy_from_weights(&config, &Weights::random(&config, 1), optimizer, &device, None)?;
    let mut random = fastrand::Rng::with_seed(1);
    let tokens = (0..rows * length).map(|_| random.u32(0..128)).collect();
    let weights = vec![1.0; rows * length];
    let batch = [Batch { lengths: vec![length; rows], tokens, weights, old_logprobs: Vec::new() }];
    let mut step = || policy.step(&batch, Loss::Likelihood, 1e-4, f64::INFINITY);
    // The first steps choose kernels and fill caches.
    for _ in 0..5 {
        step()?;
    }
    let (begun, mut steps) = (Instant::now(), 0_u32);
    while begun.elapsed().as_secs_f64() < 5.0 {
        step()?;
        steps += 1;
    }
    let rate = f64::from(steps) / begun.elapsed().as_secs_f64();
    let tokens = rate * batch[0].size() as f64;
    println!("{device}: {} parameters, {rate:.1} steps/s, {tokens:.0} tokens/s", config.parameters());
    Ok(())
}
