//! Lost records and grades: told by the report, made again from stored replies by `aske bench` and by `aske repair`,
//! without a single request.

mod common;

use common::{Config, World, finish, server, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const KEY: &str = "REPAIR_TEST_KEY";

/// A finished run whose models need a key.
struct Finished {
    world: World,
    server: aske_testkit::TestServer,
    records: BTreeMap<String, Value>,
    grades: BTreeMap<String, Value>,
    report: Value,
}

fn finished(config: impl FnOnce(&aske_testkit::TestServer) -> Config) -> Finished {
    let server = server(0);
    let mut config = config(&server);
    config.keys = format!("api_key_env = \"{KEY}\"");
    let world = World::with(&config);
    let mut bench = world.command(&["bench", "--run", "run"]);
    finish(common::start(bench.env(KEY, "secret"))).ended(0);
    let folder = world.folder("run");
    let (records, grades) = (folder.records(), folder.grades());
    assert_eq!((records.len(), grades.len()), (config.sessions(), config.sessions()));
    let report = world.expect(0, &["report", "run", "--json"]).json();
    Finished { world, server, records, grades, report }
}

fn usual() -> Finished {
    finished(|server| Config { samples: 4, ..Config::new(server, &[20, 40, 60, 80]) })
}

impl Finished {
    /// Keeps every line of a file that this says yes to.
    fn keep(&self, file: &str, keep: impl Fn(usize) -> bool) {
        let text = self.world.read(file);
        let kept = text.split_inclusive('\n').enumerate().filter(|(at, _)| keep(*at));
        self.world.write(file, &kept.map(|(_, line)| line).collect::<String>());
    }

    /// The folder is again what it was, and the report too.
    fn is_whole(&self) {
        let folder = self.world.folder("run");
        assert_eq!(folder.records(), self.records);
        assert_eq!(folder.grades(), self.grades);
        let report = self.world.expect(0, &["report", "run", "--json"]).json();
        for key in ["sessions", "ungraded", "outcomes", "used", "held"] {
            assert_eq!(report["runs"][0][key], self.report["runs"][0][key], "{key}");
        }
    }
}

const RECORDS: &str = "run/records.jsonl";
const GRADES: &str = "run/grades/standard.jsonl";

#[test]
fn running_again_rebuilds_lost_records_without_a_request() {
    let run = usual();
    run.keep(RECORDS, |at| at % 3 == 0);
    let requests = run.server.stats().requests;
    let mut bench = run.world.command(&["bench", "--run", "run", "--json"]);
    let ran = finish(common::start(bench.env(KEY, "secret"))).ended(0);
    assert!(ran.stderr.contains("24 sessions, 16 still to run"), "{ran}");
    assert_eq!(ran.json()["sessions"], json!(24), "{ran}");
    assert_eq!(run.server.stats().requests, requests, "every reply is stored");
    run.is_whole();
}

#[test]
fn a_dry_run_counts_a_session_without_its_record_as_open() {
    let run = usual();
    run.keep(RECORDS, |at| at < 20);
    let dry = run.world.expect(0, &["bench", "--run", "run", "--dry-run", "--json"]).json();
    assert_eq!((&dry["finished"], dry["sessions"].as_array().unwrap().len()), (&json!(20), 4));
}

#[test]
fn a_report_says_what_is_missing() {
    let run = usual();
    assert_eq!(
        run.report["runs"][0]["held"],
        json!({"planned": 24, "records": 24, "graded": 24, "lost": 0, "begun": 0})
    );
    run.keep(RECORDS, |at| at < 9);
    run.keep(GRADES, |at| at != 3 && at != 20);
    let ran = run.world.expect(0, &["report", "run"]);
    assert!(ran.stderr.contains("sessions: 24 planned, 9 with a record, 8 of them graded"), "{ran}");
    assert!(ran.stderr.contains("14 more are graded, but their records are missing"), "{ran}");
    assert!(ran.stderr.contains("1 more has stored replies but neither a record nor a grade"), "{ran}");
    assert!(ran.stderr.contains("hint: `aske repair run` rebuilds records"), "{ran}");
    let held = &run.world.expect(0, &["report", "run", "--json"]).json()["runs"][0]["held"];
    assert_eq!(held, &json!({"planned": 24, "records": 9, "graded": 8, "lost": 14, "begun": 1}));
    run.world.expect(0, &["report", "run", "--html", "page.html"]);
    let page = run.world.read("page.html");
    assert!(page.contains("14 more sessions with a grade and no record"), "the page tells it too");
}

#[test]
fn repair_rebuilds_everything_offline_and_keeps_damaged_lines() {
    let run = usual();
    let Finished { world, .. } = &run;
    // Lost, damaged, torn and doubled lines at once.
    let lines: Vec<String> = world.read(RECORDS).lines().map(str::to_owned).collect();
    let broken = &lines[5][..lines[5].len() / 2];
    let torn = &lines[7][..100];
    let text = [&lines[..3], &[broken.to_owned()], &lines[8..12], &lines[9..10]].concat().join("\n");
    world.write(RECORDS, &format!("{text}\n{torn}"));
    let grades = world.read(GRADES);
    let kept: String =
        grades.split_inclusive('\n').enumerate().filter(|(at, _)| at % 4 > 0).map(|(_, l)| l).collect();
    std::fs::write(world.path(GRADES), [kept.as_bytes(), b"\xff\xfe not a grade\n"].concat()).unwrap();
    let requests = run.server.stats().requests;

    // The key is not set, and nothing is asked.
    let ran = world.expect(0, &["repair", "run", "--json"]).json();
    let repaired = &ran["runs"][0];
    assert_eq!(repaired["sessions"], json!(24));
    assert_eq!(repaired["records_rebuilt"], json!(24 - 7));
    assert_eq!(repaired["grades_rebuilt"], json!(6));
    assert_eq!(repaired["open"], json!([]));
    assert_eq!(repaired["damaged"].as_array().unwrap().len(), 2);
    assert_eq!(run.server.stats().requests, requests);
    let aside = world.read("run/damaged/records.jsonl");
    assert_eq!(aside, format!("{broken}\n{torn}\n"), "byte for byte");
    let aside = std::fs::read(world.path("run/damaged/grades/standard.jsonl")).unwrap();
    assert_eq!(aside, b"\xff\xfe not a grade\n");
    // The line that stood twice still does; readers take the later one.
    let text = world.read(RECORDS);
    let mut seen = std::collections::HashSet::new();
    let once: String = text.split_inclusive('\n').filter(|line| seen.insert(*line)).collect();
    assert_eq!(text.len() - once.len(), lines[9].len() + 1);
    world.write(RECORDS, &once);
    run.is_whole();

    let again = world.expect(0, &["repair", "run"]);
    assert_eq!(again.stdout, "run: 24 sessions, 0 records and 0 grades rebuilt, 0 still open\n");
}

#[test]
fn a_folder_without_records_is_rebuilt_whole() {
    let run = usual();
    std::fs::remove_file(run.world.path(RECORDS)).unwrap();
    std::fs::remove_dir_all(run.world.path("run/grades")).unwrap();
    let ran = run.world.expect(0, &["repair", "run"]);
    assert_eq!(ran.stdout, "run: 24 sessions, 24 records and 24 grades rebuilt, 0 still open\n");
    run.is_whole();
}

#[test]
fn without_stored_replies_lost_sessions_stay_open_and_the_rest_is_kept() {
    let run = usual();
    run.keep(RECORDS, |at| at >= 2);
    let kept = run.world.read(RECORDS);
    std::fs::remove_file(run.world.path("run/calls.sqlite")).unwrap();
    let ran = run.world.expect(1, &["repair", "run"]);
    assert!(
        ran.stdout.starts_with("run: 24 sessions, 0 records and 0 grades rebuilt, 2 still open\n"),
        "{ran}"
    );
    assert!(ran.stderr.contains("calls.sqlite is missing"), "{ran}");
    assert!(ran.stderr.contains("hint: `aske bench`"), "{ran}");
    assert_eq!(run.world.read(RECORDS), kept);
    assert!(!run.world.path("run/calls.sqlite").exists(), "an empty one would hide that it is missing");
}

#[test]
fn a_session_with_replies_missing_stays_open_and_is_asked_for_by_bench_alone() {
    let run = usual();
    let lost = run.records.keys().next().unwrap().clone();
    let calls = rusqlite::Connection::open(run.world.path("run/calls.sqlite")).unwrap();
    let number = "(SELECT number FROM records WHERE record = ?)";
    calls.execute(&format!("DELETE FROM calls WHERE role = 'check' AND number = {number}"), [&lost]).unwrap();
    drop(calls);
    std::fs::remove_file(run.world.path(RECORDS)).unwrap();
    let requests = run.server.stats().requests;
    let ran = run.world.expect(1, &["repair", "run", "--json"]).json();
    assert_eq!(ran["runs"][0]["records_rebuilt"], json!(23));
    assert_eq!(ran["runs"][0]["open"][0]["session"], json!(lost));
    assert_eq!(run.server.stats().requests, requests);
    let mut bench = run.world.command(&["bench", "--run", "run"]);
    finish(common::start(bench.env(KEY, "secret"))).ended(0);
    // The session's models are probed first: the asker, two solvers and the cross-check solver.
    assert_eq!(run.server.stats().requests, requests + 4 + 3, "three cross-check answers");
    assert_eq!(run.world.folder("run").records(), run.records);
}

#[cfg(unix)]
#[test]
fn a_repair_that_is_killed_again_and_again_loses_nothing() {
    use std::os::unix::process::ExitStatusExt;
    let run = finished(|server| Config { samples: 40, rounds: 2, ..Config::new(server, &[20, 50, 80]) });
    let lines: Vec<String> = run.world.read(RECORDS).lines().map(str::to_owned).collect();
    let broken = "{\"kind\":\"session\",";
    let mut killed = 0;
    for kill in 0..12_u64 {
        run.world.write(RECORDS, &format!("{}\n{broken}\n{}\n", lines[0], lines[1]));
        let child = run.world.start(&["repair", "run"]);
        // Some die before the first rebuilt line, some after.
        if kill % 2 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(2 * kill));
        } else {
            let begun = std::time::Instant::now();
            wait_until("a record is rebuilt", || {
                run.world.read(RECORDS).lines().count() > usize::try_from(2 + 4 * kill).unwrap()
                    || begun.elapsed().as_secs() > 20
            });
        }
        let mut child = child;
        let _ = child.kill();
        killed += u32::from(child.wait().unwrap().signal() == Some(9));
        let text = std::fs::read_to_string(run.world.path(RECORDS)).unwrap();
        assert!(text.contains(&lines[0]) && text.contains(&lines[1]), "kill {kill}: what was there stays");
        let aside = std::fs::read_to_string(run.world.path("run/damaged/records.jsonl")).unwrap_or_default();
        assert!(
            text.contains(broken) || aside.contains(broken),
            "kill {kill}: the damaged line is somewhere"
        );
    }
    assert!(killed >= 4, "only {killed} of 12 were killed in the middle, so this showed little");
    run.world.expect(0, &["repair", "run"]);
    run.is_whole();
    let aside = run.world.read("run/damaged/records.jsonl");
    assert_eq!(aside.lines().filter(|line| *line == broken).count(), 1, "kept once");
}

