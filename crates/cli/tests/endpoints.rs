//! Endpoints that are dead, slow or wrong: what is shown, what is stopped before it begins, and what is left after Ctrl-C.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use aske_testkit::{Fault, TestServer, TestServerOptions};
use common::{Config, Ran, World, finish, server, settled, signal, wait_until};
use std::io::Read;
use std::time::{Duration, Instant};

const BENCH: [&str; 3] = ["bench", "--run", "run"];

/// A server that answers every request with this fault.
fn broken(fault: Fault) -> TestServer {
    let options = TestServerOptions { faults: 1.0, only_fault: Some(fault), ..TestServerOptions::default() };
    TestServer::start(options)
}

/// Runs a benchmark that must be stopped by its probes within seconds.
fn stopped(world: &World) -> Ran {
    let begun = Instant::now();
    let ran = world.expect(1, &BENCH);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}: {ran}", begun.elapsed());
    assert!(ran.stderr.contains("cannot be used; nothing was started"), "{ran}");
    assert!(ran.stderr.contains("--no-probe starts without trying the models"), "{ran}");
    assert!(!world.path("run").exists(), "nothing is created");
    ran
}

#[test]
fn a_host_that_cannot_be_resolved_stops_the_run_before_it_begins() {
    let up = server(0);
    let config = Config::new(&up, &[30, 60]);
    for scheme in ["http", "https"] {
        let world =
            World::with(&Config { urls: vec![format!("{scheme}://nowhere.invalid/v1")], ..config.clone() });
        let ran = stopped(&world);
        assert!(ran.stderr.starts_with("error: 4 of 4 models cannot be used"), "{ran}");
        assert!(
            ran.stderr.contains("model `asker`: network: cannot resolve host `nowhere.invalid`"),
            "{ran}"
        );
        assert!(ran.stderr.contains("-o models.asker.url=http://HOST:PORT/v1"), "{ran}");
    }
    assert_eq!(up.stats().requests, 0);
}

#[test]
fn a_server_that_refuses_connections_stops_the_run_before_it_begins() {
    let gone = server(0);
    let config = Config::new(&gone, &[30, 60]);
    gone.stop().unwrap();
    let ran = stopped(&World::with(&config));
    assert!(ran.stderr.contains("model `check`: network: cannot connect: connection refused"), "{ran}");
}

#[test]
fn a_model_that_its_server_does_not_know_stops_the_run_before_it_begins() {
    let server = server(0);
    let world = World::with(&Config { asker: "ghost".to_owned(), ..Config::new(&server, &[30, 60]) });
    let ran = stopped(&world);
    assert!(ran.stderr.starts_with("error: 1 of 4 models cannot be used"), "{ran}");
    assert!(
        ran.stderr.contains("model `ghost`: not found: HTTP 404: The model `ghost` does not exist"),
        "{ran}"
    );
    assert!(ran.stderr.contains(&format!("`aske models {}` lists the models", server.url())), "{ran}");
    assert_eq!(server.stats().requests, 4, "each model was asked once");
    // Only the solvers of the chosen pairs are needed.
    let mut config = Config::new(&server, &[30, 60]);
    config.solvers.push("ghost".to_owned());
    World::with(&config).expect(0, &["bench", "--pairs", "solver-30:solver-60"]);
}

#[test]
fn a_busy_model_is_a_warning_and_no_reason_to_stop() {
    let up = server(0);
    let busy = broken(Fault::RetryNow);
    let limits = "attempts = 2".to_owned();
    let config = Config { limits, samples: 1, urls: vec![busy.url()], ..Config::new(&up, &[30, 60]) };
    let world = World::with(&config);
    let ran = world.expect(1, &BENCH);
    assert!(ran.stderr.contains("warning: model `asker`: throttled: HTTP 429: "), "{ran}");
    assert!(ran.stderr.contains("failed: 1 session without an outcome: model `asker`: throttled"), "{ran}");
    assert!(world.path("run/run.toml").exists());
}

#[test]
fn probes_count_towards_the_cost_and_are_not_made_when_nothing_is_left_to_ask() {
    let server = server(0);
    let keys = "price = { input = 1000.0, output = 1000.0 }".to_owned();
    let world = World::with(&Config { keys, ..Config::new(&server, &[30, 60]) });
    let ran = world.expect(0, &[&BENCH[..], &["--json"]].concat());
    assert!(ran.stderr.contains("4 models answer, tried once each in "), "{ran}");
    let probe = &ran.json()["used"]["probe"];
    assert_eq!(probe["calls"], 4, "{ran}");
    let tokens = probe["prompt"].as_f64().unwrap() + probe["completion"].as_f64().unwrap();
    // 1,000 dollars a million.
    assert!((probe["usd"].as_f64().unwrap() - tokens * 1e-3).abs() < 1e-9 && tokens > 0.0, "{probe}");
    let requests = server.stats().requests;
    for (command, code) in [(&BENCH[..], 0), (&["bench", "--run", "new", "--dry-run"], 0)] {
        world.expect(code, command);
        assert_eq!(server.stats().requests, requests, "{command:?}");
    }
    world.expect(0, &[&BENCH[..], &["--samples", "3", "--no-probe"]].concat());
    assert_eq!(world.folder("run").probes(), 4);
    assert_eq!(server.stats().requests, world.folder("run").stored());
    // An adaptive run, too.
    let until = ["bench", "--run", "until", "--until", "45", "--samples", "2"];
    world.expect(0, &until);
    let requests = server.stats().requests;
    world.expect(0, &until);
    assert_eq!(server.stats().requests, requests);
}

