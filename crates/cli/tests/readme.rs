//! The commands of the README do what it says: each is executed as written, in order, against local stand-ins.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot run the program has failed")]

mod common;

use common::datasets::hub_cache;
use common::{Ran, World, finish, server, signal, start};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commands that are not executed, by their beginning, and why.
const NOT_EXECUTED: [(&str, &str); 19] = [
    ("aske init --provider ollama", "needs an Ollama server; tests/own_model.rs has a stand-in"),
    ("aske ask ollama/", "needs two servers and a key; tests/own_model.rs has stand-ins"),
    ("cargo install --path crates/cli", "compiles the program; the tests run the one that is built"),
    ("aske train --seeds 0,1,2", "takes half an hour; tests/train trains shorter"),
    ("aske eval models/gemma-3-4b-it --gpus 1x80", "needs a GPU; tests/serving.rs has a stand-in for vLLM"),
    ("pip install", "installs from PyPI; scripts/wheel builds and tests the wheel"),
    ("python -c 'from aske_env", "needs the wheel"),
    ("vf-eval aske-env", "needs the wheel and verifiers"),
    ("aske serve env --config paper-train", "needs an embedding model; tests/serve.rs serves without one"),
    ("scripts/with-llama cargo install", "compiles llama.cpp"),
    ("aske models pull", "downloads gigabytes; tests/pull.rs has a stand-in for the hub"),
    ("aske ask smollm2-135m-instruct", "needs the feature llama and downloaded models"),
    ("aske bench --set local", "needs the feature llama and downloaded models"),
    ("aske serve models --config local", "needs the feature llama and downloaded models"),
    ("aske fleet bench", "needs a GPU; tests/fleet.rs has a stand-in for vLLM"),
    ("aske models --config paper-bench --probe", "calls the endpoints of seven providers"),
    ("aske bench --config paper-bench --asker gemini-3.1-pro", "needs a key and costs money"),
    ("python3 -m venv", "installs from PyPI"),
    (".venv/bin/python", "measures for minutes"),
];

/// A command of the README, and what it says that the command prints.
#[derive(Debug)]
struct Documented {
    command: String,
    output: Option<String>,
}

/// The commands in blocks of `sh` and `console`, and in the table of questions and commands.
fn documented(readme: &str) -> Vec<Documented> {
    let mut all: Vec<Documented> = Vec::new();
    let mut block = "";
    for line in readme.lines() {
        match (block, line.strip_prefix("```")) {
            ("", Some(kind)) => block = kind,
            (_, Some(_)) => block = "",
            ("sh", None) if !line.trim().is_empty() => {
                all.push(Documented { command: line.to_owned(), output: None });
            }
            ("console", None) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    all.push(Documented { command: command.to_owned(), output: Some(String::new()) });
                } else {
                    let output = all.last_mut().unwrap().output.as_mut().unwrap();
                    output.push_str(line);
                    output.push('\n');
                }
            }
            ("", None) if line.starts_with('|') && line.contains("? ") && line.contains("| `aske ") => {
                let command = line.rsplit("| `").next().unwrap().split('`').next().unwrap();
                // The placeholders of the table.
                let command = command.replace("RUN…", "RUN").replace("RUN", "runs/nano-nano-asker");
                all.push(Documented { command: command.replace("MODEL", "nano-1m"), output: None });
            }
            _ => {}
        }
    }
    all
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A shell in the folder of the test. Fewer samples are the only difference from a user's environment.
fn shell(world: &World, script: &str) -> Command {
    let program = world.command(&[]);
    let mut shell = Command::new("sh");
    for (name, _) in program.get_envs().filter(|(_, value)| value.is_none()) {
        shell.env_remove(name);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(world.path("bin")).chain(std::env::split_paths(&path));
    shell.env("PATH", std::env::join_paths(folders).unwrap()).env("ASKE_RUN_SAMPLES", "2");
    shell.env("HF_HOME", world.path("hf")).env("HF_HUB_OFFLINE", "1");
    shell.args(["-c", script]).current_dir(world.path("")).stdin(Stdio::null());
    shell
}

/// The program under its own name, and a `cargo` that runs it.
fn programs(world: &World) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    std::fs::create_dir(world.path("bin")).unwrap();
    symlink(assert_cmd::cargo::cargo_bin!("aske"), world.path("bin/aske")).unwrap();
    let cargo = "#!/bin/sh\n[ \"$1 $2 $3\" = 'run --release --' ] && shift 3 && exec aske \"$@\"\nexit 64\n";
    world.write("bin/cargo", cargo);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.path("bin/cargo"), executable).unwrap();
}

