//! `aske fleet` as a person meets it, with a stand-in for vLLM.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

mod common;

use common::{Ran, World, finish, signal, start, wait_until};
use serde_json::Value;
use std::fmt::Write as _;
use std::net::TcpListener;

/// Solvers that answer as the stand-in does; an asker and a cross-check solver that need no server.
fn world(hubs: &[&str], params: f64) -> World {
    let world = World::new();
    let names: Vec<String> = (0..hubs.len()).map(|at| format!("m{at}")).collect();
    let mut text = format!(
        "extends = [\"nano\"]\n[protocol]\nrounds = 1\n[asker]\nmodel = \"fixed\"\n[boundary]\nsolvers = {names:?}\n\
         [run]\nsamples = 1\n"
    );
    for (name, hub) in names.iter().zip(hubs) {
        let _ = write!(
            text,
            "[models.{name}]\nprovider = \"openai\"\nurl = \"http://localhost:1/v1\"\nmodel = \"test/{hub}\"\n\
             params = {params}\n"
        );
    }
    world.write("aske.toml", &text);
    world
}

/// A port with free ones after it.
fn port() -> String {
    let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    loop {
        let first = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        if first < u16::MAX - 4 && (first..first + 4).all(free) {
            return first.to_string();
        }
    }
}

const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fleet/tests/vllm");

fn fleet(world: &World, command: &str, more: &[&str]) -> Ran {
    let mut ran = world.command(&["fleet", command]);
    ran.args(more).env("STAND_IN", world.path(""));
    finish(start(&mut ran))
}

fn starts(world: &World) -> usize {
    world.read("events.jsonl").lines().filter(|line| line.contains("\"what\": \"start\"")).count()
}

#[test]
fn the_papers_set_is_planned_on_its_five_gpus_and_on_one() {
    let world = World::new();
    let on = |gpus: &str| {
        let arguments = ["fleet", "plan", "--config", "paper-bench", "--gpus", gpus, "--json"];
        world.expect(0, &arguments).json()
    };
    let five = on("5x141");
    assert_eq!(five["servers"].as_array().unwrap().len(), 17);
    assert_eq!(five["phases"].as_array().unwrap().len(), 1);
    // 190 pairs: those with Gemini, which needs no GPU, are asked in phases too.
    let pairs = |plan: &Value| {
        plan["phases"].as_array().unwrap().iter().map(|p| p["pairs"].as_array().unwrap().len()).sum::<usize>()
    };
    let one = on("1x141");
    assert_eq!((pairs(&five), pairs(&one)), (190, 190));
    let shown = world.expect(0, &["fleet", "plan", "--config", "paper-bench", "--gpus", "1x141"]);
    assert!(shown.stderr.contains("not all fit on 1x141 at once: "), "{shown}");
}

#[test]
fn a_server_for_two_roles_is_started_once_and_stays() {
    let world = World::new();
    let asker = "qwen3.5-4b-asker";
    let arguments =
        ["fleet", "plan", "--config", "paper-bench", "--asker", asker, "--gpus", "5x141", "--json"];
    let plan = world.expect(0, &arguments).json();
    let servers = plan["servers"].as_array().unwrap();
    assert_eq!(servers.len(), 17);
    let shared = servers.iter().find(|server| server["model"]["hub"] == "Qwen/Qwen3.5-4B").unwrap();
    assert_eq!(shared["model"]["aliases"], serde_json::json!([asker]));
    assert_eq!(shared["model"]["always"], true);
}

