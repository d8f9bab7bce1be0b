//! Runs: growing, sharing out, stopping and going on, replicas.

mod common;

use aske_testkit::{Fault, TestServer, TestServerOptions};
use common::{Config, World, finish, server, settled, signal, wait_until};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn a_grown_run_asks_only_what_is_new_and_equals_one_made_at_once() {
    let whole_server = server(0);
    let whole_config = Config::new(&whole_server, &[20, 50, 80, 95]);
    let whole = World::with(&whole_config);
    whole.expect(0, &["bench", "--run", "run"]);

    let server = server(0);
    let config = Config { samples: 1, ..Config::new(&server, &[20, 50, 80]) };
    let world = World::with(&config);
    let folder = world.folder("run");
    let (mut asked, mut probes, mut known) = (0, 0, BTreeMap::new());
    let more_samples = ["bench", "--run", "run", "--samples", "2"];
    let more_solvers =
        ["bench", "--run", "run", "--samples", "2", "--solvers", "solver-20,solver-95,solver-50,solver-80"];
    // Each start probes the asker, the cross-check solver and the solvers of the new sessions.
    for (arguments, sessions, models, open) in [
        (&more_samples[..3], 3, 5, ""),
        (&more_samples, 6, 5, "3 still to run"),
        (&more_solvers, 12, 6, "6 still to run"),
    ] {
        if sessions == 12 {
            world.write("aske.toml", &Config { samples: 1, ..whole_config.clone() }.text());
            let address = format!("{:?}", vec![server.url()]);
            let text = world.read("aske.toml").replace(&format!("{:?}", vec![whole_server.url()]), &address);
            world.write("aske.toml", &text);
        }
        let ran = world.expect(0, arguments);
        assert!(ran.stderr.contains(open), "{ran}");
        let (records, replies) = (folder.records(), folder.replies());
        assert_eq!((records.len(), folder.grades().len()), (sessions, sessions));
        let new: Vec<_> = replies.keys().filter(|(record, ..)| !known.contains_key(record)).collect();
        let requests = server.stats().requests;
        assert_eq!(folder.probes() - probes, models, "{ran}");
        assert_eq!(requests - asked, new.len() as u64 + models, "one request for each call of a new session");
        probes += models;
        for (name, record) in &known {
            assert_eq!(records.get(name), Some(record));
        }
        (asked, known) = (requests, records);
    }
    assert_eq!(server.stats().repeated_good, 0);
    assert_eq!(folder.grades(), whole.folder("run").grades());
    assert_eq!(folder.records(), whole.folder("run").records());
}

#[test]
fn without_another_configuration_a_run_continues_as_it_was_configured() {
    let server = server(0);
    let world = World::with(&Config { samples: 1, ..Config::new(&server, &[20, 50, 80]) });
    world.expect(0, &["bench", "--run", "run"]);
    std::fs::remove_file(world.path("aske.toml")).unwrap();
    let asked = server.stats().requests;
    let ran = world.expect(0, &["bench", "--run", "run"]);
    assert!(ran.stderr.contains("asker asks 3 solvers: 3 sessions"), "{ran}");
    assert_eq!(server.stats().requests, asked, "nothing was left to ask");
    world.expect(0, &["bench", "--run", "run", "--samples", "2"]);
    assert_eq!(world.folder("run").records().len(), 6);
    let ran = world.expect(2, &["bench", "--run", "run", "--asker", "fixed"]);
    assert!(ran.stderr.contains("asker.model: asker in the folder, fixed now"), "{ran}");
}

#[test]
fn a_new_experiment_passes_over_what_is_in_the_way() {
    let world = World::new();
    world.expect(0, &["bench", "--asker", "fixed", "--limit", "1"]);
    world.write("runs/nano-fixed-2", "not a folder");
    let ran = world.expect(0, &["bench", "--asker", "fixed", "--limit", "1", "--rounds", "2"]);
    assert!(ran.stderr.contains("so this run goes into runs/nano-fixed-3"), "{ran}");
}

