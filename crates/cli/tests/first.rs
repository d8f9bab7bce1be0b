//! The first minutes with the program: no configuration, no server, no key.

mod common;

use common::{World, finish, start};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const COMMANDS: [&str; 13] = [
    "init",
    "ask",
    "bench",
    "train",
    "serve",
    "merge",
    "config",
    "models",
    "prompts",
    "verify",
    "nano",
    "convert",
    "completions",
];

/// A part of the nano world that is quick also without optimisation.
const QUICK: [&str; 4] = ["--asker", "staircase", "--solvers", "nano-15k,nano-40k,nano-100k"];

fn quick<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command], &QUICK[..], more].concat()
}

#[test]
fn bench_runs_the_nano_world_and_then_has_nothing_to_do() {
    let world = World::new();
    let arguments = quick("bench", &["--samples", "2"]);
    let first = world.expect(0, &arguments);
    assert!(first.stdout.starts_with("staircase: 6 sessions graded\n"), "{first}");
    assert!(first.stderr.starts_with("staircase asks 3 solvers: 6 sessions, 4 rounds"), "{first}");
    let folder = world.folder("runs/nano-staircase");
    assert_eq!((folder.records().len(), folder.grades().len()), (6, 6));
    for outcome in ["calibrated", "too_easy", "too_hard", "no_question", "bad_cross_check"] {
        assert!(first.stdout.lines().any(|line| line.trim().starts_with(outcome)), "{outcome}: {first}");
    }
    // What belongs next to the number: two intervals for three pairs, and how many final questions repeat a probe.
    for part in
        ["95% these pairs", "95% over pairs", "On these 3 pairs the calibrated rate is", "repeats a probe"]
    {
        assert!(first.stdout.contains(part), "{part}: {first}");
    }
    let note =
        |line: &str| line.starts_with("note: Repeats a probe: ") && line.ends_with("the paper allows it");
    assert!(first.stdout.lines().any(note), "{first}");
    let stored = folder.stored();
    let again = world.expect(0, &arguments);
    assert_eq!(again.stdout, first.stdout);
    assert!(again.stderr.contains("6 sessions, all finished before; into runs/nano-staircase"), "{again}");
    assert_eq!(folder.stored(), stored);
}

#[test]
fn the_staircase_with_a_new_final_question_repeats_no_probe() {
    let world = World::new();
    let arguments = ["bench", "--samples", "2", "--solvers", "nano-15k,nano-40k", "--json", "--asker"];
    let reused = |asker| {
        let caveats = &world.expect(0, &[&arguments[..], &[asker]].concat()).json()["caveats"];
        (caveats["reused"]["calibrated"]["of"].clone(), caveats["new"]["calibrated"]["of"].clone())
    };
    assert_eq!(reused("staircase-new"), (json!(0), json!(2)));
    assert_ne!(reused("staircase").0, json!(0));
    let report = world.expect(0, &["report", "runs/nano-staircase-new"]).stdout;
    // A single pair has no interval over pairs, and an empty share is no 0%.
    assert!(report.contains("on this pair)") && !report.contains("over pairs"), "{report}");
    assert!(!report.contains("repeats a probe"), "{report}");
}

#[test]
fn a_session_does_not_depend_on_which_others_run_beside_it() {
    let (one, two) = (World::new(), World::new());
    one.expect(0, &["bench", "--run", "run", "--samples", "2", "--solvers", "nano-15k,nano-40k"]);
    let alone = ["--samples", "2", "--solvers", "nano-15k,nano-40k", "--concurrency", "1"];
    two.expect(0, &[&["bench", "--run", "run"], &alone[..]].concat());
    assert_eq!(one.folder("run").records(), two.folder("run").records());
    assert_eq!(one.folder("run").grades(), two.folder("run").grades());
}

