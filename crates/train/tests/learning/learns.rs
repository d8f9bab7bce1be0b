//! A small network learns a small task.

use std::ops::ControlFlow;

use crate::common::{loss, step, tiny};
use aske_train::{AdamWConfig, Batch, CpuPolicy, LrSchedule, Policy, Weights, train};

const END: u32 = 1;
const MARK: u32 = 3;

/// Rows of `BOS a b c d MARK d c b a END`: only what follows the mark counts.
fn reversed(index: u64) -> Batch {
    let mut random = fastrand::Rng::with_seed(index);
    let (rows, long) = (32, 4);
    let (mut tokens, mut weights) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let word: Vec<u32> = (0..long).map(|_| random.u32(4..12)).collect();
        tokens.push(0);
        tokens.extend(&word);
        tokens.push(MARK);
        tokens.extend(word.iter().rev());
        tokens.push(END);
        weights.extend(vec![0.0; long + 2]);
        weights.extend(vec![1.0; long + 1]);
    }
    Batch { lengths: vec![2 * long + 3; rows], tokens, weights, old_logprobs: Vec::new() }
}

#[test]
fn it_learns_to_reverse_a_word() {
    let config = tiny();
    let optimizer = AdamWConfig { ema_decay: Some(0.98), ..AdamWConfig::default() };
    let mut policy = CpuPolicy::new(&config, &Weights::random(&config, 7), optimizer).unwrap();
    // Rows of words that no training batch has drawn.
    let unseen = reversed(u64::MAX);
    let before = loss(&policy, &unseen);
    assert!((before - 12_f64.ln()).abs() < 0.5, "a random start should be near uniform: {before}");
    let schedule = LrSchedule { peak: 5e-3, floor: 1e-4, warmup_steps: 20, steps: 400 };
    let mut losses = Vec::new();
    train(&mut policy, reversed, schedule.steps, schedule, 1, |progress, _| {
        losses.push(progress.loss);
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    let averaged = CpuPolicy::new(&config, &policy.weights().unwrap(), optimizer).unwrap();
    let after = loss(&averaged, &unseen);
    assert!(after < 0.05, "{before} -> {after} by way of {losses:?}");
}

#[test]
fn the_same_run_gives_the_same_weights() {
    let run = |threads| {
        let config = tiny();
        let mut policy =
            CpuPolicy::new(&config, &Weights::random(&config, 7), AdamWConfig::default()).unwrap();
        let schedule = LrSchedule { peak: 5e-3, floor: 1e-4, warmup_steps: 2, steps: 6 };
        train(&mut policy, reversed, 6, schedule, threads, |_, _| Ok(ControlFlow::Continue(()))).unwrap();
        policy.weights().unwrap()
    };
    assert!(run(1) == run(3));
}

#[test]
fn a_negative_weight_makes_a_token_less_likely() {
    let config = tiny();
    let mut policy = CpuPolicy::new(&config, &Weights::random(&config, 7), AdamWConfig::default()).unwrap();
    let plain = Batch {
        lengths: vec![3],
        tokens: vec![0, 5, 6],
        weights: vec![0.0, 0.0, 1.0],
        old_logprobs: Vec::new(),
    };
    let against = Batch { weights: vec![0.0, 0.0, -1.0], ..plain.clone() };
    let before = loss(&policy, &plain);
    for _ in 0..5 {
        assert!(step(&mut policy, &against, 1e-3).loss < 0.0);
    }
    assert!(loss(&policy, &plain) > before + 0.01);
}
