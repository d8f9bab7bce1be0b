//! `aske train` from outside.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "../common/mod.rs"]
mod common;
mod damaged;
mod resume;
mod settings;
mod trackers;

use common::World;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// A training that is over in seconds: three small solvers, six rollouts a step.
const SMALL: [&str; 15] = [
    "train",
    "--solvers",
    "nano-15k,nano-40k,nano-100k",
    "-o",
    "train.groups=2",
    "-o",
    "train.group_size=3",
    "-o",
    "train.checkpoint_every=2",
    "-o",
    "train.watch.max_questions=3",
    "-o",
    "train.warmup_steps=1",
    "-o",
    "train.learning_rate=3e-4",
];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().chain(&["--no-measure"]).chain(more).copied().collect()
}

/// The same with shorter and fewer sessions: four rollouts a step.
fn tiny<'a>(more: &[&'a str]) -> Vec<&'a str> {
    small(&[&["--rounds", "1", "-o", "train.group_size=2"], more].concat())
}

/// The metrics of a run but for its times, a line for each step.
fn metrics(world: &World, run: &str) -> Vec<Value> {
    let path = world.path(&format!("{run}/seed-0/metrics.jsonl"));
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let untimed = |mut line: Value| {
        line.as_object_mut().unwrap().retain(|key, _| !key.ends_with("_s"));
        line
    };
    lines.map(untimed).collect()
}