#[test]
fn shards_merge_into_the_run_they_are_parts_of() {
    let server = server(0);
    let config = Config::new(&server, &[20, 40, 60, 80]);
    let world = World::with(&config);
    let one = world.expect(0, &["bench", "--run", "one", "--json"]).json();
    let mut ran = 0;
    for (run, shard) in [("a", "1/3"), ("b", "2/3"), ("c", "3/3")] {
        let part = world.expect(0, &["bench", "--run", run, "--shard", shard, "--json"]).json();
        let sessions = part["sessions"].as_u64().unwrap();
        assert!(sessions > 0, "{shard} has its part");
        ran += sessions;
    }
    assert_eq!(ran, config.sessions() as u64, "every session in one part");
    let whole = world.folder("one");
    let merged = world.expect(0, &["merge", "merged", "a", "b", "c", "--json"]).json();
    let folder = world.folder("merged");
    assert_eq!(merged, json!({"run": "merged", "records": config.sessions(), "calls": folder.stored()}));
    let parts: u64 = ["a", "b", "c"].iter().map(|part| world.folder(part).probes()).sum();
    assert_eq!(folder.probes(), parts, "what each part has paid for counts");
    assert_eq!(folder.records(), whole.records());
    assert_eq!(folder.grades(), whole.grades());
    assert_eq!(folder.replies(), whole.replies());

    let requests = server.stats().requests;
    let mut again = world.expect(0, &["bench", "--run", "merged", "--json"]).json();
    assert_eq!(server.stats().requests, requests, "nothing is left to ask");
    again["run"] = json!("one");
    // Each part was probed, and so was the whole.
    again["used"]["probe"] = one["used"]["probe"].clone();
    assert_eq!(again, one);
}

#[test]
fn merged_parts_of_sessions_are_replayed() {
    let server = server(0);
    let config = Config::new(&server, &[20, 50, 80]);
    let world = World::with(&config);
    for (run, shard) in [("a", "1/2"), ("b", "2/2")] {
        let budget =
            ["bench", "--run", run, "--shard", shard, "--concurrency", "1", "--budget-tokens", "3000"];
        world.expect(3, &budget);
    }
    let (a, b) = (world.folder("a"), world.folder("b"));
    assert!(a.records().len() + b.records().len() < config.sessions());
    world.expect(0, &["merge", "merged", "a", "b"]);
    assert_eq!(world.folder("merged").stored(), a.stored() + b.stored());
    world.expect(0, &["bench", "--run", "merged"]);
    assert_eq!(world.folder("merged").grades().len(), config.sessions());
    assert_eq!(settled(&server).repeated_good, 0);
}

#[test]
fn a_merge_refuses_what_does_not_belong_together() {
    let server = server(0);
    let world = World::with(&Config { samples: 1, ..Config::new(&server, &[30, 60]) });
    world.expect(0, &["bench", "--run", "a"]);
    world.expect(0, &["bench", "--run", "b", "--rounds", "0"]);
    let ran = world.expect(2, &["merge", "both", "a", "b"]);
    assert!(
        ran.stderr.starts_with("error: a and b are different experiments:\n  rounds: 1 in a, 0 in b\n"),
        "{ran}"
    );
    assert!(ran.stderr.contains("\nhint: "), "{ran}");
    assert!(!world.path("both").exists() && !world.path("both.part").exists());

    let ran = world.expect(2, &["merge", "b", "a"]);
    assert_eq!(ran.stderr, "error: b exists already\nhint: name a new folder\n");
    let ran = world.expect(2, &["merge", "both", "a", "nothing"]);
    assert_eq!(
        ran.stderr,
        "error: nothing does not exist\nhint: name a run folder; `ls runs` shows those of this folder\n"
    );
    assert!(!world.path("both").exists());
}

#[test]
fn a_budget_of_tokens_stops_the_run_and_a_later_one_finishes_it() {
    let server = server(0);
    let config = Config { concurrency: 2, ..Config::new(&server, &[30, 60, 90]) };
    let world = World::with(&config);
    let folder = world.folder("run");
    let ran = world.expect(3, &["bench", "--run", "run", "--budget-tokens", "4000", "--json"]).json();
    assert_eq!(ran["budget_reached"], "the budget of 4000 tokens is used");
    let open = ran["open"].as_u64().unwrap();
    assert!(open > 0);
    assert_eq!(ran["sessions"].as_u64().unwrap() + open, config.sessions() as u64);
    let used: u64 = ran["used"]
        .as_object()
        .unwrap()
        .values()
        .map(|used| used["prompt"].as_u64().unwrap() + used["completion"].as_u64().unwrap())
        .sum();
    assert!(used >= 4000, "{used}");
    assert_eq!(folder.stored(), settled(&server).good, "what was paid for is stored");

    // The budget counts what the folder has used before, so nothing more is asked.
    let before = server.stats().requests;
    let ran = world.expect(3, &["bench", "--run", "run", "--budget-tokens", "4000"]);
    let said = format!("the budget of 4000 tokens is used; {open} sessions are left\n");
    assert!(ran.stderr.contains(&said), "{ran}");
    assert!(ran.stderr.contains("hint: run the same command again to continue"), "{ran}");
    assert_eq!(server.stats().requests, before);

    world.expect(0, &["bench", "--run", "run"]);
    assert_eq!(folder.grades().len(), config.sessions());
    assert_eq!(server.stats().repeated_good, 0);
    world.expect(0, &["bench", "--run", "run", "--budget-tokens", "4000"]);
}

