//! A training that diverges, with settings that the program itself refuses.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use aske_bench::{ModelRegistry, PairSchedule, Selection, manifest, selected_pairs};
use aske_chat::Hint;
use aske_config::{Layers, PolicyLoss, TrainSection};
use aske_diversity::Embedder;
use aske_model::Halt;
use aske_record::RunDir;
use aske_train::reinforce::{
    CollapseMonitor, PolicyServer, RolloutSampler, StepMetrics, StopReason, TrainError, TrainObserver,
    Trainer, load_policy,
};
use aske_train::{LearnError, Objective};
use std::path::Path;

struct Nobody;

impl TrainObserver for Nobody {
    fn step_finished(&self, metrics: &StepMetrics) {
        assert!(metrics.step < 2, "a broken step was counted");
    }
}

/// Trains the novice of the nano world in a folder.
fn train(folder: &Path, plan: &TrainSection) -> Result<StopReason, TrainError> {
    let flags = ["protocol.rounds=0", "boundary.solvers=[\"nano-15k\", \"nano-40k\"]"].map(|text| {
        let (_, key, value) = Layers::parse_override(text).unwrap();
        (text.to_owned(), key, value)
    });
    let layers = Layers::load(Some("nano-train"), std::iter::empty(), &flags).unwrap();
    let settings = layers.settings().unwrap();
    let mut others = settings.clone();
    others.models.remove(&settings.asker.model);
    let fleet = ModelRegistry::new(&others).unwrap();
    let run = RunDir::open(folder, &manifest("0", &layers, &settings)).unwrap();
    let pairs = selected_pairs(&settings, &Selection::default()).unwrap();
    let halt = Halt::default();
    let trainer = Trainer {
        config: plan,
        objective: Objective::new(PolicyLoss::Cispo, None, None, None),
        schedule: PairSchedule::new(pairs, 0, plan.groups, plan.group_size),
        server: PolicyServer::InProcess,
        sampler: RolloutSampler::new(&settings, &fleet, &run, &halt).unwrap(),
        monitor: CollapseMonitor {
            cross_check: None,
            max_questions: 1,
            max_tokens: 10,
            oracle: false,
            domain: settings.domain,
            pack: settings.pack.clone(),
        },
        embedder: Embedder::find("ngram").unwrap(),
        folder: folder.to_owned(),
        halt: &halt,
    };
    let novice = load_policy(&settings.models[&settings.asker.model], plan).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(trainer.run(novice, &Nobody)).map(|(_, stop)| stop)
}

/// A group of eight: some are rewarded otherwise than others.
fn plan(steps: u64) -> TrainSection {
    let mut plan =
        TrainSection { steps, groups: 1, group_size: 8, warmup_steps: 0, ..TrainSection::default() };
    (plan.learning_rate, plan.checkpoint_every, plan.watch.patience) = (1e-4, 1, 0);
    plan
}

#[test]
fn weights_that_are_not_finite_after_the_last_update_are_an_error_and_never_a_checkpoint() {
    let cases = [
        // 0/0 where a weight has no gradient.
        TrainSection { adam_eps: 0.0, ..plan(1) },
        TrainSection { weight_decay: f64::NAN, ..plan(1) },
        TrainSection { learning_rate: f64::INFINITY, ..plan(1) },
        TrainSection { learning_rate: 1e39, ..plan(1) },
        // Only the optimizer state is broken: the second moment is NaN from the first step on.
        TrainSection { adam_betas: [0.9, f64::INFINITY], ..plan(1) },
    ];
    for plan in cases {
        let folder = tempfile::tempdir().unwrap();
        let error = train(folder.path(), &plan).unwrap_err();
        let TrainError::Step { step: 1, source: LearnError::NotFinite(_) } = &error else {
            unreachable!("{error}")
        };
        assert!(error.to_string().starts_with("step 1: training diverged"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("learning rate")), "{error}");
        assert!(!folder.path().join("checkpoints").exists(), "{plan:?}");
    }
}

#[test]
fn a_training_that_diverges_later_leaves_the_checkpoint_before() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(train(folder.path(), &plan(1)).unwrap(), StopReason::Done);
    // It goes on from the start, whose rollouts are stored, and breaks there.
    let broken = TrainSection { learning_rate: 1e45, warmup_steps: 1, ..plan(2) };
    let error = train(folder.path(), &broken).unwrap_err();
    assert!(matches!(error, TrainError::Step { source: LearnError::NotFinite(_), .. }), "{error}");
    let left: Vec<_> = std::fs::read_dir(folder.path().join("checkpoints"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left, ["step-000001"]);
}
