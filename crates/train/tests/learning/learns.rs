//! A small network learns a small task.

use std::ops::ControlFlow;

use crate::common::tiny;
use aske_train::{Batch, CpuLearner, Learner, Options, Schedule, Supply, Weights, train};

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
    Batch { rows, length: 2 * long + 3, tokens, weights, before: Vec::new() }
}

#[test]
fn it_learns_to_reverse_a_word() {
    let config = tiny();
    let options = Options { average: Some(0.98), ..Options::default() };
    let mut learner = CpuLearner::new(&config, &Weights::random(&config, 7), options).unwrap();
    // Rows of words that no training batch has drawn.
    let unseen = reversed(u64::MAX);
    let before = learner.loss(&unseen).unwrap();
    assert!((before - 12_f64.ln()).abs() < 0.5, "a random start should be near uniform: {before}");
    let schedule = Schedule { peak: 5e-3, floor: 1e-4, warm_up: 20, steps: 400 };
    let supply = Supply { threads: 1, report_every: 50, ..Supply::default() };
    let mut told = Vec::new();
    train(&mut learner, reversed, schedule.steps, schedule, supply, |progress, _| {
        told.push(progress.loss);
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    let after = learner.loss(&unseen).unwrap();
    assert!(after < 0.05, "{before} -> {after} by way of {told:?}");
}

#[test]
fn the_same_run_gives_the_same_weights() {
    let run = |threads| {
        let config = tiny();
        let mut learner = CpuLearner::new(&config, &Weights::random(&config, 7), Options::default()).unwrap();
        let schedule = Schedule { peak: 5e-3, floor: 1e-4, warm_up: 2, steps: 6 };
        let supply = Supply { threads, ..Supply::default() };
        train(&mut learner, reversed, 6, schedule, supply, |_, _| Ok(ControlFlow::Continue(()))).unwrap();
        learner.weights().unwrap()
    };
    assert!(run(1) == run(3));
}

#[test]
fn a_negative_weight_makes_a_token_less_likely() {
    let config = tiny();
    let mut learner = CpuLearner::new(&config, &Weights::random(&config, 7), Options::default()).unwrap();
    let plain =
        Batch { rows: 1, length: 3, tokens: vec![0, 5, 6], weights: vec![0.0, 0.0, 1.0], before: Vec::new() };
    let against = Batch { weights: vec![0.0, 0.0, -1.0], ..plain.clone() };
    let before = learner.loss(&plain).unwrap();
    for _ in 0..5 {
        learner.step(&against, 1e-3).unwrap();
    }
    assert!(learner.loss(&plain).unwrap() > before + 0.01);
    assert!(learner.report().unwrap().loss < 0.0);
}