#[test]
fn a_budget_of_money_counts_by_the_price() {
    let server = server(0);
    let keys = "price = { input = 100.0, output = 100.0 }".to_owned();
    let world = World::with(&Config { keys, concurrency: 1, ..Config::new(&server, &[30, 60]) });
    // 100 dollars a million: 20 cents are 2000 tokens.
    let ran = world.expect(3, &["bench", "--run", "run", "--budget-usd", "0.2", "--json"]).json();
    assert_eq!(ran["budget_reached"], "the budget of $0.2 is spent");
    let roles = ran["used"].as_object().unwrap();
    let sum = |pick: fn(&Value) -> f64| roles.values().map(pick).sum::<f64>();
    let usd = sum(|role| role["usd"].as_f64().unwrap());
    let tokens = sum(|role| role["prompt"].as_f64().unwrap() + role["completion"].as_f64().unwrap());
    assert!(usd >= 0.2, "{usd}");
    assert!((usd - tokens * 1e-4).abs() < 1e-9, "{usd} for {tokens}");
}

#[test]
fn a_budget_of_time_stops_the_run_and_a_later_one_finishes_it() {
    let server = server(40);
    let config = Config { concurrency: 2, ..Config::new(&server, &[30, 60, 90]) };
    let world = World::with(&config);
    let ran = world.expect(3, &["bench", "--run", "run", "--budget-minutes", "0.001"]);
    assert!(ran.stderr.contains("the 0.001 minutes are over; 6 sessions are left\n"), "{ran}");
    assert_eq!(world.folder("run").stored(), settled(&server).good);
    world.expect(0, &["bench", "--run", "run"]);
    assert_eq!(world.folder("run").grades().len(), config.sessions());
    assert_eq!(settled(&server).repeated_good, 0);
}

#[test]
fn a_budget_of_time_without_end_is_no_limit() {
    let world = World::new();
    for minutes in ["1e300", "inf"] {
        world.expect(0, &["bench", "--run", minutes, "--samples", "1", "--budget-minutes", minutes]);
    }
}