#[test]
fn evaluations_audits_and_trainings_try_their_models_first() {
    let server = server(0);
    let mut config = Config::new(&server, &[30, 60]);
    config.solvers.push("ghost".to_owned());
    let world = World::with(&config);
    for (arguments, folder) in [
        (&["eval", "ghost", "--run", "e"][..], "e"),
        (
            &[
                "difficulty",
                "--easy",
                "solver-30:solver-60",
                "--hard",
                "solver-30:ghost",
                "--solver",
                "check",
                "--run",
                "d",
            ],
            "d",
        ),
        (
            &[
                "train",
                "--config",
                "nano-train",
                "--no-measure",
                "--run",
                "t",
                "--solvers",
                "nano-15k,ghost",
                "-o",
                "models.ghost.provider=openai",
                "-o",
                &format!("models.ghost.url={}", server.url()),
            ],
            "t",
        ),
    ] {
        let ran = world.expect(1, arguments);
        assert!(ran.stderr.contains("model `ghost`: not found: HTTP 404"), "{ran}");
        assert!(!world.path(folder).exists(), "{ran}");
    }
    world.expect(0, &["bench", "--run", "run", "--pairs", "solver-30:solver-60"]);
    let before = settled(&server).requests;
    let ran = world.expect(1, &["regrade", "run", "--check", "ghost"]);
    assert!(ran.stderr.contains("model `ghost`: not found: HTTP 404"), "{ran}");
    assert_eq!(server.stats().requests, before + 1);
    // Without questions to ask there is no probe.
    world.expect(0, &["audit", "run", "--draws", "2", "--no-controls"]);
    let before = settled(&server).requests;
    world.expect(0, &["audit", "run", "--draws", "2", "--no-controls"]);
    assert_eq!(server.stats().requests, before);
}

/// Reads the error output of a process until it contains this.
#[cfg(unix)]
fn read_until(child: &mut std::process::Child, text: &str) -> String {
    let mut stderr = child.stderr.take().unwrap();
    let (mut seen, mut bytes) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&seen).contains(text) {
        let read = stderr.read(&mut bytes).unwrap();
        assert!(read > 0, "`{text}` never came: {}", String::from_utf8_lossy(&seen));
        seen.extend(&bytes[..read]);
    }
    child.stderr = Some(stderr);
    String::from_utf8_lossy(&seen).into_owned()
}

#[cfg(unix)]
#[test]
fn a_model_that_is_retried_is_shown_and_listed_after_an_interrupt() {
    let up = server(0);
    let busy = broken(Fault::RetryInASecond);
    let limits = "attempts = 60".to_owned();
    let config = Config { limits, urls: vec![busy.url()], ..Config::new(&up, &[30, 60]) };
    for command in [&["bench", "--run", "run", "--no-probe"][..], &["ask", "--run", "run"]] {
        let world = World::with(&config);
        let mut child = world.start(command);
        // What is left of the wait is shown, which is less than half a second at times.
        let seen = read_until(&mut child, " of 60, retry in 1 s");
        assert!(seen.contains("asker: HTTP 429: "), "{seen}");
        assert!(command[0] == "ask" || seen.contains("price unknown · time left unknown"), "{seen}");
        assert!(signal("INT", child.id()));
        let ran = finish(child).ended(130);
        let sessions = if command[0] == "ask" { "1 session" } else { "2 sessions" };
        let failed = format!("failed: {sessions} without an outcome: model `asker`: throttled: HTTP 429: ");
        assert!(ran.stderr.contains(&failed), "{ran}");
        assert!(ran.stderr.contains("lower `models.asker.limits.concurrency`"), "{ran}");
        assert!(ran.stderr.contains("`aske "), "the command to continue: {ran}");
    }
}

#[cfg(unix)]
#[test]
fn a_model_without_an_answer_is_shown_and_listed_when_its_calls_are_dropped() {
    let slow = server(120_000);
    let world = World::with(&Config::new(&slow, &[30, 60]));
    let mut child = world.start(&["bench", "--run", "run", "--no-probe"]);
    let seen = read_until(&mut child, "asker: no answer for ");
    assert!(seen.contains(" s, timeout after 600 s (2 calls)"), "{seen}");
    assert!(signal("INT", child.id()));
    let told = read_until(&mut child, "stopping: calls in flight may end");
    assert!(!told.contains("dropped:"), "{told}");
    assert!(signal("INT", child.id()));
    let ran = finish(child).ended(130);
    assert!(ran.stderr.contains("dropped: asker: no answer for "), "{ran}");
    assert!(ran.stderr.contains("again: `aske bench --run run --no-probe`"), "{ran}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_the_probes() {
    let slow = server(60_000);
    let world = World::with(&Config::new(&slow, &[30, 60]));
    let child = world.start(&BENCH);
    wait_until("probes are in flight", || slow.stats().in_flight == 4);
    assert!(signal("INT", child.id()));
    finish(child).ended(130);
    assert!(!world.path("run").exists());
}

#[test]
fn a_width_that_the_plan_may_not_reach_is_told_before_any_call() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[30, 60, 90]));
    let ran = world.expect(0, &["bench", "--until", "5", "--samples", "2"]);
    // (1.96 / (2 · 0.05))² − 1.96² = 380.3 sessions; 1.96 / (2 √(6 + 1.96²)) = 31.2 points.
    let told = "width: ± 5 points need 381 sessions if half of them are calibrated";
    let at = ran.stderr.find(told).unwrap_or_else(|| panic!("{ran}"));
    assert!(ran.stderr.contains("this plan has 6 at most, enough for ± 31.2\nhint: --samples 127 "), "{ran}");
    assert!(ran.stderr.find("models answer").is_some_and(|probed| at < probed), "{ran}");
    let ran = world.expect(0, &["bench", "--until", "45", "--samples", "2", "--run", "wide"]);
    assert!(!ran.stderr.contains("width:"), "{ran}");
}
