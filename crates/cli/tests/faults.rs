//! Faults of servers: passing ones are outlasted, lasting ones are named, and none of them is a score.

mod common;

use aske_testkit::{Fault, TestServer, TestServerOptions};
use common::{Config, World, finish, server, settled, start};
use std::time::Duration;

#[test]
fn a_run_with_a_third_of_its_replies_spoilt_ends_as_one_without() {
    let calm = server(0);
    let config = Config { rounds: 2, concurrency: 64, ..Config::new(&calm, &[20, 40, 60, 80]) };
    let undisturbed = World::with(&config);
    undisturbed.expect(0, &["bench", "--run", "run"]);
    let expected = undisturbed.folder("run");

    let options = TestServerOptions {
        faults: 0.3,
        fault_seed: 5,
        hang: Duration::from_secs(5),
        ..TestServerOptions::default()
    };
    let faulty = TestServer::start(options);
    let limits = "timeout_s = 1.0, attempts = 30".to_owned();
    let config = Config { urls: vec![faulty.url()], limits, ..config };
    let world = World::with(&config);
    let ran = world.expect(0, &["bench", "--run", "run", "--json"]);
    assert_eq!(ran.json()["failures"], serde_json::json!([]));

    let folder = world.folder("run");
    assert_eq!(folder.records().len(), config.sessions());
    assert_eq!(folder.records(), expected.records());
    assert_eq!(folder.grades(), expected.grades());
    assert_eq!(folder.replies(), expected.replies());
    let stats = settled(&faulty);
    for &fault in Fault::all() {
        assert!(stats.faults.contains_key(&fault.name()), "{} was never met: {stats:?}", fault.name());
    }
    assert_eq!(stats.distinct_good, folder.stored());
    assert_eq!(stats.requests, stats.good + stats.lost + stats.faults_total());
}

#[test]
fn a_server_that_is_down_is_no_score_and_the_run_goes_on_when_it_is_up() {
    let gone = server(0);
    let port = gone.address().port();
    let config = Config { limits: "attempts = 2".to_owned(), ..Config::new(&gone, &[30, 60, 90]) };
    gone.stop().unwrap();
    let world = World::with(&config);
    let ran = world.expect(1, &["bench", "--run", "run", "--no-probe"]);
    let failed =
        "failed: 6 sessions without an outcome: model `asker`: network: cannot connect: connection refused ";
    assert!(ran.stderr.contains(failed), "{ran}");
    assert!(ran.stderr.contains("(after 2 attempts)\n"), "{ran}");
    let hint = "hint: is the server at `models.asker.url` up? `aske models asker` tries it; then run again\n";
    assert!(ran.stderr.contains(hint), "{ran}");
    assert!(ran.stderr.contains("hint: run the same command again to continue"), "{ran}");
    assert!(ran.stdout.contains("0 sessions graded"), "{ran}");
    let folder = world.folder("run");
    assert!(folder.records().is_empty() && folder.grades().is_empty());

    let up = TestServer::start(TestServerOptions { port, ..TestServerOptions::default() });
    world.expect(0, &["bench", "--run", "run"]);
    assert_eq!(folder.grades().len(), config.sessions());
    assert_eq!(up.stats().repeated_good, 0);
}

#[test]
fn an_unknown_model_fails_at_once_and_halts_the_run() {
    let server = server(0);
    let config = Config { asker: "ghost".to_owned(), concurrency: 1, ..Config::new(&server, &[30, 60, 90]) };
    let world = World::with(&config);
    let ran = world.expect(1, &["bench", "--run", "run", "--no-probe"]);
    let failed = "failed: 1 session without an outcome: model `ghost`: not found: HTTP 404: \
                  The model `ghost` does not exist\n";
    assert!(ran.stderr.contains(failed), "one attempt, and no count of attempts: {ran}");
    let hint = "hint: check `models.ghost.url` (it ends in /v1 for most servers) and `models.ghost.model`\n";
    assert!(ran.stderr.contains(hint), "{ran}");
    let stats = server.stats();
    assert_eq!((stats.requests, stats.refused), (1, 1), "neither another attempt nor another session");
    let folder = world.folder("run");
    assert!(folder.records().is_empty() && folder.grades().is_empty());
    assert_eq!(folder.stored(), 0);

    let json = world.expect(1, &["bench", "--run", "run", "--json", "--no-probe"]).json();
    assert_eq!(json["failures"][0]["cause"], "not found");
    assert_eq!(json["failures"][0]["sessions"], 1);
    assert_eq!((&json["sessions"], &json["open"]), (&0.into(), &6.into()));
}

#[test]
fn a_lasting_failure_of_one_model_keeps_the_replies_of_the_others() {
    let server = server(0);
    let mut config = Config { concurrency: 2, samples: 1, ..Config::new(&server, &[30, 60]) };
    config.solvers.push("ghost".to_owned());
    let world = World::with(&config);
    world.expect(1, &["bench", "--run", "run", "--no-probe"]);
    let stats = settled(&server);
    assert!(stats.good > 0 && stats.per_model["ghost"] <= 2, "{stats:?}");
    assert_eq!(world.folder("run").stored(), stats.good);
}

#[test]
fn a_key_that_the_server_repeats_is_shown_and_stored_nowhere() {
    let server = server(0);
    let keys = "api_key_env = \"KEY_OF_THE_TEST\"".to_owned();
    let world = World::with(&Config { keys, ..Config::new(&server, &[30, 60, 90]) });
    let bench = ["bench", "--run", "run", "--no-probe", "--json"];
    for arguments in [&bench[..3], &bench[..4], &bench] {
        let mut command = world.command(arguments);
        let ran = finish(start(command.env("KEY_OF_THE_TEST", "wrong-key"))).ended(1);
        let said = "HTTP 401: Incorrect API key provided: ***";
        assert!(ran.stderr.contains(said) || ran.stdout.contains(said), "{ran}");
        let hint = "check the key in the environment variable named by `models.asker.api_key_env`";
        let probed = "hint: `export KEY_OF_THE_TEST=…` with a key that is valid for `asker`";
        assert_eq!(ran.stderr.contains(probed), arguments.len() == 3, "{ran}");
        assert!(
            ran.stderr.contains(probed) || ran.stderr.contains(hint) || ran.stdout.contains(hint),
            "{ran}"
        );
        assert!(!ran.stderr.contains("wrong-key") && !ran.stdout.contains("wrong-key"), "{ran}");
    }
    let files = world.folder("run").files();
    assert!(files.iter().any(|file| file.ends_with("run.toml")), "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(9).any(|part| part == b"wrong-key"), "{}", file.display());
    }
    assert!(server.stats().refused > 0);
}