/// Creates what a command needs that the README leaves to its reader.
fn prepare(world: &World, address: &str, command: &str) {
    let succeed = |script: &str| {
        finish(start(&mut shell(world, script))).ended(0);
    };
    if command.starts_with("aske eval my-model") {
        hub_cache(&world.path("hf/hub"));
        let model = |name: &str, served: &str| {
            format!("[models.{name}]\nprovider = \"openai\"\nurl = \"{address}\"\nmodel = \"{served}\"\n")
        };
        let models = model("my-model", "solver-90") + &model("my-judge", "equiv");
        world.write("aske.toml", &format!("extends = \"nano\"\n{models}"));
    } else if command.starts_with("aske eval compare") {
        for run in ["base", "seed-0", "seed-1"] {
            succeed(&format!("aske eval my-model --limit 2 --samples 2 --data paper --run runs/eval-{run}"));
        }
    } else if command.starts_with("aske import results.jsonl") {
        let results = root().join("crates/import/tests/data").join(RESULTS);
        std::fs::copy(results, world.path("results.jsonl")).unwrap();
    } else if command.contains("--jsonl pairs.jsonl") {
        world.write("pairs.jsonl", "{\"gold\": \"1/2\", \"pred\": \"0.5\"}\n");
    }
}

/// Rollouts that verifiers wrote.
const RESULTS: &str = "results/results.jsonl";

/// Starts a server, asks it for its page, and stops it as Ctrl-C does.
fn serve(world: &World, command: &str) {
    let mut child = shell(world, &format!("exec {command}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let Some(Ok(address)) = lines.next() else { panic!("{command}: {}", finish(child)) };
    let host = address.trim_start_matches("http://").split('/').next().unwrap();
    let mut connection = TcpStream::connect(host).unwrap();
    write!(connection, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    connection.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 "), "{command}: {reply}");
    assert!(signal("INT", child.id()));
    assert!(child.wait().unwrap().success(), "{command}");
}

/// Whether a command runs until it is stopped.
fn is_server(command: &str) -> bool {
    ["aske view", "aske serve"].iter().any(|server| command.starts_with(server))
        && !command.contains("--bundle")
}

#[test]
fn every_command_of_the_readme_is_executed_or_listed_with_the_reason() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (world, server) = (World::new(), server(0));
    programs(&world);
    let mut listed: Vec<&str> = NOT_EXECUTED.iter().map(|(command, _)| *command).collect();
    let mut executed = 0;
    for Documented { command, output } in documented(&readme) {
        let own = command.starts_with("aske ") || command.starts_with("cargo run");
        if let Some((beginning, _)) =
            NOT_EXECUTED.iter().find(|(beginning, _)| command.starts_with(beginning))
        {
            listed.retain(|unused| unused != beginning);
            continue;
        }
        assert!(own, "neither a command of the program nor listed: {command}");
        prepare(&world, &server.url(), &command);
        executed += 1;
        if is_server(&command) {
            serve(&world, &command);
            continue;
        }
        let ran: Ran = finish(start(&mut shell(&world, &command)));
        assert_eq!(ran.code, Some(0), "{command}: {ran}");
        if let Some(output) = output {
            assert_eq!(ran.stdout, output, "{command}");
        }
    }
    assert!(executed > 15, "{executed} commands");
    assert!(listed.is_empty(), "not in the README: {listed:?}");
}

#[test]
fn the_configuration_of_the_readme_is_valid() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let text = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let world = World::new();
    world.write("aske.toml", text);
    let shown = world.expect(0, &["config", "asker.model"]);
    assert!(shown.stdout.starts_with("asker.model = \"my-model\""), "{shown}");
    let plan = world.expect(0, &["bench", "--dry-run", "--json"]);
    assert_eq!(plan.json()["run"], "runs/aske-my-model");
}