#[test]
fn sessions_of_ask_are_rebuilt_with_their_solvers_in_the_order_they_were_asked_in() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[20, 80]));
    world.expect(0, &["ask", "solver-80", "solver-20", "--run", "run"]);
    world.expect(0, &["ask", "solver-20", "solver-80", "--run", "run"]);
    let records = world.folder("run").records();
    assert_eq!(records.len(), 2);
    std::fs::remove_file(world.path(RECORDS)).unwrap();
    world.expect(0, &["repair", "run"]);
    assert_eq!(world.folder("run").records(), records);
}

#[test]
fn an_evaluation_is_cleaned_and_told_how_to_go_on() {
    let world = World::new();
    world.expect(
        0,
        &["eval", "nano-15k", "--data", "ladder", "--limit", "4", "--samples", "1", "--run", "run"],
    );
    let text = world.read(RECORDS);
    let lines: Vec<&str> = text.lines().collect();
    world.write(RECORDS, &format!("{}\nnot a record\n{}\n", lines[0], lines[1]));
    let ran = world.expect(1, &["repair", "run"]);
    assert!(ran.stderr.contains("2 samples have stored replies but no record"), "{ran}");
    assert!(ran.stderr.contains("hint: run the same `aske eval` again"), "{ran}");
    assert_eq!(world.read("run/damaged/records.jsonl"), "not a record\n");
    world.expect(
        0,
        &["eval", "nano-15k", "--data", "ladder", "--limit", "4", "--samples", "1", "--run", "run"],
    );
    let mut after: Vec<String> = world.read(RECORDS).lines().map(str::to_owned).collect();
    let mut before: Vec<String> = lines.iter().map(ToString::to_string).collect();
    after.sort();
    before.sort();
    assert_eq!(after, before);
}