#[test]
fn ask_shows_a_session_and_stores_it() {
    let world = World::new();
    let ran = world.expect(0, &["ask", "nano-40k", "nano-15k"]);
    assert!(ran.stdout.starts_with("nano-asker asks nano-40k and nano-15k\n"), "{ran}");
    for part in ["── round 1 of 4", "── round 4 of 4", "── final question", "── outcome", "cross-check: "]
    {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
    let folder = world.folder("runs/ask-1");
    let (name, grade) = folder.grades().pop_first().unwrap();
    let record = &folder.records()[&name];
    assert_eq!(record["solvers"], json!(["nano-40k", "nano-15k"]), "Model 1 is the one named first");
    assert_eq!(ran.stdout.lines().last().unwrap().trim(), grade["outcome"].as_str().unwrap());

    world.expect(0, &["ask", "--asker", "fixed"]);
    let next = world.folder("runs/ask-2").records();
    let ends = next.into_keys().next().unwrap();
    assert!(ends.starts_with("nano-15k:nano-2m/"), "the ends of the boundary set: {ends}");
    let short = world.expect(0, &["ask", "nano-15k", "nano-40k", "--rounds", "0", "--run", "mine"]);
    assert!(!short.stdout.contains("round 1"), "{short}");
    assert_eq!(world.folder("mine").records().len(), 1);
}

#[test]
fn config_shows_every_value_and_its_origin() {
    let world = World::new();
    let mut command = world.command(&["config", "--rounds", "2"]);
    let ran = finish(start(command.env("ASKE_RUN_SAMPLES", "3"))).ended(0);
    for line in [
        "protocol.rounds = 2  # --rounds",
        "run.samples = 3  # ASKE_RUN_SAMPLES",
        "asker.model = \"nano-asker\"  # built-in nano",
        "run.order = \"balanced\"  # default",
    ] {
        assert!(ran.stdout.lines().any(|shown| shown == line), "{line}: {ran}");
    }
    world.write("aske.toml", "extends = \"paper-bench\"\n[run]\nsamples = 5\n");
    // A section that no file sets is shown with its defaults.
    let ran = world.expect(0, &["config", "eval"]);
    assert!(ran.stdout.contains("eval.samples = 8  # default\n"), "{ran}");
    let ran = world.expect(0, &["config", "train.steps"]);
    assert_eq!(ran.stdout, "train.steps = 200  # default\n");
    let ran = world.expect(0, &["config", "run.samples"]);
    assert_eq!(ran.stdout, "run.samples = 5  # aske.toml\n");
    let json = world.expect(0, &["config", "run.samples", "--json"]).json();
    assert_eq!(json, json!([{"key": "run.samples", "value": 5, "origin": "aske.toml"}]));
    for name in ["nano", "paper-bench", "paper-train"] {
        world.expect(0, &["config", "--config", name]);
    }
}

#[test]
fn models_lists_and_tries_what_is_configured() {
    let world = World::new();
    let json = world.expect(0, &["models", "--json"]).json();
    let named = |name: &str| -> Value {
        json.as_array().unwrap().iter().find(|model| model["model"] == name).unwrap().clone()
    };
    assert_eq!(json.as_array().unwrap().len(), 13);
    assert_eq!(named("nano-asker")["roles"], json!(["asker"]));
    assert_eq!(named("nano-1m")["roles"], json!(["solver"]));
    assert_eq!(named("nano-1m")["provider"], "local");
    assert_eq!(named("nano-check")["roles"], json!(["check"]));
    assert_eq!(named("nano-1m")["answers"], Value::Null, "nothing was tried");

    let tried = world.expect(0, &["models", "nano-1m", "--json"]).json();
    assert_eq!((tried.as_array().unwrap().len(), &tried[0]["answers"]), (1, &json!(true)));
    let table = world.expect(0, &["models", "--probe"]);
    assert_eq!(table.stdout.matches("a network of").count(), 10, "{table}");

    let paper = world.expect(0, &["models", "--config", "paper-bench"]);
    assert!(paper.stdout.contains("needs GEMINI_API_KEY"), "{paper}");
    // Nothing listens on port 1.
    let unreachable = ["models", "qwen3-4b", "--config", "paper-bench", "-o"];
    let ran =
        world.expect(1, &[&unreachable[..], &["models.qwen3-4b.url=\"http://127.0.0.1:1/v1\""]].concat());
    assert!(ran.stderr.contains("model `qwen3-4b`: network: cannot connect"), "{ran}");
    assert!(ran.stderr.contains("hint: is the server at `models.qwen3-4b.url` up?"), "{ran}");
}

#[test]
fn an_exported_prompt_pack_is_the_built_in_one_until_it_is_edited() {
    let world = World::new();
    let ran = world.expect(0, &["prompts", "export", "mine"]);
    assert!(ran.stdout.starts_with("mine: 19 prompts of the domain math\n"), "{ran}");
    let before = world.expect(0, &["prompts", "check", "mine"]).stdout;
    assert!(before.starts_with("mine: complete, "), "{before}");

    // Scripted solvers: these prompts are longer than the nano world's networks can read.
    world.write("key.jsonl", "{\"reply\": \"\\\\boxed{1}\"}\n");
    let scripted = "provider = \"scripted\"\nscript = \"key.jsonl\"\n";
    world.write(
        "aske.toml",
        &format!(
            "[asker]\nmodel = \"fixed\"\n[models.fixed]\nprovider = \"fixed\"\n[check]\nmodel = \"c\"\n[boundary]\nsolvers = [\"a\", \"b\"]\n[models.a]\n{scripted}[models.b]\n{scripted}[models.c]\n{scripted}"
        ),
    );
    world.expect(0, &["bench", "--run", "run", "--samples", "1"]);
    let with_pack = ["bench", "--run", "run", "--samples", "1", "-o", "protocol.prompts=mine"];
    let same = world.expect(0, &with_pack);
    assert!(same.stderr.contains("all finished before"), "the built-in pack by another way: {same}");

    let edited = format!("{}\nBe brief.\n", world.read("mine/asker_first.txt"));
    world.write("mine/asker_first.txt", &edited);
    assert_ne!(world.expect(0, &["prompts", "check", "mine"]).stdout, before);
    let other = world.expect(2, &with_pack);
    assert!(other.stderr.starts_with("error: run holds another experiment:\n  prompts: "), "{other}");
    let fresh = ["bench", "--run", "fresh", "--samples", "1", "-o", "protocol.prompts=mine"];
    world.expect(0, &fresh);
    let asked = world.folder("fresh").records();
    assert_eq!(asked.len(), 1);

    for domain in ["choice", "number", "text", "nano"] {
        let ran = world.expect(0, &["prompts", "export", domain, "--domain", domain]);
        assert!(ran.stdout.contains(&format!("prompts of the domain {domain}")), "{ran}");
        world.expect(0, &["prompts", "check", domain]);
    }
}

#[test]
fn completions_are_scripts_that_ask_the_program() {
    let world = World::new();
    let bash = world.expect(0, &["completions", "bash"]).stdout;
    world.write("aske.bash", &bash);
    let checked = Command::new("bash").arg("-n").arg(world.path("aske.bash")).status().unwrap();
    assert!(checked.success());
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = world.expect(0, &["completions", shell]);
        assert!(ran.stdout.contains("ASKE_COMPLETE"), "{shell}");
    }
    let mut command = world.command(&["--", "aske", ""]);
    let listed = finish(start(command.env("ASKE_COMPLETE", "fish"))).ended(0).stdout;
    for command in COMMANDS {
        assert!(listed.lines().any(|line| line.split('\t').next() == Some(command)), "{command}: {listed}");
    }
}

