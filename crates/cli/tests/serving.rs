//! Checkpoint folders that this program does not run itself, served by a stand-in for vLLM.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

mod common;

use common::{Ran, World, finish, signal, start, wait_until};
use serde_json::Value;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fleet/tests/vllm");

/// A checkpoint of a family that the engine does not know. The stand-in behaves as the folder's name says.
fn gemma(world: &World, name: &str) -> String {
    let folder = format!("models/{name}");
    std::fs::create_dir_all(world.path(&folder)).unwrap();
    let config = r#"{"architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "num_hidden_layers": 26,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "max_position_embeddings": 32768}"#;
    world.write(&format!("{folder}/config.json"), config);
    world.write(&format!("{folder}/model.safetensors"), &weights("one"));
    world.write(&format!("{folder}/chat_template.jinja"), "{% if enable_thinking %}…{% endif %}");
    folder
}

/// A safetensors file with one tensor of this name: the length of the header in eight bytes, the header, two numbers.
fn weights(tensor: &str) -> String {
    let header = format!(r#"{{"{tensor}":{{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}}}"#);
    let length = char::from(u8::try_from(header.len()).unwrap());
    format!("{length}\0\0\0\0\0\0\0{header}\0\0\0\0")
}

fn command(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    command.env("STAND_IN", world.path("")).env_remove("CUDA_VISIBLE_DEVICES");
    command
}

fn run(world: &World, arguments: &[&str]) -> Ran {
    finish(start(&mut command(world, arguments)))
}

/// An evaluation of two problems with this stand-in.
fn eval<'a>(folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["eval", folder, "--limit", "2", "--samples", "1", "--tokens", "200", "--run", "run"];
    fixed.iter().chain(&["--gpus", "1x80", "--vllm", STAND_IN]).chain(more).copied().collect()
}

/// What stand-ins noted.
fn events(world: &World, what: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(world.path("events.jsonl")).unwrap_or_default();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["what"] == what).collect()
}

/// The problems that stand-ins were asked, without the first completion of each start.
fn asked(world: &World) -> Vec<Value> {
    let bodies = events(world, "answer").into_iter().map(|event| event["body"].clone());
    bodies.filter(|body| body["max_tokens"] != 16).collect()
}

