//! A policy learns what it is rewarded for, and does not move when it must not.

use aske_config::PolicyLoss;
use aske_model::Request;
use aske_train::{Batch, LearnError, Lora, Loss, Objective, Policy, TorchOptions, TorchPolicy};

use crate::common::{MODELS, ask, eager, expected, plain, policy};

/// Samples replies to one prompt, rewards short ones, and takes a step; gives their mean length.
fn round(policy: &mut TorchPolicy, objective: Objective, rate: f64, seed: u32) -> f64 {
    let (many, most) = (32, 24);
    let requests: Vec<Request> = (0..many)
        .map(|at| Request { max_tokens: most, seed: seed * many + at, ..Request::user("w8 w9") })
        .collect();
    let replies = ask(&*policy.serve().unwrap(), &requests);
    let lengths: Vec<f64> = replies.iter().map(|reply| reply.usage.completion as f64).collect();
    let rewards: Vec<f64> = lengths.iter().map(|length| -length / f64::from(most)).collect();
    let advantages = objective.advantages(&rewards);
    let prompt = policy.prompt(&requests[0].messages).unwrap();
    let length = prompt.len() + most as usize;
    let total: f64 = lengths.iter().sum();
    let mut batch = Batch { rows: many as usize, length, ..Batch::default() };
    for (reply, advantage) in replies.iter().zip(advantages) {
        let trace = reply.trace.as_ref().unwrap();
        let fill = length - prompt.len() - trace.tokens.len();
        batch.tokens.extend(prompt.iter().chain(&trace.tokens).copied().chain(vec![2; fill]));
        #[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
        let weight = (advantage / total) as f32;
        batch.weights.extend(vec![0.0; prompt.len()]);
        batch.weights.extend(vec![weight; trace.tokens.len()]);
        batch.weights.extend(vec![0.0; fill]);
        batch.old_logprobs.extend(vec![f32::NAN; prompt.len()]);
        batch.old_logprobs.extend(&trace.logprobs);
        batch.old_logprobs.extend(vec![f32::NAN; fill]);
    }
    let stats = policy.step(&[batch], objective.loss, rate, 1e3).unwrap();
    assert!(
        (stats.mean_ratio - 1.0).abs() < 1e-3 && stats.mean_abs_log_ratio < 1e-4,
        "the policy is its own sampler: {stats:?}"
    );
    assert!(
        stats.entropy > 0.0 && (stats.tokens as f64 - total).abs() < 0.5 && stats.clip_fraction == 0.0,
        "{stats:?}"
    );
    total / f64::from(many)
}

#[test]
fn it_learns_to_be_short() {
    let objective = Objective::new(PolicyLoss::Cispo, None, None);
    let lora = Some(Lora { rank: 4, alpha: 8.0, seed: 1 });
    for (model, lora, rate) in [("llama", None, 0.004), ("qwen2", None, 0.01), ("qwen3", lora, 0.02)] {
        let mut policy = policy(model, TorchOptions { lora, optimizer: eager(), ..plain() });
        let lengths: Vec<f64> = (0..12).map(|step| round(&mut policy, objective, rate, step)).collect();
        println!("{model}: mean lengths {lengths:.1?}");
        assert!(lengths[11] < 0.5 * lengths[0], "{model}: {lengths:?}");
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
