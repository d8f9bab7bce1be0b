//! Likelihoods and gradients are those of transformers and PyTorch.

use std::collections::BTreeMap;

use aske_train::{AdamWConfig, Batch, Lora, TorchOptions, TorchPolicy, Weight, Weights};

use crate::common::{MODELS, direction, expected, folder, logps, plain, policy, tolerance};

fn furthest(policy: &TorchPolicy, tokens: &[Vec<u32>], expected: &[Vec<f64>]) -> f64 {
    let mut furthest = 0.0_f64;
    for (row, expected) in tokens.iter().zip(expected) {
        for (found, expected) in logps(policy, row).into_iter().zip(expected) {
            furthest = furthest.max((found - expected).abs());
        }
    }
    furthest
}

#[test]
fn every_token_has_the_likelihood_that_transformers_gives_it() {
    for model in MODELS {
        let expected = expected(model);
        let far = furthest(&policy(model, plain()), &expected.tokens, &expected.logp);
        println!("{model}: furthest from transformers {far:e}");
        assert!(far < 1e-5, "{model}: {far}");
    }
}

/// The largest difference of a gradient's norm or projections from PyTorch's, in parts of its norm.
fn apart(gradients: &Weights, expected: &BTreeMap<String, [f64; 3]>) -> f64 {
    assert_eq!(gradients.iter().len(), expected.len());
    let mut furthest = 0.0_f64;
    for Weight { name, data, .. } in gradients {
        let stats = expected.get(name).unwrap();
        assert!(stats[0] > 1e-6, "{name} has no gradient");
        let norm = data.iter().map(|slope| f64::from(*slope).powi(2)).sum::<f64>().sqrt();
        let along = |which| {
            let signs = direction(name, data.len(), which);
            data.iter().zip(signs).map(|(slope, sign)| f64::from(*slope) * sign).sum::<f64>()
        };
        // A projection on signs has the spread of the norm.
        for (found, stats) in [norm, along(0), along(1)].into_iter().zip(stats) {
            let apart = (found - stats).abs() / stats.abs().max(norm);
            assert!(apart < 1e-4, "{name}: {found} {stats}");
            furthest = furthest.max(apart);
        }
    }
    furthest
}

#[test]
fn the_gradient_of_the_loss_by_every_weight_is_pytorchs_kept_or_recomputed() {
    for model in MODELS {
        let expected = expected(model);
        for recompute in [true, false] {
            let policy = policy(model, TorchOptions { recompute, ..plain() });
            let stats = policy.evaluate(&[expected.batch()], expected.loss_kind()).unwrap();
            assert!((stats.loss - expected.loss).abs() < 1e-5 * expected.loss.abs().max(1.0), "{stats:?}");
            let gradients = policy.gradient(&[expected.batch()], expected.loss_kind()).unwrap();
            let apart = apart(&gradients, &expected.gradients);
            println!("{model}: gradients apart by {apart:e}");
            assert!(apart < 1e-4, "{model}: {apart}");
        }
    }
}

#[test]
fn the_gradient_by_adapters_is_pytorchs_on_the_same_adapters() {
    for model in MODELS {
        let expected = expected(model);
        let lora = Some(Lora { rank: 3, alpha: 5.0, seed: 0 });
        let fresh = policy(model, TorchOptions { lora, ..plain() });
        assert!(furthest(&fresh, &expected.tokens, &expected.logp) < 1e-5, "new adapters change nothing");
        let policy = fresh.with_adapters(&folder(model)).unwrap();
        let far = furthest(&policy, &expected.tokens, &expected.adapted_logp);
        let gradients = policy.gradient(&[expected.batch()], expected.loss_kind()).unwrap();
        let apart = apart(&gradients, &expected.adapted);
        println!("{model} with adapters: likelihoods {far:e}, gradients {apart:e}");
        assert!(far < 1e-5 && apart < 1e-4, "{model}: {far} {apart}");
    }
}

#[test]
fn micro_batches_add_up() {
    let expected = expected("qwen3");
    let policy = policy("qwen3", plain());
    let whole = expected.batch();
    let length = whole.lengths[0];
    let half = |row: usize| Batch {
        lengths: vec![length],
        tokens: whole.tokens[row * length..][..length].to_vec(),
        weights: whole.weights[row * length..][..length].to_vec(),
        old_logprobs: whole.old_logprobs[row * length..][..length].to_vec(),
    };
    let parts = policy.gradient(&[half(0), half(1)], expected.loss_kind()).unwrap();
    assert!(apart(&parts, &expected.gradients) < 1e-4);
}