#[test]
fn every_command_explains_itself_with_an_example() {
    let world = World::new();
    let whole = world.expect(0, &["--help"]);
    assert!(whole.stdout.contains("First steps:\n  aske bench "), "{whole}");
    for command in COMMANDS {
        assert!(whole.stdout.contains(&format!("\n  {command} ")), "{command} is not in the list: {whole}");
        for arguments in [[command, "--help"], ["help", command]] {
            let ran = world.expect(0, &arguments);
            let example = ran.stdout.lines().any(|line| {
                line.starts_with(&format!("  aske {command} "))
                    || line.trim_end() == format!("  aske {command}")
            });
            assert!(ran.stdout.contains("Example") && example, "{ran}");
        }
    }
    let version = world.expect(0, &["--version"]);
    assert_eq!(version.stdout, format!("aske {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let world = World::new();
    let bench = quick("bench", &["--samples", "1"]);
    let other = quick("bench", &["--seed", "9"]);
    let commands: [&[&str]; 8] = [
        &bench,
        &["bench", "--dry-run"],
        &["ask", "nano-15k", "nano-40k"],
        &["config"],
        &["models", "--probe"],
        &other,
        &["bench", "--pairs", "none"],
        &["--help"],
    ];
    let escapes = |ran: &common::Ran| ran.stdout.contains('\u{1b}') || ran.stderr.contains('\u{1b}');
    for arguments in commands {
        let piped = world.run(arguments);
        assert!(!escapes(&piped), "{arguments:?}: {piped}");
    }
    let forced = finish(start(world.command(commands[0]).env("CLICOLOR_FORCE", "1"))).ended(0);
    assert!(escapes(&forced), "colours can be asked for: {forced}");
    let refused = finish(start(world.command(commands[0]).env("NO_COLOR", "1"))).ended(0);
    assert!(!escapes(&refused), "{refused}");
}

#[test]
fn a_reader_who_leaves_is_no_error() {
    let world = World::new();
    let mut child = start(&mut world.command(&["config", "--config", "paper-bench"]));
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let status = world.command(&["completions", "bash"]).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
}
