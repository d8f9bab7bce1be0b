//! What a run tells: reports, and the work that is done on a run afterwards, against models of known ability.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its output has failed")]

mod common;

use aske_testkit::{Fault, TestServer, TestServerOptions};
use common::{Config, World, server, settled};
use serde_json::Value;
use std::collections::BTreeMap;

/// A run of so many samples with these solvers, and the server that answered.
fn ran(abilities: &[u32], samples: u32) -> (TestServer, World) {
    let server = server(0);
    let world = World::with(&Config { samples, ..Config::new(&server, abilities) });
    world.expect(0, &["bench", "--run", "run"]);
    (server, world)
}

/// How many requests each model has had.
fn asked(server: &TestServer) -> BTreeMap<String, u64> {
    settled(server).per_model
}

fn inside(interval: &Value, value: f64) -> bool {
    (interval["low"].as_f64().unwrap()..=interval["high"].as_f64().unwrap()).contains(&value)
}

#[test]
fn an_audit_finds_the_separation_and_the_noise_of_solvers_with_known_abilities() {
    let (server, world) = ran(&[20, 80, 50, 95], 12);
    let before = asked(&server);
    let audit = world.expect(0, &["audit", "run", "--draws", "6", "--json"]).json();
    let after = asked(&server);
    assert_eq!(
        (after["asker"], after["check"]),
        (before["asker"], before["check"]),
        "only solvers are asked"
    );
    let found = &audit["runs"][0]["audit"]["estimates"];
    // The mean over the six pairs of (p−q)² and of p(1−p) + q(1−q), for p, q of 0.2, 0.8, 0.5 and 0.95.
    let abilities = [0.2, 0.8, 0.5, 0.95];
    let pairs = || (0..4).flat_map(|i| (i + 1..4).map(move |j| (abilities[i], abilities[j])));
    let mean = |term: fn(f64, f64) -> f64| pairs().map(|(p, q)| term(p, q)).sum::<f64>() / 6.0;
    let noise = |p: f64, q: f64| p * (1.0 - p) + q * (1.0 - q);
    for (name, truth) in [
        ("separation", mean(|p, q| (p - q).powi(2))),
        ("noise", mean(noise)),
        ("calibrated", mean(|p, q| p + q - 2.0 * p * q)),
        ("same", mean(noise)),
        ("gap", mean(|p, q| q - p)),
    ] {
        assert!(inside(&found[name]["interval"], truth), "{name} is {truth}: {}", found[name]);
    }
    let (records, stored) = (world.folder("run"), world.folder("run").stored());
    assert!(records.grades().len() == 72, "the grades are as they were");

    // Again: nothing is asked. More draws: only the new ones.
    world.expect(0, &["audit", "run", "--draws", "6"]);
    assert_eq!(world.folder("run").stored(), stored);
    let sessions = found["sessions"].as_u64().unwrap();
    world.expect(0, &["audit", "run", "--draws", "8"]);
    // And the probes of the four solvers.
    assert_eq!(world.folder("run").stored(), stored + 2 * 2 * sessions + 4);
    assert_eq!(settled(&server).repeated_good, 0);
    let report = world.expect(0, &["report", "run", "--json"]).json();
    assert_eq!(report["runs"][0]["audit"]["draws"], 8);
}

