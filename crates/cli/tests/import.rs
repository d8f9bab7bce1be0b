//! Rollouts that verifiers has written, imported by the program, and what the other commands make of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its output has failed")]

mod common;

use common::{Config, World, server};
use serde_json::{Value, json};
use std::path::Path;

/// A file that verifiers has written.
fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/data").join(name).display().to_string()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn results_are_imported_reported_exported_and_graded_again() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[20, 80]));
    let results = data("results/results.jsonl");
    let told = world.expect(0, &["import", &results, "--run", "run", "--json"]).json();
    assert_eq!((&told["sessions"], &told["graded"], &told["rounds"]), (&json!(6), &json!(6), &json!(2)));
    assert_eq!(told["solvers"], json!(["solver-30", "solver-60", "solver-80", "solver-90"]));
    assert_eq!(
        (&told["left_out"], &told["not_known"], &told["skipped"]),
        (&json!({}), &json!({}), &json!(0))
    );

    let evidence = world.expect(0, &["report", "run", "--json"]).json();
    let outcomes = evidence["runs"][0]["outcomes"].as_array().unwrap();
    let sessions: Vec<u64> = outcomes.iter().map(|share| share["sessions"].as_u64().unwrap()).collect();
    // calibrated, too easy, too hard, no question, bad cross-check: as the file's `outcome` counts them.
    assert_eq!(sessions, [4, 1, 0, 0, 1]);
    world.expect(0, &["report", "run", "--html", "page.html"]);
    assert!(world.read("page.html").contains("What is"));
    world.expect(0, &["report", "run", "--grader", "aske"]);

    world.expect(0, &["export", "run", "--format", "jsonl", "--out", "out"]);
    assert_eq!(lines(&world.read("out/sessions.jsonl")).len(), 6);
    // Two solvers, two probing rounds and a final question each.
    assert_eq!(lines(&world.read("out/answers.jsonl")).len(), 6 * 2 * 3);

    world.expect(0, &["regrade", "run", "--check", "check", "--name", "again"]);
    assert_eq!(lines(&world.read("run/grades/again.jsonl")).len(), 6);

    let again = world.expect(2, &["import", &results, "--out", "run"]);
    assert!(
        again.stderr.contains("run exists already") && again.stderr.contains("hint:"),
        "{}",
        again.stderr
    );
}

#[test]
fn what_a_file_does_not_tell_is_said_and_never_graded() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[20, 80]));
    let traces = data("traces/traces.jsonl");
    let told = world.expect(0, &["import", &traces, "--out", "run", "--map", "outcome=info.label"]);
    for expected in [
        "unknown: 4 lack the answers to the final question",
        "unknown: 4 have no outcome",
        "not found: no rollout has the field that --map names for outcome",
    ] {
        assert!(told.stderr.contains(expected), "{expected}: {}", told.stderr);
    }
    world.expect(0, &["report", "run", "--json"]);
    world.expect(0, &["regrade", "run", "--check", "check", "--name", "again"]);
    assert_eq!(world.read("run/grades/again.jsonl"), "", "nobody knows what the solvers said");
}

#[test]
fn lines_that_cannot_be_read_are_named_and_nothing_is_left_of_a_failure() {
    let world = World::new();
    let good = std::fs::read_to_string(data("results/results.jsonl")).unwrap();
    let torn = &good[..good.len() - 100];
    world.write("rollouts.jsonl", &format!("{{\"x\": 1}}\n{torn}"));
    let told = world.expect(1, &["import", "rollouts.jsonl", "--out", "run", "--asker", "me"]);
    assert!(told.stdout.contains("5 sessions of me"), "{}", told.stdout);
    for expected in ["rollouts.jsonl:1: neither a rollout", "rollouts.jsonl:7: the line is incomplete"] {
        assert!(told.stderr.contains(expected), "{expected}: {}", told.stderr);
    }
    let strict = world.expect(2, &["import", "rollouts.jsonl", "--out", "strict", "--strict"]);
    assert!(strict.stderr.contains("rollouts.jsonl:1:"), "{}", strict.stderr);
    let none = world.expect(2, &["import", "rollouts.jsonl", "--out", "none", "--rounds", "7"]);
    assert!(none.stderr.contains("there is no rollout to import"), "{}", none.stderr);
    world.expect(2, &["import", "missing.jsonl", "--out", "missing"]);
    world.expect(2, &["import", "rollouts.jsonl", "--out", "typo", "--map", "verdict=info.x"]);
    let mut names: Vec<_> =
        std::fs::read_dir(world.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["rollouts.jsonl", "run"]);
}

#[test]
fn sessions_of_our_own_environment_are_taken_over_as_they_are() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[20, 80, 50]));
    world.expect(0, &["bench", "--run", "made"]);
    let (records, grades) = (world.read("made/records.jsonl"), world.read("made/grades/standard.jsonl"));
    let template = lines(&std::fs::read_to_string(data("traces/traces.jsonl")).unwrap()).remove(0);
    let mut episodes = String::new();
    let grades_of = lines(&grades);
    for record in lines(&records) {
        let name = format!("{}/{}", record["pair"].as_str().unwrap(), record["sample"]);
        let grade = grades_of.iter().find(|grade| grade["record"] == name.as_str()).unwrap();
        let mut episode = template.clone();
        episode["traces"][0]["info"]["aske"] = json!({"record": record, "grade": grade});
        episodes += &episode.to_string();
        episodes.push('\n');
    }
    world.write("traces.jsonl", &episodes);
    // Twice the same file: the same sessions.
    let told =
        world.expect(0, &["import", "traces.jsonl", "traces.jsonl", "--out", "taken", "--json"]).json();
    let sessions = records.lines().count();
    assert_eq!((&told["sessions"], &told["left_out"]), (&json!(sessions), &json!({"twice": sessions})));
    assert_eq!(world.read("taken/records.jsonl"), records);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&world.read("taken/grades/standard.jsonl")), sorted(&grades));
}
