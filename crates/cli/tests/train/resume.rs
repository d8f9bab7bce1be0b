//! A training that goes on: extended after its end, or after parts of its folder were lost.

use crate::common::{World, wait_until};
use crate::{copy, killed, metrics, tiny, weights};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The rollouts that each step learnt from.
fn rollouts(world: &World, run: &str) -> Vec<u64> {
    metrics(world, run).iter().map(|line| line["rollouts"].as_u64().unwrap()).collect()
}

/// Both runs took the same steps to the same weights.
fn same(world: &World, one: &str, other: &str) {
    assert_eq!(rollouts(world, one), rollouts(world, other), "rollouts of each step: {one}, {other}");
    assert_eq!(metrics(world, one), metrics(world, other), "metrics: {one}, {other}");
    assert!(weights(world, one) == weights(world, other), "the weights of {one} and {other} differ");
}

#[test]
fn a_finished_training_that_is_extended_equals_a_longer_one() {
    let world = World::new();
    world.expect(0, &tiny(&["--steps", "4", "--run", "whole"]));
    assert_eq!(rollouts(&world, "whole"), [4; 4]);
    // With checkpoints in between, with a single one, and with none but the last.
    let flags: [&[&str]; 3] = [
        &[],
        &["-o", "train.keep_checkpoints=1"],
        &["-o", "train.checkpoint_every=100", "-o", "train.keep_checkpoints=1"],
    ];
    for (at, flags) in flags.into_iter().enumerate() {
        let run = format!("extended-{at}");
        let train =
            |steps: &str| world.expect(0, &tiny(&[&["--steps", steps, "--run", &run], flags].concat()));
        train("2");
        train("4");
        same(&world, "whole", &run);
    }
}

#[test]
fn a_training_extended_step_by_step_and_killed_in_between_equals_a_longer_one() {
    let world = World::new();
    let more = ["-o", "train.keep_checkpoints=1"];
    world.expect(0, &tiny(&["--steps", "5", "--run", "whole"]));
    let steps = |steps: &'static str| tiny(&[&["--steps", steps, "--run", "parts"], &more[..]].concat());
    for count in ["1", "2", "3"] {
        world.expect(0, &steps(count));
    }
    killed(&world, &steps("5"), "parts", 14, 3);
    world.expect(0, &steps("5"));
    same(&world, "whole", "parts");
}

#[test]
fn fewer_steps_than_a_training_has_are_refused() {
    let world = World::new();
    world.expect(0, &tiny(&["--steps", "2", "--run", "x"]));
    let before = weights(&world, "x");
    let ran = world.expect(2, &tiny(&["--steps", "1", "--run", "x"]));
    assert!(ran.stderr.contains("2 steps") && ran.stderr.contains("hint: "), "{ran}");
    assert!(before == weights(&world, "x"));
    assert_eq!(metrics(&world, "x").len(), 2);
}

#[test]
fn a_training_that_is_extended_is_measured_anew() {
    let world = World::new();
    let few = ["-o", "train.measure.samples=1", "-o", "train.measure.exam_questions=0"];
    let train = |run: &str, steps: &str| {
        let given = ["--steps", steps, "--run", run, "--json"];
        world.expect(0, &[&crate::SMALL[..], &["--rounds", "1"], &few, &given].concat()).json()
    };
    let records = |run: &str| world.folder(&format!("{run}/after-0")).records();
    let whole = train("whole", "2");
    train("parts", "1");
    let before = records("parts");
    let parts = train("parts", "2");
    assert_ne!(before, records("parts"), "these are the sessions of the shorter training");
    assert_eq!(records("whole"), records("parts"));
    assert_eq!(whole, parts);
    assert!(world.path("parts/after-0-earlier/records.jsonl").exists(), "earlier results are kept");
    // Nothing changes when nothing was learnt.
    train("parts", "2");
    assert!(!world.path("parts/after-0-earlier-2").exists());
}

