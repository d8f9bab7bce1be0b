//! Folders written by an earlier version are read, reported, viewed, resumed and regraded with the same results.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

mod common;

use common::{World, wait_until};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/before").join(name)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

/// A world with copies of all folders.
fn world() -> World {
    let world = World::new();
    for name in ["ask", "bench", "eval", "train"] {
        copy(&data(name), &world.path(name));
    }
    world
}

fn expected_json(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(data("expected").join(name)).unwrap()).unwrap()
}

/// The words of a text with a digit in them: labels may change, numbers may not.
fn numbers(text: &str) -> Vec<&str> {
    text.split_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect()
}

/// Checks that everything of an earlier version's JSON is there with the same value; fields may be added.
fn assert_kept(found: &Value, expected: &Value, place: &str) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            for (key, value) in expected {
                let place = format!("{place}.{key}");
                assert!(found.contains_key(key), "{place} is missing");
                assert_kept(&found[key], value, &place);
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{place}");
            for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert_kept(found, expected, &format!("{place}[{at}]"));
            }
        }
        _ => assert_eq!(found, expected, "{place}"),
    }
}

#[test]
fn reports_are_the_same() {
    let world = world();
    for name in ["bench", "eval"] {
        let report = world.expect(0, &["report", name, "--json"]).json();
        assert_kept(&report, &expected_json(&format!("report-{name}.json")), name);
    }
    for (name, folder) in [("ask", "ask"), ("bench", "bench"), ("eval", "eval"), ("train", "train/seed-0")] {
        let shown = world.expect(0, &["report", folder]).stdout;
        let expected = std::fs::read_to_string(data("expected").join(format!("report-{name}.txt"))).unwrap();
        assert_eq!(numbers(&shown), numbers(&expected), "{name}:\n{shown}");
    }
}

#[test]
fn resuming_requests_nothing_and_gives_the_same_results() {
    let world = world();
    for (name, arguments) in [
        ("bench", &["bench", "--limit", "8", "--samples", "2", "--run", "bench", "--json"][..]),
        ("eval", &["eval", "nano-40k", "--samples", "2", "--limit", "10", "--run", "eval", "--json"]),
    ] {
        let before = world.folder(name).replies();
        let ran = world.expect(0, arguments);
        assert!(ran.stderr.contains("all finished before"), "{ran}");
        assert_kept(&ran.json(), &expected_json(&format!("resume-{name}.json")), name);
        assert_eq!(world.folder(name).replies(), before, "{name}");
    }
}

/// Lines of JSON by the record they are about, without the name of the comparison; and those names.
fn grades(text: &str) -> (Vec<(String, Value)>, Vec<Option<String>>) {
    let mut names = Vec::new();
    let mut lines: Vec<(String, Value)> = text
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let name = line.as_object_mut().unwrap().remove("comparison");
            names.push(name.and_then(|name| name.as_str().map(str::to_owned)));
            (line["record"].as_str().unwrap_or_default().to_owned(), line)
        })
        .collect();
    lines.sort_by(|a, b| a.0.cmp(&b.0));
    (lines, names)
}

#[test]
fn regrading_again_gives_the_same_grades() {
    let world = world();
    let (before, earlier) = grades(&world.read("bench/grades/nano-asker.jsonl"));
    assert_eq!(earlier, [const { None }; 8], "earlier versions did not name the comparison");
    let again = &["regrade", "bench", "--check", "nano-asker", "--json"];
    let ran = world.expect(0, again);
    assert_kept(&ran.json(), &expected_json("regrade-bench.json"), "regrade");
    assert!(ran.stderr.contains("8 sessions were graded by earlier rules"), "{ran}");
    // The earlier grades stay in the file, and the later ones count.
    let after = world.read("bench/grades/nano-asker.jsonl");
    let (first, second): (Vec<&str>, Vec<&str>) =
        (after.lines().take(8).collect(), after.lines().skip(8).collect());
    assert_eq!(grades(&first.join("\n")), (before.clone(), earlier));
    assert_eq!(grades(&second.join("\n")), (before, vec![Some(COMPARISON.to_owned()); 8]));
    assert!(world.expect(0, again).stderr.contains(" 0 to do"));
    assert_eq!(world.read("bench/grades/nano-asker.jsonl"), after);
    // Under another name the model answers anew, and as it answered the earlier version.
    world.expect(0, &["regrade", "bench", "--check", "nano-asker", "--name", "again"]);
    let (lines, names) = grades(&world.read("bench/grades/again.jsonl"));
    let expected = std::fs::read_to_string(data("expected/regrade-again.jsonl")).unwrap();
    assert_eq!(lines, grades(&expected).0);
    assert!(names.iter().all(|name| name.as_deref() == Some(COMPARISON)), "{names:?}");
}