fn option(event: &Value, flag: &str) -> String {
    let arguments: Vec<&str> =
        event["arguments"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let at = arguments.iter().position(|word| *word == flag).unwrap();
    arguments[at + 1].to_owned()
}

/// Every server has ended.
fn nothing_runs(world: &World) {
    for event in events(world, "start") {
        let pid = u32::try_from(event["pid"].as_u64().unwrap()).unwrap();
        wait_until("the server has ended", || !signal("0", pid));
    }
}

#[test]
fn a_folder_of_another_family_is_served_evaluated_and_stopped() {
    let world = World::new();
    let folder = gemma(&world, "good");
    let ran = run(&world, &eval(&folder, &["--json"])).ended(0);
    assert_eq!(ran.json()["scores"]["datasets"][0]["samples"], 2, "{ran}");
    assert!(ran.stderr.contains("vLLM serves good here; its log is in run/servers/logs"), "{ran}");
    nothing_runs(&world);
    assert!(!world.path("run/servers/state.json").exists());
    assert!(world.read("run/servers/logs/good.log").contains("INFO starting"));
    let starts = events(&world, "start");
    let [first] = starts.as_slice() else { panic!("{starts:?}") };
    let absolute = std::fs::canonicalize(world.path(&folder)).unwrap();
    assert_eq!(Path::new(&option(first, "serve")), absolute);
    assert_eq!(option(first, "--host"), "127.0.0.1");
    assert_eq!(option(first, "--generation-config"), "vllm");
    // 200 tokens of an answer and 2,048 of a prompt.
    assert_eq!(option(first, "--max-model-len"), "2248");
    let bodies = asked(&world);
    assert_eq!(bodies.len(), 2);
    for body in &bodies {
        assert_eq!(body["chat_template_kwargs"], serde_json::json!({ "enable_thinking": false }), "{body}");
        assert_eq!((&body["temperature"], &body["top_k"]), (&1.0.into(), &20.into()));
    }

    // Nothing is left to ask, so nothing is started.
    let ran = run(&world, &eval(&folder, &[])).ended(0);
    assert!(ran.stderr.contains("2 samples, all finished before"), "{ran}");
    assert_eq!(events(&world, "start").len(), 1);

    // Another port is the same run.
    let port = option(first, "--port").parse::<u16>().unwrap();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let mut more = eval(&folder, &[]);
    *more.iter_mut().find(|word| **word == "1").unwrap() = "2";
    let ran = run(&world, &more).ended(0);
    drop(taken);
    assert!(ran.stderr.contains("4 samples, 2 still to ask"), "{ran}");
    assert_eq!((events(&world, "start").len(), asked(&world).len()), (2, 4));
    nothing_runs(&world);

    // Other weights are another run.
    world.write(&format!("{folder}/model.safetensors"), &weights("two"));
    let ran = run(&world, &more).ended(2);
    assert!(ran.stderr.contains("weights: "), "{ran}");
}

#[test]
fn weights_in_several_files_identify_the_run_too() {
    let world = World::new();
    let folder = gemma(&world, "good");
    std::fs::remove_file(world.path(&format!("{folder}/model.safetensors"))).unwrap();
    let name = |number| format!("model-0000{number}-of-00002.safetensors");
    let part = |number| format!("{folder}/{}", name(number));
    let index = serde_json::json!({ "weight_map": { "one": name(1), "two": name(2) } });
    world.write(&format!("{folder}/model.safetensors.index.json"), &index.to_string());
    world.write(&part(1), &weights("one"));
    world.write(&part(2), &weights("two"));
    run(&world, &eval(&folder, &[])).ended(0);
    world.write(&part(2), &weights("new"));
    let ran = run(&world, &eval(&folder, &[])).ended(2);
    assert!(ran.stderr.contains("weights: "), "{ran}");
}

#[test]
fn a_dry_run_starts_nothing() {
    let world = World::new();
    let folder = gemma(&world, "good");
    let arguments = ["--dry-run", "--vllm", "no-such-program"];
    let mut words = vec!["eval", &folder, "--limit", "2"];
    words.extend(arguments);
    let ran = run(&world, &words).ended(0);
    assert!(ran.stderr.contains("vLLM would serve good from "), "{ran}");
    let ran = run(&world, &[&["bench", "--asker", &folder][..], &arguments].concat()).ended(0);
    assert!(ran.stderr.contains("vLLM would serve good from "), "{ran}");
    assert!(!world.path("runs").exists() && !world.path("events.jsonl").exists());
}

#[test]
fn without_vllm_or_a_gpu_one_error_says_what_to_do() {
    let world = World::new();
    let folder = gemma(&world, "good");
    let told = |arguments: &[&str]| {
        let mut command = command(&world, arguments);
        command.env("PATH", world.path("bin"));
        finish(start(&mut command)).ended(2).stderr
    };
    let missing = told(&["eval", &folder, "--tokens", "200"]);
    assert!(
        missing.contains("the architecture is Gemma3ForCausalLM; this engine runs LlamaForCausalLM"),
        "{missing}"
    );
    assert!(
        missing.contains("`vllm` is not installed") && missing.contains("hint: install vLLM"),
        "{missing}"
    );
    assert_eq!(told(&["bench", "--check", &folder]).matches("error:").count(), 1);
    let blind = told(&["eval", &folder, "--tokens", "200", "--vllm", STAND_IN]);
    assert!(blind.contains("`nvidia-smi` finds no GPU") && blind.contains("--gpus COUNTxGB"), "{blind}");
    assert!(!world.path("runs").exists(), "no run was begun");
    let long = told(&["eval", &folder, "--tokens", "40000"]);
    assert!(long.contains("answers of 40000 tokens do not fit into a context of 32768"), "{long}");
}

#[test]
fn gpus_are_detected() {
    let world = World::new();
    let folder = gemma(&world, "good");
    std::fs::create_dir(world.path("bin")).unwrap();
    world.write("bin/nvidia-smi", "#!/bin/sh\necho 81559\n");
    std::fs::set_permissions(world.path("bin/nvidia-smi"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
    let words = ["eval", &folder, "--limit", "1", "--samples", "1", "--tokens", "200", "--vllm", STAND_IN];
    finish(start(command(&world, &words).env("PATH", path))).ended(0);
    assert_eq!(events(&world, "start")[0]["gpus"], "0");
}

#[test]
fn a_server_that_cannot_start_is_explained() {
    let world = World::new();
    let folder = gemma(&world, "oom");
    let ran = run(&world, &eval(&folder, &[])).ended(1);
    let (_, error) = ran.stderr.rsplit_once("error: ").unwrap();
    assert!(error.starts_with("`oom` failed: not enough free GPU memory\n  | "), "{ran}");
    assert!(error.contains("CUDA out of memory") && error.contains("hint: see `nvidia-smi`"), "{ran}");
    nothing_runs(&world);
    let world = World::new();
    let folder = gemma(&world, "refuse");
    let ran = run(&world, &eval(&folder, &["--vllm-flag=--nonsense"])).ended(1);
    assert!(ran.stderr.contains("`refuse` failed: it rejected its arguments\n  | "), "{ran}");
    assert!(ran.stderr.contains("--vllm-flag"), "{ran}");
    nothing_runs(&world);
}

#[test]
fn ctrl_c_stops_the_server_while_it_loads_and_while_it_answers() {
    for name in ["slow-60", "busy-60"] {
        let world = World::new();
        let folder = gemma(&world, name);
        let child = start(&mut command(&world, &eval(&folder, &[])));
        wait_until("the server starts", || !events(&world, "start").is_empty());
        if name == "busy-60" {
            wait_until("a problem is asked", || !asked(&world).is_empty());
            signal("INT", child.id());
            // The first lets calls in flight end, the second drops them.
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
        signal("INT", child.id());
        let ran = finish(child).ended(130);
        assert!(ran.stderr.contains(&format!("stopped {name}")), "{ran}");
        nothing_runs(&world);
        assert!(!world.path("run/servers/state.json").exists());
    }
}

#[test]
fn a_killed_run_takes_its_server_with_it_and_goes_on() {
    let world = World::new();
    let folder = gemma(&world, "busy-1");
    let child = start(&mut command(&world, &eval(&folder, &[])));
    wait_until("a problem is asked", || !asked(&world).is_empty());
    signal("KILL", child.id());
    finish(child);
    nothing_runs(&world);
    run(&world, &eval(&folder, &[])).ended(0);
    nothing_runs(&world);
}

#[test]
fn folders_ask_check_and_solve() {
    let world = World::new();
    let folder = gemma(&world, "good");
    let fixed = ["--gpus", "1x80", "--vllm", STAND_IN, "--rounds", "1", "--seed", "1"];
    let bench = ["bench", "--asker", &folder, "--check", &folder, "--samples", "1", "--run", "run"];
    let solvers = ["--solvers", "nano-15k,nano-40k"];
    let ran = run(&world, &[&bench[..], &solvers, &fixed].concat()).ended(0);
    assert!(ran.stderr.contains("good asks 2 solvers: 1 session,"), "{ran}");
    // Both roles share a server.
    assert_eq!(events(&world, "start").len(), 1);
    assert_eq!(world.read("run/records.jsonl").lines().count(), 1);
    let ran = run(&world, &[&bench[..], &solvers, &fixed].concat()).ended(0);
    assert!(ran.stderr.contains("all finished before"), "{ran}");
    assert_eq!(events(&world, "start").len(), 1);
    let adaptive = ["bench", "--asker", &folder, "--until", "40", "--samples", "2", "--run", "until"];
    run(&world, &[&adaptive[..], &solvers, &fixed].concat()).ended(0);
    let solver = format!("nano-15k,{folder}");
    let bench = ["bench", "--asker", "fixed", "--samples", "1", "--solvers", &solver, "--run", "solves"];
    run(&world, &[&bench[..], &fixed].concat()).ended(0);
    run(&world, &[&["ask", "nano-15k", "nano-40k", "--asker", &folder][..], &fixed].concat()).ended(0);
    assert_eq!(events(&world, "start").len(), 4);
    nothing_runs(&world);
}

#[test]
fn a_training_measures_a_served_asker_before_and_after() {
    let world = World::new();
    world.expect(0, &["nano", "export", "models", "--only", "nano-novice"]);
    let config = "extends = \"nano-train\"\n[asker]\nmodel = \"mine\"\n[check]\nmodel = \"mine\"\n[models.mine]\n\
                  provider = \"local\"\npath = \"models/nano-novice\"\n[train]\nsteps = 1\ngroups = 2\ngroup_size = 2\n\
                  [train.watch]\nmax_questions = 1\n[train.measure]\nconfig = \"measure.toml\"\nsamples = 1\nexam_questions = 0\n\
                  [boundary]\nsolvers = [\"nano-15k\", \"nano-40k\"]\n[protocol]\nrounds = 1\n";
    world.write("aske.toml", config);
    let solver = "[models.here]\nprovider = \"openai\"\nurl = \"http://localhost:1/v1\"\nmodel = \"test/good\"\nparams = 1.0\n";
    let measure =
        "extends = \"nano\"\n[boundary]\nsolvers = [\"nano-15k\", \"here\"]\n[protocol]\nrounds = 1\n";
    world.write("measure.toml", &format!("{measure}{solver}"));
    let ran = run(&world, &["train", "--gpus", "1x80", "--vllm", STAND_IN, "--run", "run"]).ended(0);
    // The asker and a solver on this machine, before and after.
    let hubs: Vec<String> =
        events(&world, "start").iter().map(|event| event["hub"].as_str().unwrap().to_owned()).collect();
    let ends = |end: &str| hubs.iter().filter(|hub| hub.ends_with(end)).count();
    assert_eq!(
        (ends("models/nano-novice"), ends("seed-0/trained"), ends("test/good"), hubs.len()),
        (1, 1, 2, 4),
        "{ran}"
    );
    for folder in ["before", "after-0"] {
        assert_eq!(world.read(&format!("run/{folder}/records.jsonl")).lines().count(), 1, "{ran}");
    }
    nothing_runs(&world);
}