#[test]
fn the_whole_benchmark_runs_on_one_gpu_in_phases() {
    // 32 GB of weights each, and as much again for the rest: two on a GPU, never three.
    let world = world(&["good-0", "good-1", "good-2", "good-3"], 16.0);
    let plan = world.expect(0, &["fleet", "plan", "--gpus", "1x141", "--json"]).json();
    assert_eq!(plan["loads"], 7, "six pairs, two models at a time");
    let port = port();
    let ran = fleet(&world, "up", &["--gpus", "1x141", "--vllm", STAND_IN, "--port", &port]);
    assert!(ran.code == Some(2) && ran.stderr.contains("not all fit"), "{ran}");
    let arguments = ["--gpus", "1x141", "--vllm", STAND_IN, "--port", &port, "--", "--run", "run"];
    let ran = fleet(&world, "bench", &arguments).ended(0);
    assert!(ran.stderr.contains("phase 6 of 6"), "{ran}");
    assert_eq!(starts(&world), 7);
    let records = world.read("run/records.jsonl");
    assert_eq!(records.lines().count(), 6, "every pair once: {records}");
    // Two solvers answer a probe and a final question in each session, and the last line counts all of them.
    let (_, total) = ran.stdout.rsplit_once("fixed: 6 sessions graded\n").unwrap();
    assert!(total.contains("\n all") && total.contains("6 phases with 7 model loads in "), "{ran}");
    let again = [&arguments[..6], &["--from", "5", "--", "--run", "run", "--json"]].concat();
    let ran = fleet(&world, "bench", &again).ended(0);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sessions: Vec<_> = lines.iter().map(|line| line["sessions"].as_u64().unwrap()).collect();
    assert_eq!(sessions, [1, 1, 6], "two phases and a total: {ran}");
    let total = &lines[2];
    let solver_calls = |role: &str| total["used"][role]["calls"].as_u64().unwrap();
    assert_eq!((solver_calls("one"), solver_calls("two")), (12, 12));
    assert_eq!((&total["open"], &total["phases"], &total["first_phase"]), (&0.into(), &6.into(), &5.into()));
    let outcomes = total["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.iter().map(|share| share["sessions"].as_u64().unwrap()).sum::<u64>(), 6);
    assert!(outcomes[0]["over_pairs"].is_object() || outcomes[0]["over_pairs"].is_array(), "{total}");
    fleet(&world, "status", &[]).ended(2);
}

/// A benchmark with a server that dies in the middle, and calls that give up after two attempts.
fn with_a_fragile_server() -> World {
    let world = world(&["good-0", "fragile-3"], 1.0);
    let text = world.read("aske.toml").replace("samples = 1", "samples = 3");
    world.write("aske.toml", &format!("{text}limits.attempts = 2\n"));
    world
}

#[test]
fn calls_wait_for_a_server_that_is_restarted() {
    let world = with_a_fragile_server();
    let port = port();
    let arguments = ["--gpus", "1x141", "--vllm", STAND_IN, "--port", &port, "--", "--run", "run"];
    let ran = fleet(&world, "bench", &arguments).ended(0);
    assert!(ran.stderr.contains("restarting in 2 s"), "{ran}");
    assert_eq!(starts(&world), 3);
    assert_eq!(world.read("run/records.jsonl").lines().count(), 3, "{ran}");
    // 30 minutes to become ready, and a pause of at most two.
    assert!(world.read("aske-fleet.toml").contains("limits.reconnect_s = 1920\n"));
}

#[test]
fn a_server_that_fails_for_good_ends_its_phase() {
    let world = with_a_fragile_server();
    let port = port();
    let fixed = ["--gpus", "1x141", "--vllm", STAND_IN, "--port", &port, "--restarts", "0"];
    let ran = fleet(&world, "bench", &[&fixed[..], &["--", "--run", "run"]].concat()).ended(1);
    let words = [&fixed[..], &["--from", "1", "--", "--run", "run"]].concat().join(" ");
    let continued = format!("stopped in phase 1; `aske fleet bench {words}` continues there");
    assert!(ran.stderr.contains(&continued), "{ran}");
    assert!(ran.stderr.contains("error: `m1` failed: it exited with exit status: 1\n  | "), "{ran}");
}

#[test]
fn up_writes_the_endpoints_and_down_ends_it() {
    let world = world(&["good-0", "good-1"], 1.0);
    let port = port();
    let up = ["--gpus", "1x141", "--vllm", STAND_IN, "--port", &port, "--seed", "3", "--detach"];
    let ran = fleet(&world, "up", &up).ended(0);
    assert!(ran.stderr.contains("next: `aske bench --config aske-fleet.toml --seed 3`"), "{ran}");
    assert_eq!(ran.stdout.trim(), "aske-fleet.toml");
    assert!(world.read("aske-fleet.toml").contains(&format!("url = \"http://127.0.0.1:{port}/v1\"")));
    world.expect(0, &["models", "m0", "m1", "--config", "aske-fleet.toml"]);
    let status = fleet(&world, "status", &["--json"]).ended(0).json();
    assert_eq!(status["servers"][0]["condition"], "ready");
    assert!(fleet(&world, "logs", &["m0"]).ended(0).stdout.contains("INFO starting test/good-0"));
    let again = fleet(&world, "up", &up).ended(2);
    assert!(again.stderr.contains("already runs from this folder"), "{again}");
    let pid = |at: usize| u32::try_from(status["servers"][at]["process"]["pid"].as_u64().unwrap()).unwrap();
    assert!(signal("0", pid(0)) && signal("0", pid(1)));
    let down = fleet(&world, "down", &[]).ended(0);
    assert!(down.stderr.contains("stopped: m0, m1"), "{down}");
    wait_until("both have ended", || !signal("0", pid(0)) && !signal("0", pid(1)));
    assert!(fleet(&world, "down", &[]).ended(0).stderr.contains("nothing runs"));
}

#[test]
fn a_server_that_cannot_start_is_one_clear_error() {
    let world = world(&["good-0", "oom"], 1.0);
    let port = port();
    for detach in [&[][..], &["--detach"]] {
        let up = ["--gpus", "1x141", "--vllm", STAND_IN, "--port", &port];
        let ran = fleet(&world, "up", &[&up[..], detach].concat()).ended(1);
        let (_, error) = ran.stderr.rsplit_once("error: ").unwrap();
        assert!(error.starts_with("`m1` failed: not enough free GPU memory\n  | "), "{ran}");
        assert!(error.contains("CUDA out of memory") && error.contains("hint: see `nvidia-smi`"), "{ran}");
    }
}

#[test]
fn the_memory_of_local_folders_is_exact() {
    let world = World::new();
    world.expect(0, &["nano", "export", "nets", "--only", "nano-15k,nano-1m"]);
    let solver = |name: &str| {
        let address = "provider = \"openai\"\nurl = \"http://localhost:1/v1\"";
        format!("[models.{name}]\n{address}\nmodel = \"nets/{name}\"\n")
    };
    let head = "extends = [\"nano\"]\n[asker]\nmodel = \"fixed\"\n[boundary]\nsolvers = [\"nano-15k\", \"nano-1m\"]\n";
    world.write("aske.toml", &format!("{head}{}{}", solver("nano-15k"), solver("nano-1m")));
    let fixed = ["fleet", "plan", "--gpus", "1x24", "--sequences", "2"];
    let planned = [&fixed[..], &["--length", "1536", "--json"]].concat();
    let plan = world.expect(0, &planned).json();
    let need = &plan["servers"][0]["need"];
    // 256 × 24 embeddings, two layers of 2 × 24 norms, 3 × 24 × 40 for the feed-forward layer and, with two query heads and one of keys
    // and values, each 192 wide, (384 + 192 + 192 + 384) × 24 for attention, and the last norm; two bytes each.
    let parameters = 256 * 24 + 2 * (2 * 24 + 3 * 24 * 40 + (384 + 192 + 192 + 384) * 24) + 24;
    // Keys and values × 2 layers × 1 head × 192 numbers × 2 bytes × 1,536 tokens × 2 sequences.
    let cache = 2 * 2 * 192 * 2 * 1536 * 2;
    assert_eq!((&need["weights"], &need["cache"]), (&(2 * parameters).into(), &cache.into()), "{need}");
    assert_eq!((&need["estimated"], &need["cache_parts"]), (&false.into(), &1.into()));
    let shown = world.expect(0, &planned[..planned.len() - 1]);
    assert!(!shown.stdout.contains('*') && !shown.stderr.contains('*'), "{shown}");
    let long = world.expect(2, &fixed);
    assert!(long.stderr.contains("tokens exceed its context of 1536\nhint: --length 1536"), "{long}");

    let config = world.read("nets/nano-1m/config.json");
    let with = |text: &str| {
        world.write("nets/nano-1m/config.json", text);
        world.run(&planned[..planned.len() - 1])
    };
    let other = with(&config.replace("\"hidden_act\"", "\"mamba_d_state\": 16, \"hidden_act\"")).ended(0);
    let reason = "models.nano-1m: nets/nano-1m/config.json: layers with `mamba_d_state` are not known\n";
    assert!(other.stderr.contains(reason) && other.stdout.contains('*'), "{other}");
    let absurd = with(&config.replace("\"num_hidden_layers\": 4", "\"num_hidden_layers\": 4e99")).ended(2);
    let told = "error: nets/nano-1m/config.json: `num_hidden_layers` is 4e+99; it must be a whole number from 1 to 4096\nhint: ";
    assert!(absurd.stderr.starts_with(told), "{absurd}");
    std::fs::remove_file(world.path("nets/nano-1m/model.safetensors")).unwrap();
    let empty = with(&config).ended(2);
    let told = "error: nets/nano-1m: there are no weights, such as model.safetensors\nhint: ";
    assert!(empty.stderr.starts_with(told), "{empty}");
}

#[test]
fn wrong_arguments_are_told() {
    let world = world(&["good-0", "good-1"], 1.0);
    let told = |arguments: &[&str]| fleet(&world, "plan", arguments).ended(2).stderr;
    for wrong in ["many", "0x80", "5x", "1x1e9", "99999999999999999999x80", "2x-80"] {
        assert!(
            told(&[&format!("--gpus={wrong}")]).contains("is not COUNTxGIGABYTES, such as 5x141"),
            "{wrong}"
        );
    }
    assert!(told(&["--gpus", "1x141", "--quantisation", "int3"]).contains("`int3` is not known"));
    assert!(told(&["--gpus", "1x141", "--flag", "m7=--x"]).contains("no server of this fleet is `m7`"));
    assert!(told(&["--gpus", "1x141", "--config", "nano"]).contains("nothing to serve"));
}