/// The trained weights of a run.
fn weights(world: &World, run: &str) -> Vec<u8> {
    std::fs::read(world.path(&format!("{run}/seed-0/trained/model.safetensors"))).unwrap()
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

/// Starts the same training again and kills it once this many sessions are recorded and steps taken.
fn killed(world: &World, arguments: &[&str], run: &str, sessions: usize, steps: usize) {
    let mut child = world.command(arguments).spawn().unwrap();
    let begun = Instant::now();
    loop {
        let recorded = std::fs::read_to_string(world.path(&format!("{run}/seed-0/records.jsonl")));
        let recorded = recorded.unwrap_or_default().lines().count();
        if recorded >= sessions && metrics(world, run).len() >= steps {
            break;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
        assert!(begun.elapsed() < Duration::from_mins(4), "it never came so far");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_training_killed_three_times_gives_the_metrics_and_weights_of_an_undisturbed_one() {
    let world = World::new();
    let whole = small(&["--steps", "6", "--run", "whole"]);
    world.expect(0, &whole);
    let broken = small(&["--steps", "6", "--run", "broken"]);
    // In the middle of the first sampling; after a step without a checkpoint; after the first checkpoint.
    killed(&world, &broken, "broken", 3, 0);
    killed(&world, &broken, "broken", 8, 1);
    killed(&world, &broken, "broken", 20, 3);
    world.expect(0, &broken);
    let (one, other) = (metrics(&world, "whole"), metrics(&world, "broken"));
    assert_eq!(one.len(), 6);
    assert_eq!(one, other);
    assert!(weights(&world, "whole") == weights(&world, "broken"));
    // Exactly one update behind: the first step learns from its own samples, the others from one step earlier.
    let drifts: Vec<f64> = one.iter().map(|line| line["drift"].as_f64().unwrap()).collect();
    assert!(drifts[0] < 1e-5 && drifts[1..].iter().all(|drift| *drift > 1e-5), "{drifts:?}");
    // Rollouts are sessions like any other: the analyses read them, and nobody was asked twice.
    let told = world.expect(0, &["report", "broken/seed-0", "--json"]).json();
    assert_eq!(told["runs"][0]["sessions"], 36);
    let calls = |run: &str| told_calls(&world, run);
    assert_eq!(calls("whole"), calls("broken"));
    // What was learnt can be asked like any other model.
    let flags = ["-o", "models.mine.provider=local", "-o", "models.mine.path=whole/seed-0/trained"];
    let ask = ["bench", "--asker", "mine", "--samples", "1", "--solvers", "nano-15k,nano-40k"];
    world.expect(0, &[&ask[..], &flags[..]].concat());
    // Other settings are another training.
    let refused =
        world.expect(2, &small(&["--steps", "6", "--run", "whole", "-o", "train.diversity_coef=0.5"]));
    assert!(refused.stderr.contains("train"), "{refused}");
}

/// Calls by role.
fn told_calls(world: &World, run: &str) -> Vec<(String, u64)> {
    let told = world.expect(0, &["report", &format!("{run}/seed-0"), "--json"]).json();
    let used = told["runs"][0]["used"].as_object().unwrap().clone();
    used.into_iter().map(|(role, used)| (role, used["calls"].as_u64().unwrap())).collect()
}

#[test]
fn an_asker_that_has_sampled_its_tokens_is_truncated_and_not_a_failure() {
    let world = World::new();
    let flags = ["--steps", "1", "--run", "a", "-o", "train.max_sample_tokens=5"];
    world.expect(0, &tiny(&flags));
    let step = &metrics(&world, "a")[0];
    // Both turns of each of the four rollouts are truncated.
    let counts = ["rollouts", "failures", "truncated"].map(|key| step[key].as_u64().unwrap());
    assert_eq!(counts, [4, 0, 8], "{step}");
    assert_eq!(step["no_question"], 1.0);
    // Each rollout spends its five tokens in one call; the second turn has none left and is not asked for.
    let told = world.expect(0, &["report", "a/seed-0", "--json"]).json();
    let asker = &told["runs"][0]["used"]["asker"];
    assert_eq!((asker["calls"].as_u64(), asker["completion"].as_u64()), (Some(4), Some(20)), "{asker}");
}

#[test]
fn taking_turns_on_one_gpu_changes_no_rollout_and_no_weight() {
    let world = World::new();
    world.expect(0, &tiny(&["--steps", "3", "--run", "a"]));
    world.expect(0, &tiny(&["--steps", "3", "--run", "b", "-o", "train.vllm.colocate=true"]));
    assert_eq!(metrics(&world, "a").len(), 3);
    assert_eq!(metrics(&world, "a"), metrics(&world, "b"));
    assert!(weights(&world, "a") == weights(&world, "b"));
}

#[test]
fn collapse_and_explosion_end_a_training_with_a_clear_word() {
    let world = World::new();
    let arguments =
        ["--steps", "9", "--run", "a", "-o", "train.watch.min_distinct=1.1", "-o", "train.watch.patience=2"];
    let ran = world.expect(1, &small(&arguments));
    assert!(ran.stderr.contains("distinct questions fell to"), "{ran}");
    assert_eq!(metrics(&world, "a").len(), 2);
    let ran = world.expect(1, &small(&["--steps", "2", "--run", "b", "-o", "train.stop_grad_norm=1e-12"]));
    assert!(
        ran.stderr.contains("above the limit") && ran.stderr.contains("hint: lower the learning rate"),
        "{ran}"
    );
}

#[test]
fn what_cannot_be_trained_is_refused_before_anything_is_asked() {
    let world = World::new();
    let cases: [(&[&str], &str); 6] = [
        (&["-o", "train.loss=ppo"], "hint: known here: cispo, grpo, dapo"),
        (&["-o", "train.group_size=1"], "hint: a rollout is rewarded against others of its pair"),
        (&["--check", "nano-check"], "hint: in training the policy is its own cross-check solver"),
        (&["-o", "train.embedder=BAAI/no-such-model"], "hint: "),
        (&["--asker", "staircase", "--check", "staircase"], "hint: "),
        (&["-o", "train.device=warp"], "hint: "),
    ];
    for (flags, said) in cases {
        let ran = world.expect(2, &small(&[&["--run", "x"], flags].concat()));
        assert!(ran.stderr.contains(said), "{flags:?}: {ran}");
        assert!(!world.path("x/seed-0/calls.sqlite").exists(), "{flags:?}");
    }
}

#[test]
fn two_seeds_are_measured_alone_and_together_and_drawn() {
    let world = World::new();
    let few = ["-o", "train.measure.samples=1", "-o", "train.measure.exam_questions=1"];
    let ran = world.expect(0, &[&SMALL[..], &few, &["--seeds", "0,1", "--steps", "1", "--json"]].concat());
    let rows = ran.json();
    let names: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["before", "seed 0", "seed 1", "pooled"]);
    let [before, one, two, pooled] = [0, 1, 2, 3].map(|at| &rows[at]);
    let mean = |key: &str, inner: &str| {
        let value =
            |row: &Value| if inner.is_empty() { &row[key] } else { &row[key][inner] }.as_f64().unwrap();
        (value(pooled), f64::midpoint(value(one), value(two)))
    };
    // As many sessions and answers with each seed: what is pooled is the mean.
    for (key, inner) in
        [("calibrated", "value"), ("gain", "value"), ("avg", ""), ("avg_gain", "value"), ("pass", "")]
    {
        let (found, wanted) = mean(key, inner);
        assert!((found - wanted).abs() < 1e-9, "{key}: {found} {wanted}");
    }
    assert!(before["gain"].is_null() && before["judge"].is_null());
    let drawn = std::fs::read_to_string(world.path("runs/nano-train/curves.svg")).unwrap();
    assert!(
        ["seed 0", "seed 1", "by the fixed check", "own judge right"].iter().all(|text| drawn.contains(text))
    );
}

#[test]
fn a_gguf_file_that_cannot_be_read_is_refused_and_nothing_is_overwritten() {
    let world = World::new();
    std::fs::write(world.path("bad.gguf"), b"GGUF no").unwrap();
    for file in ["bad.gguf", "none.gguf"] {
        let ran = world.expect(2, &["convert", file, "made"]);
        assert!(ran.stderr.contains(file) && ran.stderr.contains("hint: name a GGUF file"), "{ran}");
    }
    std::fs::write(world.path("made/config.json"), b"{}").unwrap();
    let ran = world.expect(2, &["convert", "bad.gguf", "made"]);
    assert!(ran.stderr.contains("already contains a checkpoint"), "{ran}");
}
