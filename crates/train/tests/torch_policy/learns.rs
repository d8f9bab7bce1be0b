//! A policy learns what it is rewarded for, and does not move when it must not.

use aske_train::{Batch, LearnError, Lora, Loss, Policy, TorchOptions, TorchPolicy};

use crate::common::{MODELS, eager, expected, plain, policy};

/// The mean log-probability of each sequence of a batch.
fn likelihoods(policy: &TorchPolicy, batch: &Batch, loss: Loss) -> Vec<f64> {
    let mut all = policy.logprobs(std::slice::from_ref(batch), loss).unwrap().into_iter();
    let each = batch.lengths.iter().map(|length| {
        let own: Vec<f64> = all.by_ref().take(length - 1).map(f64::from).collect();
        own.iter().sum::<f64>() / own.len() as f64
    });
    each.collect()
}

#[test]
fn a_rewarded_sequence_becomes_likelier_and_a_punished_one_rarer() {
    let loss = Loss::Cispo { low: 0.75, high: 3.0 };
    let lora = Some(Lora { rank: 4, alpha: 8.0, seed: 1 });
    for (model, lora, rate) in [("llama", None, 0.004), ("qwen2", None, 0.01), ("qwen3", lora, 0.02)] {
        let mut policy = policy(model, TorchOptions { lora, optimizer: eager(), ..plain() });
        let lengths = vec![9, 14];
        let tokens: Vec<u32> = (0..23).map(|at| 3 + at * at % 41).collect();
        let weights = [vec![0.1; 9], vec![-0.1; 14]].concat();
        let mut batch = Batch { lengths, tokens, weights, old_logprobs: Vec::new() };
        let mut old = policy.logprobs(std::slice::from_ref(&batch), Loss::Likelihood).unwrap().into_iter();
        for length in batch.lengths.clone() {
            batch.old_logprobs.push(f32::NAN);
            batch.old_logprobs.extend(old.by_ref().take(length - 1));
        }
        let before = likelihoods(&policy, &batch, loss);
        let first = policy.step(std::slice::from_ref(&batch), loss, rate, 1e3).unwrap();
        assert!((first.mean_ratio - 1.0).abs() < 1e-4 && first.mean_abs_log_ratio < 1e-5, "{first:?}");
        assert!(first.entropy > 0.0 && first.tokens == 21 && first.clip_fraction == 0.0, "{first:?}");
        for _ in 0..5 {
            policy.step(std::slice::from_ref(&batch), loss, rate, 1e3).unwrap();
        }
        let after = likelihoods(&policy, &batch, loss);
        println!("{model}: {before:.3?} to {after:.3?}");
        assert!(after[0] > before[0] + 0.05 && after[1] < before[1] - 0.05, "{model}: {before:?} {after:?}");
    }
}

#[test]
fn a_step_is_not_taken_where_the_gradient_is_too_long_or_no_number() {
    for model in MODELS {
        let expected = expected(model);
        let (batch, loss) = (expected.batch(), expected.loss_kind());
        let mut policy = policy(model, plain());
        let was = policy.evaluate(std::slice::from_ref(&batch), loss).unwrap();
        let refused = policy.step(std::slice::from_ref(&batch), loss, 0.1, 1e-9);
        assert!(matches!(refused, Err(LearnError::GradientExploded { .. })), "{refused:?}");
        let mut wild = batch.clone();
        let own = wild.old_logprobs.iter().position(|before| !before.is_nan()).unwrap();
        wild.weights[own] = f32::MAX;
        wild.old_logprobs[own] = -200.0;
        let surrogate = Loss::Surrogate { low: 0.2, high: f64::INFINITY };
        let refused = policy.step(&[wild], surrogate, 0.1, f64::INFINITY);
        assert!(matches!(refused, Err(LearnError::Diverged { .. })), "{refused:?}");
        assert_eq!(policy.evaluate(&[batch], loss).unwrap(), was);
    }
}