#[test]
fn calls_in_flight_stay_within_the_limits() {
    for (limits, sessions, most) in [("", 1, 5), ("concurrency = 1", 1, 3), ("concurrency = 2", 16, 10)] {
        let server = server(10);
        let limits = limits.to_owned();
        let config = Config { limits, concurrency: sessions, ..Config::new(&server, &[20, 50, 80]) };
        // Probes are calls of their own, one of each model at once.
        World::with(&config).expect(0, &["bench", "--no-probe"]);
        // One session at once has two solvers and three cross-checks under way, each of the three models at
        // most as many as its limit; many sessions have all five models.
        let seen = server.stats().in_flight_max;
        assert!((2..=most).contains(&seen), "{seen} of at most {most}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_stores_what_is_in_flight_and_goes_on() {
    let server = server(150);
    let config = Config { concurrency: 4, ..Config::new(&server, &[30, 50, 70, 90]) };
    let world = World::with(&config);
    let folder = world.folder("run");
    for name in ["INT", "TERM"] {
        let before = server.stats().requests;
        let child = world.start(&["bench", "--run", "run"]);
        wait_until("calls are in flight", || {
            let stats = server.stats();
            // Six models are probed first.
            stats.requests > before + 6 + 4 && stats.in_flight >= 3
        });
        assert!(signal(name, child.id()));
        let ran = finish(child).ended(130);
        assert!(ran.stderr.contains("stopping: calls in flight may end, and are stored"), "{ran}");
        assert!(ran.stderr.contains("hint: run the same command again to continue"), "{ran}");
        assert!(ran.stderr.contains("`aske bench --run run`"), "{ran}");
        let stats = server.stats();
        assert_eq!((stats.in_flight, stats.lost), (0, 0), "no call was left behind");
        assert_eq!(folder.stored(), stats.good);
        assert!(folder.grades().len() < config.sessions());
    }
    world.expect(0, &["bench", "--run", "run"]);
    assert_eq!(folder.grades().len(), config.sessions());
    let stats = settled(&server);
    assert_eq!((stats.repeated_good, stats.good), (0, folder.stored()));
}

#[cfg(unix)]
#[test]
fn a_second_interrupt_leaves_at_once() {
    let server = server(60_000);
    let world = World::with(&Config::new(&server, &[30, 60]));
    let child = world.start(&["bench", "--run", "run", "--no-probe"]);
    wait_until("calls are in flight", || server.stats().in_flight > 0);
    // Two signals that arrive together are one, so they are sent until it has left.
    let id = child.id();
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(finish(child)));
    let ran = loop {
        signal("INT", id);
        if let Ok(ran) = ended.recv_timeout(std::time::Duration::from_millis(200)) {
            break ran;
        }
    };
    assert_eq!(ran.code, Some(130), "{ran}");
}

#[test]
fn a_dry_run_asks_nothing_and_leaves_nothing() {
    let server = server(0);
    let config = Config { rounds: 4, samples: 3, ..Config::new(&server, &[30, 60, 90]) };
    let world = World::with(&config);
    let ran = world.expect(0, &["bench", "--dry-run"]);
    // A session asks 5 times, each solver answers 5 times, and there are 3 cross-checks: 18 calls.
    assert!(ran.stdout.starts_with("9 sessions, 162 calls, into runs/aske-asker\n"), "{ran}");
    let json = world.expect(0, &["bench", "--dry-run", "--json"]).json();
    assert_eq!((&json["run"], &json["estimate"]["sessions"]), (&json!("runs/aske-asker"), &json!(9)));
    let calls: Vec<_> = json["estimate"]["roles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|role| (role["role"].as_str().unwrap(), role["model"].as_str().unwrap(), role["calls"].as_u64()))
        .collect();
    assert_eq!(
        calls,
        [
            ("asker", "asker", Some(45)),
            ("solver", "solver-30", Some(30)),
            ("solver", "solver-60", Some(30)),
            ("solver", "solver-90", Some(30)),
            ("check", "check", Some(27)),
        ]
    );
    let sessions: BTreeSet<_> = json["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["session"].as_str().unwrap())
        .collect();
    assert_eq!(sessions.len(), 9);
    assert!(sessions.contains("solver-30:solver-90/2"), "{sessions:?}");
    assert_eq!(server.stats().requests, 0);
    assert!(!world.path("runs").exists());
}

#[test]
fn a_part_of_the_plan_can_be_chosen() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[30, 60, 90]));
    world.expect(0, &["bench", "--run", "run", "--limit", "2"]);
    let folder = world.folder("run");
    let first: Vec<String> = folder.grades().into_keys().collect();
    assert_eq!(first.len(), 2);
    assert!(
        first.iter().all(|name| name.ends_with("/0")),
        "every pair once before any pair twice: {first:?}"
    );

    world.expect(0, &["bench", "--run", "pair", "--pairs", "solver-90:solver-30"]);
    let names: Vec<String> = world.folder("pair").grades().into_keys().collect();
    assert_eq!(names, ["solver-30:solver-90/0", "solver-30:solver-90/1"]);
    world.expect(0, &["bench", "--run", "one", "--pairs", "solver-60", "--samples", "1"]);
    let names: Vec<String> = world.folder("one").grades().into_keys().collect();
    assert_eq!(names, ["solver-30:solver-60/0", "solver-60:solver-90/0"]);
}

