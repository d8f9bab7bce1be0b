//! A policy is saved for others, and kept for itself.

use std::path::Path;

use aske_train::{Batch, LearnError, Lora, Loss, Policy, StepStats, TorchOptions, TorchPolicy};

use crate::common::{MODELS, device, eager, expected, folder, plain, policy, tolerance};

fn step(policy: &mut TorchPolicy, batch: &Batch, loss: Loss) -> StepStats {
    policy.step(std::slice::from_ref(batch), loss, 0.01, f64::INFINITY).unwrap()
}

#[test]
fn a_kept_policy_goes_on_as_if_nothing_had_happened() {
    for (model, lora) in MODELS.into_iter().zip([None, None, Some(Lora::default())]) {
        let expected = expected(model);
        let (batch, loss) = (expected.batch(), expected.loss_kind());
        let options = TorchOptions { lora, optimizer: eager(), ..plain() };
        let mut one = policy(model, options);
        for _ in 0..3 {
            step(&mut one, &batch, loss);
        }
        let kept = tempfile::tempdir().unwrap();
        one.save_checkpoint(kept.path()).unwrap();
        let mut other = policy(model, options);
        other.load_checkpoint(kept.path()).unwrap();
        for _ in 0..3 {
            let (one, other) = (step(&mut one, &batch, loss), step(&mut other, &batch, loss));
            for (one, other) in [(one.loss, other.loss), (one.grad_norm, other.grad_norm)] {
                // Six steps, each from the weights that the rounding of the one before has moved.
                assert!((one - other).abs() <= 10.0 * tolerance() * one.abs(), "{model}: {one} {other}");
            }
        }
    }
}

#[test]
fn an_optimizer_on_the_cpu_takes_the_same_steps() {
    for (model, lora) in MODELS.into_iter().zip([None, None, Some(Lora::default())]) {
        let expected = expected(model);
        let (batch, loss) = (expected.batch(), expected.loss_kind());
        let options = TorchOptions { lora, optimizer: eager(), ..plain() };
        let (mut one, mut other) =
            (policy(model, options), policy(model, TorchOptions { offload_optimizer: true, ..options }));
        for _ in 0..3 {
            let (one, other) = (step(&mut one, &batch, loss), step(&mut other, &batch, loss));
            // The same formula on another processor: equal up to rounding.
            assert!((one.loss - other.loss).abs() < 1e-5, "{model}: {one:?} {other:?}");
        }
    }
}

#[test]
fn a_saved_policy_is_read_again_with_its_own_head_and_merged_adapters() {
    for (model, lora) in MODELS.into_iter().zip([None, None, Some(Lora::default())]) {
        let expected = expected(model);
        let (batch, loss) = (expected.batch(), expected.loss_kind());
        let mut policy = policy(model, TorchOptions { lora, ..plain() });
        step(&mut policy, &batch, loss);
        let saved = tempfile::tempdir().unwrap();
        policy.export(saved.path()).unwrap();
        let config: serde_json::Value =
            serde_json::from_slice(&std::fs::read(saved.path().join("config.json")).unwrap()).unwrap();
        assert_eq!(config["tie_word_embeddings"], lora.is_some());
        assert_eq!(config["dtype"], "float32");
        assert_eq!(config["bos_token_id"], 0);
        let again = TorchPolicy::from_folder(saved.path(), &device(), plain()).unwrap();
        let (was, is) = (policy.evaluate(std::slice::from_ref(&batch), loss), again.evaluate(&[batch], loss));
        let (was, is) = (was.unwrap(), is.unwrap());
        assert!((was.loss - is.loss).abs() < 1e-6, "{model}: {was:?} {is:?}");
    }
}

#[test]
fn half_precision_is_saved_where_it_is_asked_for() {
    let saved = tempfile::tempdir().unwrap();
    // Bfloat16 in the file, and nothing learnt: the same numbers come back.
    let one = policy("llama", TorchOptions { export_bf16: true, untie_head: false, ..plain() });
    one.export(saved.path()).unwrap();
    let size = |folder: &Path| std::fs::metadata(folder.join("model.safetensors")).unwrap().len();
    assert!(size(saved.path()).abs_diff(size(&folder("llama"))) < 200);
    let expected = expected("llama");
    let again = TorchPolicy::from_folder(saved.path(), &device(), plain()).unwrap();
    let score = |policy: &TorchPolicy| policy.evaluate(&[expected.batch()], expected.loss_kind()).unwrap();
    let (one, again) = (score(&one), score(&again));
    assert!((one.loss - again.loss).abs() < 1e-6, "{one:?} {again:?}");
}

#[test]
fn a_folder_that_does_not_fit_is_refused() {
    let kept = tempfile::tempdir().unwrap();
    policy("llama", plain()).save_checkpoint(kept.path()).unwrap();
    let mut other = policy("qwen3", plain());
    let before = other.evaluate(&[expected("qwen3").batch()], Loss::Cispo { low: 0.5, high: 0.5 }).unwrap();
    assert!(matches!(other.load_checkpoint(kept.path()), Err(LearnError::Weights(_))));
    assert!(matches!(other.load_checkpoint(&folder("llama")), Err(LearnError::File { .. })));
    let after = other.evaluate(&[expected("qwen3").batch()], Loss::Cispo { low: 0.5, high: 0.5 }).unwrap();
    assert_eq!(before, after, "nothing has changed");
    std::fs::copy(folder("qwen3").join("config.json"), kept.path().join("config.json")).unwrap();
    let wrong = TorchPolicy::from_folder(kept.path(), "cpu", plain());
    assert!(matches!(wrong, Err(LearnError::Weights(message)) if message.contains("q_norm")));
}