/// The name of the current comparison, which graded none of the folders.
const COMPARISON: &str = "aske-4";

#[test]
fn grades_by_earlier_rules_are_visible_and_made_again() {
    let world = world();
    let before = world.read("bench/grades/standard.jsonl");
    assert!(world.read("bench/run.toml").contains("comparison = \"aske-2\""));
    let report = world.expect(0, &["report", "bench"]);
    assert!(report.stderr.contains("8 of 8 sessions graded by earlier rules"), "{report}");
    let resume = &["bench", "--limit", "8", "--samples", "2", "--run", "bench", "--json"];
    let ran = world.expect(0, resume);
    assert!(ran.stderr.contains("all finished before"), "{ran}");
    assert!(ran.stderr.contains("8 sessions were graded by earlier rules; they are graded again"), "{ran}");
    let after = world.read("bench/grades/standard.jsonl");
    assert!(after.starts_with(&before), "the earlier grades stay in the file");
    let (lines, names) = grades(&after[before.len()..]);
    assert_eq!((lines, names), (grades(&before).0, vec![Some(COMPARISON.to_owned()); 8]));
    // The folder says which comparison made the grades that name none.
    assert!(world.read("bench/run.toml").contains("comparison = \"aske-2\""));
    assert!(!world.expect(0, &["report", "bench"]).stderr.contains("earlier rules"));
    assert!(!world.expect(0, resume).stderr.contains("earlier rules"));
    assert_eq!(world.read("bench/grades/standard.jsonl"), after, "once is enough");
    // Samples of an evaluation are judged where they are recorded.
    let resume = &["eval", "nano-40k", "--samples", "2", "--limit", "10", "--run", "eval", "--json"];
    let ran = world.expect(0, resume);
    assert!(ran.stderr.contains("all finished before") && ran.stderr.contains("by earlier rules"), "{ran}");
    assert!(world.read("eval/records.jsonl").contains(&format!("\"comparison\":\"{COMPARISON}\"")));
    assert!(!world.expect(0, resume).stderr.contains("earlier rules"));
}

/// Another comparison is another run.
#[test]
fn another_comparison_is_refused() {
    let world = world();
    let ran = world.expect(
        2,
        &["bench", "--limit", "8", "--samples", "2", "--run", "bench", "-o", "protocol.comparison=paper"],
    );
    assert!(ran.stderr.contains("comparison: aske-2 in the folder, paper-3 now"), "{ran}");
}

#[test]
fn a_training_with_the_old_keys_continues_and_reuses_its_replies() {
    let world = world();
    let before = world.folder("train/seed-0").replies();
    let mut arguments: Vec<&str> = "train --config nano-train --asker nano-15k --check nano-15k --solvers \
        nano-40k,nano-1m --steps 3 --no-measure --run train"
        .split_whitespace()
        .collect();
    for key in [
        "train.groups=1",
        "train.group_size=2",
        "train.checkpoint_every=1",
        "train.decay=0.02",
        "train.clip_gradient=0.5",
        "train.epsilon=1e-7",
        "train.alpha=0.3",
        "train.neighbours=5",
        "train.warm_up=1",
        "train.keep=1",
    ] {
        arguments.extend(["-o", key]);
    }
    world.expect(0, &arguments);
    let after = world.folder("train/seed-0").replies();
    assert!(after.len() > before.len());
    assert!(before.iter().all(|(key, reply)| after.get(key) == Some(reply)), "stored replies changed");
    assert_eq!(world.read("train/seed-0/metrics.jsonl").lines().count(), 3);
    let trained = ["config.json", "tokenizer.json", "tokenizer_config.json"];
    for file in trained {
        let checkpoint = data("train/seed-0/checkpoints/step-000002").join(file);
        let path = format!("train/seed-0/trained/{file}");
        assert_eq!(world.read(&path), std::fs::read_to_string(checkpoint).unwrap(), "{file}");
    }
}