#[test]
fn what_is_not_a_run_is_refused() {
    let world = World::new();
    std::fs::create_dir(world.path("empty")).unwrap();
    let ran = world.expect(2, &["repair", "empty"]);
    assert_eq!(ran.stderr, "error: empty holds no run\nhint: name a folder that `aske bench` has written\n");
    assert!(world.expect(0, &["repair", "--help"]).stdout.contains("aske repair runs/mine"));
}

#[test]
fn sessions_of_a_training_are_rebuilt_seed_by_seed() {
    let world = World::new();
    let keys =
        ["train.groups=2", "train.group_size=3", "train.watch.max_questions=3", "train.warmup_steps=1"];
    let mut arguments = vec![
        "train",
        "--solvers",
        "nano-15k,nano-40k,nano-100k",
        "--no-measure",
        "--steps",
        "1",
        "--run",
        "run",
    ];
    for key in keys {
        arguments.extend(["-o", key]);
    }
    world.expect(0, &arguments);
    let folder = world.folder("run/seed-0");
    let (records, grades) = (folder.records(), folder.grades());
    assert!(!records.is_empty());
    std::fs::remove_file(world.path("run/seed-0/records.jsonl")).unwrap();
    let ran = world.expect(0, &["repair", "run"]);
    assert!(
        ran.stdout.starts_with(&format!("run/seed-0: {0} sessions, {0} records", records.len())),
        "{ran}"
    );
    assert_eq!(folder.records(), records);
    assert_eq!(folder.grades(), grades);
}
