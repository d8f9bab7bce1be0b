//! The numbers that the paper fixes are the defaults of the `paper-*` configurations.

#![expect(clippy::panic, reason = "a configuration that ships and does not load ends its test")]

use aske_answer::Rules;
use aske_config::{Layers, Settings};
use aske_model::Sampling;
use aske_session::{Domain, Protocol};
use std::collections::BTreeSet;

fn load(name: &str) -> Layers {
    Layers::load(Some(name), std::iter::empty(), &[]).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn settings(name: &str) -> Settings {
    load(name).settings().unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// "Additional Ask-E Benchmark Implementation Details" and section 4.1.
#[test]
fn the_benchmark_is_the_papers() {
    let bench = settings("paper-bench");
    assert_eq!(bench.protocol, Protocol::default());
    let Protocol { rounds, asker_tokens, asker_final_tokens, solver_tokens, solver_final_tokens, .. } =
        bench.protocol;
    assert_eq!((rounds, asker_tokens, asker_final_tokens), (4, 6_000, 10_000));
    assert_eq!((solver_tokens, solver_final_tokens), (4_000, 6_000));
    assert_eq!((bench.protocol.question_words, bench.protocol.summary_chars), (200, 2_000));
    assert_eq!((bench.run.samples, bench.domain), (10, Domain::Math { rules: Rules::Paper }));
    assert_eq!((bench.protocol.check_draws, bench.check.sampling.temperature), (3, Some(0.7)));
    assert!(bench.solvers.iter().all(|solver| solver.sampling.temperature == Some(0.7)));
    let check = &bench.models["gemini-3.1-pro"];
    assert_eq!(check.model.as_deref(), Some("gemini-3.1-pro-preview"));
    assert_eq!(check.sampling.reasoning_effort.as_deref(), Some("low"));
    assert_eq!(bench.check.model, "gemini-3.1-pro");
    assert_eq!(bench.equivalence.map(|(role, _)| role.model).as_deref(), Some("gemini-3.1-pro"));
}

/// "Additional Training Details" and section 5.1.
#[test]
fn the_training_dialogue_is_the_papers() {
    let train = settings("paper-train");
    assert_eq!(train.protocol, Protocol::training());
    assert_eq!((train.protocol.rounds, train.protocol.check_draws), (3, 1));
    assert_eq!((train.protocol.asker_tokens, train.protocol.solver_tokens), (4_000, 3_000));
    assert_eq!(train.asker.sampling.temperature, Some(1.0));
    assert_eq!(train.check.sampling.temperature, Some(0.0));
    assert_eq!(train.check.model, train.asker.model, "the asker is its own judge");
    assert!(train.equivalence.is_none());
    assert!(train.solvers.iter().all(|solver| solver.sampling.temperature == Some(0.7)));
}

/// Table "Boundary-solver sets".
#[test]
fn the_full_set_has_20_solvers_and_the_small_one_12_of_them() {
    let names = |name| settings(name).solvers.into_iter().map(|solver| solver.model).collect::<BTreeSet<_>>();
    let (full, small) = (names("paper-bench"), names("paper-train"));
    assert_eq!((full.len(), small.len()), (20, 12));
    assert!(small.is_subset(&full));
    let models = settings("paper-bench").models;
    let size = |name: &String| models[name].params;
    assert_eq!(full.iter().filter(|name| size(name).is_none()).count(), 3, "the closed Gemini Flash models");
    assert!(small.iter().all(|name| size(name).is_some_and(|billions| (1.5..=8.0).contains(&billions))));
    assert!(full.iter().filter_map(size).all(|billions| billions <= 27.0));
}

/// "Asker-model configurations": low for Gemini, medium for Claude and GPT, high for DeepSeek; Qwen's sampling.
#[test]
fn the_askers_think_and_sample_as_in_the_paper() {
    let models = &load("paper-bench").config().models.clone();
    for (name, effort) in [
        ("gemini-3.1-pro", "low"),
        ("gemini-3.1-flash-lite", "low"),
        ("claude-opus-4.7", "medium"),
        ("gpt-5", "medium"),
        ("deepseek-v4-pro", "high"),
    ] {
        let only_effort = Sampling { reasoning_effort: Some(effort.to_owned()), ..Sampling::default() };
        assert_eq!(models[name].sampling, only_effort, "{name}");
    }
    let qwen = Sampling {
        temperature: Some(1.0),
        top_p: Some(0.95),
        top_k: Some(20),
        min_p: Some(0.0),
        presence_penalty: Some(1.5),
        repetition_penalty: Some(1.0),
        ..Sampling::default()
    };
    for name in ["qwen3.5-27b-asker", "qwen3.5-4b-asker"] {
        assert_eq!(models[name].sampling, qwen, "{name}");
        assert_eq!(
            models[name].extra_body["chat_template_kwargs"]["enable_thinking"].as_bool(),
            Some(false),
            "{name}"
        );
    }
}

/// Section 5.1 and "Additional Training Details".
#[test]
fn the_training_is_the_papers() {
    let train = load("paper-train").config().train.clone();
    assert_eq!((train.steps, train.groups, train.group_size), (200, 16, 16), "256 rollouts a step");
    assert_eq!(
        (train.loss.as_str(), train.clip_ratio_low, train.clip_ratio_high),
        ("cispo", Some(0.75), Some(3.0))
    );
    let close = |one: f64, two: f64| (one - two).abs() < 1e-15;
    assert!(
        close(train.learning_rate, 1e-6) && close(train.weight_decay, 0.01) && close(train.adam_eps, 1e-8)
    );
    assert!(
        close(train.adam_betas[0], 0.9)
            && close(train.adam_betas[1], 0.999)
            && close(train.max_grad_norm, 1.0)
    );
    assert_eq!((train.warmup_steps, train.untie_lm_head), (60, true));
    assert_eq!(
        (train.embedder.as_str(), train.num_neighbors, train.buffer_size),
        ("BAAI/bge-small-en-v1.5", 5, 5_000)
    );
    assert!(close(train.diversity_coef, 1.0));
    assert_eq!((train.max_train_tokens, train.max_sample_tokens), (24_576, 32_768));
    let settings = settings("paper-train");
    assert_eq!((settings.protocol.rounds, settings.protocol.check_draws), (3, 1));
    assert_eq!(settings.check.sampling.temperature, Some(0.0));
    assert_eq!(settings.asker.sampling.temperature, Some(1.0));
    assert_eq!(settings.check.model, settings.asker.model, "its own judge");
}