/// The sessions of a training, sorted.
fn sessions(world: &World, folder: &str) -> Vec<String> {
    let records = world.read(&format!("{folder}/records.jsonl"));
    let name = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        format!("{}/{}", record["pair"].as_str().unwrap(), record["sample"])
    };
    let mut names: Vec<String> = records.lines().map(name).collect();
    names.sort();
    names
}

/// Its second step contains one pair twice. The version that wrote it continued it with these sessions.
#[test]
fn a_training_without_distinct_pairs_keeps_its_order() {
    let world = World::new();
    copy(&data("train-pairs"), &world.path("old"));
    let train = |run: &str| {
        let arguments = "train --config nano-train --asker nano-15k --check nano-15k --solvers \
            nano-40k,nano-100k,nano-1m --steps 4 --rounds 0 --no-measure -o train.groups=2 \
            -o train.group_size=2 -o train.checkpoint_every=1 -o train.keep_checkpoints=1 --run";
        let arguments: Vec<&str> = arguments.split_whitespace().chain([run]).collect();
        world.expect(0, &arguments)
    };
    let resumed = train("old");
    assert!(resumed.stderr.contains("resuming from old/seed-0/checkpoints/step-000001"), "{resumed}");
    let expected = [
        "nano-100k:nano-1m/0",
        "nano-100k:nano-1m/1",
        "nano-100k:nano-1m/2",
        "nano-100k:nano-1m/3",
        "nano-100k:nano-40k/0",
        "nano-100k:nano-40k/1",
        "nano-100k:nano-40k/2",
        "nano-100k:nano-40k/3",
        "nano-100k:nano-40k/4",
        "nano-100k:nano-40k/5",
        "nano-1m:nano-40k/0",
        "nano-1m:nano-40k/1",
        "nano-1m:nano-40k/2",
        "nano-1m:nano-40k/3",
        "nano-1m:nano-40k/4",
        "nano-1m:nano-40k/5",
    ];
    assert_eq!(sessions(&world, "old/seed-0"), expected);
    assert!(!world.read("old/seed-0/run.toml").contains("train.pairs"));
    // A new training has distinct pairs in every step, and says so.
    train("new");
    assert!(world.read("new/seed-0/run.toml").contains("\"train.pairs\" = \"distinct\""));
    let names = std::fs::read(world.path("new/seed-0/checkpoints/step-000003/progress.json")).unwrap();
    let progress: Value = serde_json::from_slice(&names).unwrap();
    let pairs: std::collections::HashSet<&str> = progress["pending"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().split_once('/').unwrap().0)
        .collect();
    assert_eq!(pairs.len(), 2, "{progress}");
    // An order that only a later version knows.
    let manifest = world.read("new/seed-0/run.toml").replace("\"distinct\"", "\"sorted\"");
    std::fs::write(world.path("new/seed-0/run.toml"), manifest).unwrap();
    let refused = world.expect(2, &["train", "--config", "nano-train", "--no-measure", "--run", "new"]);
    assert!(refused.stderr.contains("\"sorted\"") && refused.stderr.contains("hint: "), "{refused}");
}

#[test]
fn the_viewer_shows_them() {
    let world = world();
    let mut child = world.start(&["view", "ask", "bench", "eval", "train/seed-0", "--port", "0"]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let get = |path: &str| {
        let mut socket = TcpStream::connect(&address).unwrap();
        write!(socket, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut bytes = Vec::new();
        socket.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    assert!(get("/").starts_with("HTTP/1.1 200"), "{line}");
    let runs = || {
        let text = get("/api/runs");
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
        serde_json::from_str::<Value>(&body).unwrap_or_default()
    };
    let sessions = |runs: &Value| runs["runs"].as_array().map_or(0, Vec::len);
    wait_until("all runs are listed", || sessions(&runs()) == 4);
    let shown = runs();
    child.kill().unwrap();
    child.wait().unwrap();
    for run in shown["runs"].as_array().unwrap() {
        assert_eq!(run["trouble"], Value::Null, "{shown}");
    }
    assert_eq!(shown["runs"][1]["sessions"], 8, "{shown}");
}