#[test]
fn the_result_as_json_has_its_fields_and_agrees_with_the_folder() {
    let server = server(0);
    let config = Config { samples: 4, ..Config::new(&server, &[10, 50, 90]) };
    let world = World::with(&config);
    let ran = world.expect(0, &["bench", "--run", "run", "--json"]);
    assert_eq!(ran.stdout.lines().count(), 1, "{ran}");
    let json = ran.json();
    let fields: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        fields,
        [
            "run",
            "asker",
            "sessions",
            "open",
            "outcomes",
            "caveats",
            "promoted",
            "folded",
            "undecided",
            "used",
            "failures",
            "budget_reached"
        ]
    );
    assert_eq!((&json["run"], &json["asker"]), (&json!("run"), &json!("asker")));
    assert_eq!((&json["sessions"], &json["open"]), (&json!(12), &json!(0)));
    assert_eq!((&json["failures"], &json["budget_reached"]), (&json!([]), &Value::Null));

    let folder = world.folder("run");
    let mut counted: BTreeMap<String, u64> = BTreeMap::new();
    for grade in folder.grades().values() {
        *counted.entry(grade["outcome"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    for share in json["outcomes"].as_array().unwrap() {
        let sessions = counted.get(share["outcome"].as_str().unwrap()).copied().unwrap_or(0);
        assert_eq!(share["sessions"], sessions);
        assert!((share["rate"].as_f64().unwrap() - sessions as f64 / 12.0).abs() < 1e-12, "{share}");
        assert_eq!(share["of"], 12);
        for interval in ["across_samples", "over_pairs", "these_pairs"] {
            let (low, high) = (&share[interval]["low"], &share[interval]["high"]);
            assert!(low.as_f64().unwrap() <= high.as_f64().unwrap(), "{share}");
        }
    }
    let shown: u64 =
        json["outcomes"].as_array().unwrap().iter().map(|share| share["sessions"].as_u64().unwrap()).sum();
    assert_eq!(shown, 12, "every outcome is shown: {counted:?}");
    let replies = folder.replies();
    for role in ["asker", "one", "two", "check"] {
        let calls = replies.keys().filter(|(_, _, stored, _)| stored == role).count();
        assert_eq!(json["used"][role]["calls"], calls, "{role}");
    }
}

/// The references and candidates that a session puts to the checker when every verdict is "no": first the
/// cross-check answers among themselves, the earlier as the reference; then, if these agree, the solvers' answers.
#[expect(clippy::unwrap_used, reason = "a record without its parts has failed the test")]
fn questioned(record: &Value) -> BTreeSet<[String; 2]> {
    let last = record["turns"].as_array().unwrap().last().unwrap();
    if last["question"].is_null() {
        return BTreeSet::new();
    }
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let check: Vec<String> = record["check"].as_array().unwrap().iter().map(text).collect();
    let pair = |a: &String, b: &String| (a != b).then(|| [a.clone(), b.clone()]);
    let later = |i: usize| check[i + 1..].iter();
    let among: BTreeSet<_> =
        check.iter().enumerate().flat_map(|(i, a)| later(i).filter_map(move |b| pair(a, b))).collect();
    if !among.is_empty() {
        return among;
    }
    let solvers = last["solved"].as_array().unwrap().iter().map(|solved| text(&solved["answer"]));
    solvers.filter_map(|answer| pair(&check[0], &answer)).collect()
}

#[test]
fn the_equivalence_checker_is_asked_once_for_each_pair_of_answers() {
    let server = server(0);
    let plain = Config { rounds: 0, samples: 20, ..Config::new(&server, &[10, 20, 30]) };
    let unchecked = World::with(&plain);
    unchecked.expect(0, &["bench", "--run", "run"]);

    let world = World::with(&Config { equivalence: Some("equiv".to_owned()), ..plain });
    let folder = world.folder("run");
    for samples in ["10", "20"] {
        world.expect(0, &["bench", "--run", "run", "--samples", samples]);
    }
    let pairs: Vec<_> = folder.records().values().flat_map(questioned).collect();
    let distinct: BTreeSet<_> = pairs.iter().collect();
    assert!(distinct.len() < pairs.len(), "no pair came twice, so this showed nothing");
    let verdicts = folder.replies().into_iter().filter(|((_, _, role, _), _)| role == "equivalence");
    let verdicts: Vec<_> = verdicts.map(|((record, ..), said)| (record, said)).collect();
    assert_eq!(verdicts.len(), distinct.len());
    assert!(verdicts.iter().all(|(record, said)| record.starts_with("equivalence/") && said == "no"));
    assert_eq!(server.stats().per_model["equiv"], distinct.len() as u64 + 2, "and probed at both starts");
    let mut grades = folder.grades();
    for grade in grades.values_mut().filter_map(Value::as_object_mut) {
        assert_eq!(grade.remove("checker"), Some("roles".into()), "{grade:?}");
    }
    assert_eq!(grades, unchecked.folder("run").grades(), "\"no\" changes nothing");
}

#[test]
fn a_verdict_that_cannot_be_read_is_a_failure_and_no_grade() {
    let server = server(0);
    // The cross-check model ends its replies with neither yes nor no.
    let equivalence = Some("check".to_owned());
    let config = Config { rounds: 0, samples: 20, equivalence, ..Config::new(&server, &[10, 20, 30]) };
    let world = World::with(&config);
    let ran = world.run(&["bench", "--run", "run"]);
    assert!(
        ran.stderr
            .contains("model `check`: malformed reply: an equivalence verdict that is neither yes nor no"),
        "{ran}"
    );
    let ran = ran.ended(1);
    let folder = world.folder("run");
    assert_eq!(folder.records().len(), config.sessions(), "the sessions themselves are finished: {ran}");
    let questioned: BTreeSet<_> = folder
        .records()
        .into_iter()
        .filter(|(_, record)| !questioned(record).is_empty())
        .map(|(name, _)| name)
        .collect();
    assert!(questioned.len() > 10);
    let grades = folder.grades();
    assert!(grades.keys().all(|name| !questioned.contains(name)));
    assert_eq!(grades.len() + questioned.len(), config.sessions());
}

#[test]
fn replicas_share_the_calls() {
    let (one, two) = (server(5), server(5));
    let mut config = Config::new(&one, &[20, 50, 80]);
    config.urls.push(two.url());
    let world = World::with(&config);
    world.expect(0, &["bench", "--run", "run"]);
    let (one, two) = (settled(&one), settled(&two));
    assert!(one.good > 0 && two.good > 0, "{one:?}\n{two:?}");
    assert_eq!(one.good + two.good, world.folder("run").stored());
}

#[test]
fn a_dry_run_counts_what_is_left() {
    let server = server(0);
    let world = World::with(&Config { rounds: 4, samples: 3, ..Config::new(&server, &[30, 60, 90]) });
    world.expect(0, &["bench", "--run", "run", "--limit", "2"]);
    let ran = world.expect(0, &["bench", "--run", "run", "--dry-run"]);
    assert!(ran.stdout.starts_with("7 sessions, 126 calls, into run\n"), "{ran}");
    assert!(ran.stderr.contains("2 more sessions of the plan are finished there"), "{ran}");
}

#[test]
fn a_budget_of_time_ends_a_run_whose_server_hangs() {
    let options =
        TestServerOptions { faults: 1.0, only_fault: Some(Fault::Hang), ..TestServerOptions::default() };
    let server = TestServer::start(options);
    let limits = "timeout_s = 2.0, attempts = 1000".to_owned();
    let world = World::with(&Config { limits, ..Config::new(&server, &[20, 80]) });
    let ran = world.expect(3, &["bench", "--run", "run", "--budget-minutes", "0.01"]);
    assert!(ran.stderr.contains("the 0.01 minutes are over"), "{ran}");
}

#[test]
fn a_replica_without_the_model_does_not_stop_the_run() {
    let (lost, sound) = (server(0), server(5));
    let mut config = Config::new(&lost, &[20, 50, 80]);
    // The first server knows nothing under this path and answers 404.
    config.urls = vec![lost.url().replace("/v1", "/nowhere"), sound.url()];
    let world = World::with(&config);
    world.expect(0, &["bench", "--run", "run"]);
    assert_eq!(world.folder("run").grades().len(), config.sessions());
    assert_eq!(settled(&sound).good, world.folder("run").stored());
}

#[test]
fn a_replica_that_only_fails_does_not_stop_the_run() {
    let options =
        TestServerOptions { faults: 1.0, only_fault: Some(Fault::Status500), ..TestServerOptions::default() };
    let (broken, sound) = (TestServer::start(options), server(5));
    let mut config = Config::new(&broken, &[20, 50, 80]);
    config.urls.push(sound.url());
    let world = World::with(&config);
    world.expect(0, &["bench", "--run", "run"]);
    assert_eq!(world.folder("run").grades().len(), config.sessions());
    let stats = settled(&sound);
    assert_eq!((stats.good, stats.repeated_good), (world.folder("run").stored(), 0));
    let failed = settled(&broken);
    assert!(failed.requests > 0 && failed.good == 0, "{failed:?}");
}