#[test]
fn regrading_asks_the_new_cross_check_solver_and_nobody_else() {
    let (server, world) = ran(&[20, 50, 80], 3);
    let more = format!(
        "\n[models.check-two]\nprovider = \"openai\"\nurl = \"{}\"\nsampling = {{ seed = true }}\n",
        server.url()
    );
    world.write("aske.toml", &(world.read("aske.toml") + &more));
    let (before, own) = (asked(&server), world.read("run/grades/standard.jsonl"));
    let regraded = world.expect(0, &["regrade", "run", "--check", "check-two", "--json"]).json();
    let after = asked(&server);
    let mut others = after.clone();
    let calls = others.remove("check-two").unwrap();
    assert_eq!(others, before);
    let questions = world.folder("run").grades().values().filter(|g| g["outcome"] != "no_question").count();
    assert_eq!(calls, questions as u64 + 1, "one draw each, and a probe");
    assert_eq!(world.read("run/grades/standard.jsonl"), own);
    let lines: Vec<Value> = world
        .read("run/grades/check-two.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 9);
    assert!(lines.iter().all(|line| line["check"].as_array().unwrap().len() <= 1));
    let regrade = &regraded["runs"][0]["regrades"][0];
    assert_eq!((regrade["grader"].as_str(), regrade["sessions"].as_u64()), (Some("check-two"), Some(9)));
    let changed = lines
        .iter()
        .filter(|line| {
            line["outcome"] != world.folder("run").grades()[line["record"].as_str().unwrap()]["outcome"]
        })
        .count();
    assert_eq!(regrade["changed"].as_u64(), Some(changed as u64));
    // The same again asks nobody; the report can take these grades as its own.
    world.expect(0, &["regrade", "run", "--check", "check-two"]);
    assert_eq!(asked(&server), after);
    let report = world.expect(0, &["report", "run", "--grader", "check-two", "--json"]).json();
    assert_eq!(report["runs"][0]["grader"], "check-two");
    let wrong = world.expect(2, &["regrade", "run", "--check", "check-two", "--name", "standard"]);
    assert!(wrong.stderr.contains("hint:"), "{wrong}");
}

#[test]
fn a_baseline_puts_each_question_to_every_solver_once_and_derives_all_pairs() {
    let (server, world) = ran(&[20, 50, 80], 1);
    let before = asked(&server);
    let baseline = world.expect(0, &["baseline", "run", "--questions", "20", "--json"]).json();
    let after = asked(&server);
    let found = &baseline["runs"][0]["baseline"];
    assert_eq!(found["questions"], 20);
    let total: u64 =
        found["outcomes"].as_array().unwrap().iter().map(|o| o["sessions"].as_u64().unwrap()).sum();
    assert_eq!(total, 20 * 3, "20 questions, 3 pairs");
    let none = found["outcomes"][3]["sessions"].as_u64().unwrap() / 3;
    // Each model is probed once before.
    assert_eq!(after["asker"] - before["asker"], 20 + 1);
    for model in ["solver-20", "solver-50", "solver-80"] {
        assert_eq!(after[model] - before[model], 20 - none + 1);
    }
    assert_eq!(after["check"] - before["check"], 3 * (20 - none) + 1);
}

#[test]
fn difficulty_uses_the_sessions_that_are_there_and_compares_the_failures() {
    let (server, world) = ran(&[20, 30, 80, 90], 3);
    let more = format!(
        "\n[models.solver-60]\nprovider = \"openai\"\nurl = \"{}\"\nsampling = {{ seed = true }}\n",
        server.url()
    );
    world.write("aske.toml", &(world.read("aske.toml") + &more));
    let before = asked(&server);
    let arguments = [
        "difficulty",
        "--run",
        "run",
        "--easy",
        "solver-20:solver-30",
        "--hard",
        "solver-80:solver-90",
        "--solver",
        "solver-60",
        "--json",
    ];
    let found = world.expect(0, &arguments).json();
    let after = asked(&server);
    let targets = found[0]["targets"].as_array().unwrap();
    let questions: u64 = targets.iter().map(|target| target["failed"]["of"].as_u64().unwrap()).sum();
    assert_eq!(after["solver-60"], questions + 1, "and a probe");
    assert_eq!(after["asker"], before["asker"], "the sessions are there");
    assert_eq!(targets[0]["pair"], "solver-20:solver-30");
    let wrong = world.expect(2, &["difficulty", "--run", "run", "--easy", "solver-20:solver-30"]);
    assert!(wrong.stderr.contains("--hard C:D"), "{wrong}");
}

#[test]
fn an_adaptive_run_stops_when_its_interval_is_narrow_enough_and_goes_on_where_it_stopped() {
    let server = server(0);
    let world = World::with(&Config { samples: 400, ..Config::new(&server, &[5, 50, 95]) });
    let stopped = world.expect(0, &["bench", "--run", "run", "--until", "8", "--json"]).json();
    let (estimate, sessions) = (&stopped["estimate"], stopped["sessions"].as_u64().unwrap());
    assert_eq!(stopped["narrow_enough"], true);
    let interval = &estimate["rate"]["interval"];
    let width = interval["high"].as_f64().unwrap() - interval["low"].as_f64().unwrap();
    assert!(width <= 0.16 + 1e-9 && (7..1200).contains(&sessions), "{sessions} sessions, {estimate}");
    // Every choice is written down with its probability, and the report makes the same estimate of it.
    let draws = world.read("run/draws.jsonl");
    assert_eq!(draws.lines().count() as u64, sessions);
    let report = world.expect(0, &["report", "run", "--json"]).json();
    assert_eq!(&report["runs"][0]["sampling"], estimate);

    // The same run, stopped by its budget again and again, chooses the same sessions.
    let other = World::with(&Config { samples: 400, ..Config::new(&server, &[5, 50, 95]) });
    let mut budget = 4000;
    loop {
        let limit = budget.to_string();
        let arguments = ["bench", "--run", "run", "--until", "8", "--budget-tokens", &limit, "--json"];
        let part = other.run(&arguments);
        if part.code == Some(0) {
            assert_eq!(&part.json()["estimate"], estimate);
            break;
        }
        assert_eq!(part.code, Some(3), "{part}");
        budget += 9000;
    }
    assert_eq!(other.read("run/draws.jsonl"), draws);
    let refused =
        other.expect(2, &["bench", "--run", "run", "--until", "8", "--pairs", "solver-5:solver-50"]);
    assert!(refused.stderr.contains("drawn from other pairs"), "{refused}");
}

#[test]
fn a_failure_in_an_audit_is_not_scored_and_runs_again() {
    let (server, world) = ran(&[20, 80], 6);
    let down = TestServer::start(TestServerOptions {
        faults: 1.0,
        only_fault: Some(Fault::Status500),
        ..TestServerOptions::default()
    });
    let address = format!("models.solver-80.url={:?}", down.url());
    let limits = "models.solver-80.limits={ attempts = 1 }";
    let failed = world.expect(1, &["audit", "run", "-o", &address, "-o", limits]);
    assert!(failed.stderr.contains("hint:") && failed.stderr.contains("are left"), "{failed}");
    assert!(!world.read("run/records.jsonl").contains("\"audit\""));
    let stored = world.folder("run").stored();
    world.expect(0, &["audit", "run"]);
    assert!(world.read("run/records.jsonl").contains("\"audit\""));
    // What the other solver had answered is kept.
    assert!(world.folder("run").stored() > stored);
    assert_eq!(settled(&server).repeated_good, 0);
}

#[test]
fn exports_carry_every_session_in_both_formats() {
    let (_server, world) = ran(&[20, 50, 80], 4);
    let report = world.expect(0, &["report", "run", "--json"]).json();
    let calibrated = report["runs"][0]["outcomes"][0]["sessions"].as_u64().unwrap();
    let written = world.expect(0, &["export", "run", "--out", "all", "--format", "jsonl", "--json"]).json();
    let rows = |name: &str| {
        let found = written.as_array().unwrap().iter().find(|file| file["table"] == name);
        found.unwrap()["rows"].as_u64().unwrap()
    };
    assert_eq!((rows("sessions"), rows("grades")), (12, 12));
    assert_eq!(world.read("all/sessions.jsonl").lines().count(), 12);
    let exam = world.expect(0, &["export", "run", "--calibrated", "--out", "exam.jsonl", "--json"]).json();
    assert_eq!(exam[0]["rows"].as_u64(), Some(calibrated));
    for line in world.read("exam.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["outcome"], "calibrated");
        assert_ne!(line["smaller_right"], line["larger_right"]);
        assert!(line["difficulty_low"].as_f64() < line["difficulty"].as_f64());
        assert!(line["question"].is_string() && line["answer"].is_string());
    }
    world.expect(0, &["export", "run", "--out", "exam.parquet"]);
    let parquet = std::fs::read(world.path("exam.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let wrong = world.expect(2, &["export", "run", "--out", "exam.xlsx"]);
    assert!(wrong.stderr.contains(".parquet or .jsonl"), "{wrong}");
    world.expect(2, &["export", "run", "--difficulty", "high", "--out", "x.jsonl"]);
}

#[test]
fn a_report_needs_a_run_and_says_so() {
    let world = World::new();
    let none = world.expect(2, &["report"]);
    assert!(none.stderr.contains("aske bench"), "{none}");
    let wrong = world.expect(2, &["report", "nowhere"]);
    assert!(wrong.stderr.contains("does not exist"), "{wrong}");
    world.expect(2, &["audit", "nowhere"]);
    world.expect(2, &["bench", "--until", "0"]);
    world.expect(2, &["bench", "--until", "2", "--dry-run"]);
}
