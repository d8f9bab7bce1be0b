//! The log: silent by default, retries with -v, files, no keys, reply texts at trace level only.

mod common;

use aske_testkit::{Fault, RawServer, RecordedRequest, TestServer, TestServerOptions, response};
use common::{Config, Ran, World, finish, server, start};

const BENCH: [&str; 3] = ["bench", "--run", "run"];

/// A world whose server answers half of the requests with status 429.
fn faulty() -> (TestServer, World) {
    let options =
        TestServerOptions { faults: 0.5, only_fault: Some(Fault::RetryNow), ..TestServerOptions::default() };
    let server = TestServer::start(options);
    let limits = "attempts = 20".to_owned();
    let world = World::with(&Config { limits, samples: 1, ..Config::new(&server, &[30, 60]) });
    (server, world)
}

fn retries(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains("attempt=") && line.contains("model=")).collect()
}

#[test]
fn nothing_is_logged_by_default() {
    let (_server, world) = faulty();
    let ran = world.expect(0, &BENCH);
    assert!(retries(&ran.stderr).is_empty() && !ran.stderr.contains("INFO"), "{ran}");
}

#[test]
fn a_retry_is_logged_with_its_model_session_and_attempt() {
    let (server, world) = faulty();
    let ran = world.expect(0, &[&BENCH[..], &["-v"]].concat());
    assert!(server.stats().faults_total() > 0);
    let found = retries(&ran.stderr);
    assert!(!found.is_empty(), "{ran}");
    for line in found {
        assert!(line.contains(" INFO ") || line.contains(" WARN "), "{line}");
        assert!(line.contains("solver-30:solver-60/0") || line.contains("probe"), "no session: {line}");
    }
    assert!(!ran.stderr.contains('\u{1b}'), "no colours where stderr is not a terminal: {ran}");
}

#[test]
fn a_log_file_gets_the_log_alone_and_is_appended_to() {
    let (_server, world) = faulty();
    let ran = world.expect(0, &[&BENCH[..], &["--log-file", "aske.log"]].concat());
    assert!(retries(&ran.stderr).is_empty(), "{ran}");
    let first = world.read("aske.log");
    assert!(!retries(&first).is_empty() && !first.contains('\u{1b}'), "{first}");
    let ran = world.expect(0, &[&BENCH[..], &["--log-file", "aske.log", "-v"]].concat());
    let both = world.read("aske.log");
    let resumed = both.strip_prefix(&first).unwrap();
    assert!(resumed.contains("resuming a run") && ran.stderr.contains("resuming a run"), "{ran}\n{both}");
    let wrong = world.expect(2, &["config", "--log-file", "nowhere/aske.log"]);
    assert!(wrong.stderr.starts_with("error: --log-file nowhere/aske.log: "), "{wrong}");
}

#[test]
fn the_variable_sets_levels_by_module_and_a_wrong_one_is_an_error() {
    let (_server, world) = faulty();
    let with = |value: &str| finish(start(world.command(&BENCH).env("ASKE_LOG", value)));
    assert!(!retries(&with("aske_model=info").ended(0).stderr).is_empty());
    std::fs::remove_dir_all(world.path("run")).unwrap();
    let other = with("aske_eval=trace").ended(0);
    assert!(retries(&other.stderr).is_empty(), "{other}");
    let wrong = with("aske_model=loud").ended(2);
    assert!(wrong.stderr.starts_with("error: ASKE_LOG=aske_model=loud: "), "{wrong}");
}

/// A key, and a reply that repeats it.
const KEY: &str = "sk-test-0123456789abcdef";

fn echo(seen: &RecordedRequest) -> Vec<u8> {
    let text = match seen.model().as_str() {
        "asker" => "#Reasoning#\nr\n#Draft#\nd\n#Question#\nWhat is 2 + 2? ",
        _ => "#Summary#\nI added apples.\n\\boxed{4} ",
    };
    let body = serde_json::json!({
        "id": KEY,
        "choices": [{"message": {"role": "assistant", "content": format!("{text}{KEY}")}, "finish_reason": "stop"}],
    });
    response(200, "content-type: application/json\r\n", body.to_string().as_bytes())
}

fn with_key(world: &World, arguments: &[&str]) -> Ran {
    finish(start(world.command(arguments).env("KEY_OF_THE_TEST", KEY)))
}

#[test]
fn a_key_is_never_logged_and_replies_only_at_trace() {
    let dummy = server(0);
    let refuse =
        |_: &RecordedRequest| response(401, "", format!("{{\"error\": \"bad key {KEY}\"}}").as_bytes());
    for (server, code) in [(RawServer::start(echo), 0), (RawServer::start(refuse), 1)] {
        let keys = "api_key_env = \"KEY_OF_THE_TEST\"".to_owned();
        let limits = "attempts = 2".to_owned();
        let config =
            Config { urls: vec![server.url()], keys, limits, samples: 1, ..Config::new(&dummy, &[30, 60]) };
        for level in ["-v", "-vv", "-vvv"] {
            let world = World::with(&config);
            let ran =
                with_key(&world, &["bench", "--run", "run", level, "--log-file", "aske.log"]).ended(code);
            let log = world.read("aske.log");
            assert!(!ran.stderr.contains(KEY) && !log.contains(KEY), "{level}: {ran}\n{log}");
            let has_replies = log.contains("I added apples");
            assert_eq!(has_replies, code == 0 && level == "-vvv", "{level}: {log}");
            assert_eq!(ran.stderr.contains("I added apples"), has_replies, "{level}: {ran}");
        }
    }
}