/// The rollouts that the step after a checkpoint learns from.
fn pending(folder: &Path, step: u64) -> Vec<String> {
    let path = folder.join(format!("checkpoints/step-{step:06}/progress.json"));
    let progress: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    serde_json::from_value(progress["pending"].clone()).unwrap()
}

fn is_of(line: &Value, names: &[String]) -> bool {
    let session = || Some(format!("{}/{}", line["pair"].as_str()?, line["sample"]));
    let name = line["record"].as_str().map(str::to_owned).or_else(session);
    name.is_some_and(|name| names.contains(&name))
}

/// Removes the lines of these sessions from a file of the folder.
fn lose_lines(folder: &Path, file: &str, names: &[String]) {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> =
        text.lines().filter(|line| !is_of(&serde_json::from_str(line).unwrap(), names)).collect();
    assert_eq!(text.lines().count() - kept.len(), names.len(), "{file}");
    std::fs::write(&path, kept.join("\n") + "\n").unwrap();
}

/// Removes rows of these sessions from `calls.sqlite`.
fn lose_rows(folder: &Path, table: &str, which: &str, names: &[String]) {
    let store = rusqlite::Connection::open(folder.join("calls.sqlite")).unwrap();
    for name in names {
        let statement = format!(
            "DELETE FROM {table} WHERE number = (SELECT number FROM records WHERE record = ?) AND {which}"
        );
        assert!(store.execute(&statement, [name]).unwrap() > 0, "{table}, {name}");
    }
}

/// What is lost of these sessions.
type Loss = fn(&Path, &[String]);

const LOSSES: [(&str, Loss); 7] = [
    ("records", |folder, names| lose_lines(folder, "records.jsonl", names)),
    ("grades", |folder, names| lose_lines(folder, "grades/standard.jsonl", names)),
    ("calls", |folder, names| lose_rows(folder, "calls", "1", names)),
    ("turns", |folder, names| lose_rows(folder, "calls", "turn = 2", names)),
    ("solvers", |folder, names| lose_rows(folder, "calls", "role = 'one' AND turn = 1", names)),
    ("traces", |folder, names| lose_rows(folder, "traces", "turn = 1", names)),
    ("everything", |folder, names| {
        lose_lines(folder, "records.jsonl", names);
        lose_lines(folder, "grades/standard.jsonl", names);
        for table in ["calls", "traces", "records"] {
            lose_rows(folder, table, "1", names);
        }
    }),
];

#[test]
fn rollouts_lost_from_a_pending_step_are_sampled_again() {
    let world = World::new();
    let steps = |run: &str, flags: &[&str]| {
        let given = [&["--steps", "4", "--run", run][..], flags].concat();
        tiny(&given).into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    let expect =
        |arguments: &[String]| world.expect(0, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    expect(&steps("whole", &[]));
    // Without an earlier checkpoint, and with one.
    for (every, losses) in [("2", &LOSSES[..]), ("1", &LOSSES[..1])] {
        let every = format!("train.checkpoint_every={every}");
        let cut = format!("cut-{}", &every[every.len() - 1..]);
        let arguments = steps(&cut, &["-o", &every]);
        let written = world.path(&format!("{cut}/seed-0/checkpoints/step-000002/progress.json"));
        let mut child =
            world.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).spawn().unwrap();
        wait_until("the checkpoint is there", || written.exists());
        child.kill().unwrap();
        child.wait().unwrap();
        for (what, lose) in losses {
            let run = format!("{cut}-{what}");
            let folder: PathBuf = world.path(&format!("{run}/seed-0"));
            copy(&world.path(&format!("{cut}/seed-0")), &folder);
            let names = pending(&folder, 2);
            assert_eq!(names.len(), 4);
            // All of one group, and one of the other.
            lose(&folder, &[names[0].clone(), names[1].clone(), names[3].clone()]);
            let ran = expect(&steps(&run, &["-o", &every]));
            assert_eq!(rollouts(&world, &run), [4; 4], "{what}: {ran}");
            same(&world, "whole", &run);
        }
    }
}