/// Sequences of different lengths in one batch do not attend to each other.
#[test]
fn packed_sequences_are_computed_apart() {
    for model in MODELS {
        let expected = expected(model);
        let policy = policy(model, plain());
        let whole = expected.batch();
        let length = whole.lengths[0];
        let cut = |row: usize, end: usize| row * length..row * length + end;
        let parts =
            [cut(0, length), cut(1, length - 3), cut(0, length - 5), cut(1, length - 5), cut(0, length - 1)];
        let batch = |ranges: &[std::ops::Range<usize>]| Batch {
            lengths: ranges.iter().map(std::ops::Range::len).collect(),
            tokens: ranges.iter().flat_map(|range| whole.tokens[range.clone()].to_vec()).collect(),
            weights: ranges.iter().flat_map(|range| whole.weights[range.clone()].to_vec()).collect(),
            old_logprobs: ranges
                .iter()
                .flat_map(|range| whole.old_logprobs[range.clone()].to_vec())
                .collect(),
        };
        let alone: Vec<Batch> = parts.iter().map(|part| batch(std::slice::from_ref(part))).collect();
        let (alone, packed) = (alone.as_slice(), [batch(&parts)]);
        let logprobs = |batches: &[Batch]| policy.logprobs(batches, expected.loss_kind()).unwrap();
        for (one, other) in logprobs(alone).into_iter().zip(logprobs(&packed)) {
            assert!((one - other).abs() < 1e-5, "{model}: {one} {other}");
        }
        let gradient = |batches: &[Batch]| policy.gradient(batches, expected.loss_kind()).unwrap();
        for (one, other) in gradient(alone).iter().zip(&gradient(&packed)) {
            let norm = one.data.iter().map(|x| x * x).sum::<f32>().sqrt();
            let apart = one.data.iter().zip(&other.data).map(|(x, y)| (x - y).powi(2)).sum::<f32>().sqrt();
            assert!(apart < 1e-4 * norm, "{model} {}: {apart} of {norm}", one.name);
        }
    }
}

#[test]
fn what_is_masked_or_follows_the_last_own_token_changes_nothing() {
    let expected = expected("llama");
    let batch = expected.batch();
    let policy = policy("llama", plain());
    let was = policy.gradient(std::slice::from_ref(&batch), expected.loss_kind()).unwrap();
    let mut other = batch.clone();
    // Weights of tokens that the policy did not write, and the filling of the second row.
    for at in 0..other.weights.len() {
        if other.old_logprobs[at].is_nan() {
            other.weights[at] = 9.0;
        }
    }
    let end = 20 + (0..20).rev().find(|at| !batch.old_logprobs[20 + at].is_nan()).unwrap();
    other.tokens[end + 1..].fill(5);
    assert!(end < 39);
    let is = policy.gradient(&[other], expected.loss_kind()).unwrap();
    for (was, is) in was.iter().zip(&is) {
        let apart = was.data.iter().zip(&is.data).map(|(was, is)| (was - is).abs()).fold(0.0, f32::max);
        assert!(f64::from(apart) <= tolerance(), "{}: {apart}", was.name);
    }
}

#[test]
fn a_tied_head_adds_its_gradient_to_the_embedding() {
    let expected = expected("llama");
    let tied = policy("llama", TorchOptions { untie_head: false, ..plain() });
    let own = policy("llama", plain());
    let gradient = |policy: &TorchPolicy| policy.gradient(&[expected.batch()], expected.loss_kind()).unwrap();
    let (tied, own) = (gradient(&tied), gradient(&own));
    assert_eq!(tied.iter().len() + 1, own.iter().len());
    let find = |all: &Weights, name: &str| all.get(name).unwrap().data.clone();
    let embedding = "model.embed_tokens.weight";
    let both = find(&own, embedding).into_iter().zip(find(&own, "lm_head.weight"));
    for (sum, (one, other)) in find(&tied, embedding).into_iter().zip(both) {
        assert!((sum - (one + other)).abs() < 1e-6, "{sum} {one} {other}");
    }
}

#[test]
fn a_moving_average_of_adapters_and_an_unknown_device_are_refused() {
    let optimizer = AdamWConfig { ema_decay: Some(0.9), ..AdamWConfig::default() };
    let options = TorchOptions { optimizer, lora: Some(Lora::default()), ..plain() };
    assert!(TorchPolicy::from_folder(&folder("llama"), "cpu", options).is_err());
    assert!(TorchPolicy::from_folder(&folder("llama"), "cuda:99", plain()).is_err());
}
