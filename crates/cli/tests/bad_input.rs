//! Wrong input: one error that says what and where, one hint that says what to do, exit status 2.

mod common;

use common::{Config, World, finish, server, start, wait_until};
use insta::assert_snapshot;

/// What the program says before it gives up with status 2, having printed no data.
fn refused(world: &World, arguments: &[&str]) -> String {
    let ran = world.expect(2, arguments);
    assert_eq!(ran.stdout, "", "{ran}");
    assert_eq!(ran.stderr.matches("error:").count(), 1, "{ran}");
    assert_eq!(ran.stderr.matches("hint:").count(), 1, "{ran}");
    ran.stderr
}

/// A world whose server is never asked.
fn world() -> World {
    let server = server(0);
    World::with(&Config::new(&server, &[30, 60, 90]))
}

#[test]
fn an_unknown_key_is_named_by_line_with_a_suggestion() {
    let world = World::new();
    world.write("my.toml", "[protocol]\nrounds = 4\n\n[run]\nsampels = 3\n");
    assert_snapshot!(refused(&world, &["bench", "--config", "my.toml"]), @r"
    error: my.toml:5: unknown key `sampels`
    hint: did you mean `samples`?
    ");
    assert_snapshot!(refused(&world, &["bench", "-o", "run.sampels=3"]), @r"
    error: --override run.sampels=3: unknown key `sampels`
    hint: did you mean `samples`?
    ");
    assert_snapshot!(refused(&world, &["bench", "-o", "samples"]), @r"
    error: --override samples: expected KEY=VALUE
    hint: for example run.samples=3
    ");
    let ran = finish(start(world.command(&["bench"]).env("ASKE_RUN_SAMPELS", "3"))).ended(2);
    assert_snapshot!(ran.stderr, @r"
    error: ASKE_RUN_SAMPELS: unknown key `sampels`
    hint: did you mean `samples`?
    ");
}

#[test]
fn a_model_without_provider_is_named() {
    let world = world();
    let text =
        world.read("aske.toml").replace("[models.solver-60]\nprovider = \"openai\"", "[models.solver-60]");
    world.write("aske.toml", &text);
    assert_snapshot!(refused(&world, &["bench"]), @r#"
    error: models.solver-60: no provider
    hint: set `provider` to "openai", "local", "llama", "scripted", "staircase" or "fixed"
    "#);
}

#[test]
fn an_unknown_model_is_named_with_a_suggestion() {
    let world = world();
    assert_snapshot!(refused(&world, &["bench", "--pairs", "solver-30:solver-61"]), @r"
    error: --pairs solver-30:solver-61: `solver-61` is not a boundary solver of this run
    hint: did you mean `solver-60`?
    ");
    assert_snapshot!(refused(&world, &["bench", "--pairs", "check"]), @r"
    error: --pairs check: `check` is not a boundary solver of this run
    hint: the boundary solvers are solver-30, solver-60, solver-90
    ");
    assert_snapshot!(refused(&world, &["bench", "--asker", "oracle"]), @r"
    error: asker.model: unknown model `oracle`
    hint: name PROVIDER/MODEL, URL#MODEL, a GGUF file, a checkpoint folder or a configured model; `aske models` lists what is configured
    ");
    assert_snapshot!(refused(&world, &["models", "chek"]), @r"
    error: unknown model `chek`
    hint: did you mean `check`?
    ");
}

#[test]
fn three_names_are_no_pair() {
    let said = refused(&world(), &["bench", "--pairs", "solver-30:solver-60:solver-90"]);
    assert!(said.starts_with("error: --pairs"), "{said}");
}

#[test]
fn fewer_than_two_solvers_make_no_pair() {
    let world = world();
    assert_snapshot!(refused(&world, &["bench", "--solvers", "solver-30"]), @r"
    error: boundary.solvers: a pair needs two solvers, and one is named
    hint: name at least two in `boundary.solvers`, or a `boundary.set`
    ");
    assert_snapshot!(refused(&world, &["bench", "--set", "full"]), @r"
    error: boundary.set: unknown set `full`
    hint: define [sets.full], or extend a file that does, such as paper-models
    ");
    assert_snapshot!(refused(&world, &["ask", "solver-30", "solver-30"]), @r"
    error: boundary.solvers: a solver is named twice
    hint: name each solver once
    ");
    assert_snapshot!(refused(&world, &["ask", "solver-30"]), @r"
    error: a session needs two solvers
    hint: name both: aske ask A B
    ");
    assert!(!world.path("runs").exists(), "nothing was begun");
}

#[test]
fn a_number_out_of_range_is_named() {
    let world = world();
    for (flag, value, key) in [
        ("--samples", "0", "run.samples"),
        ("--concurrency", "0", "run.concurrency"),
        ("--budget-tokens", "0", "run.budget_tokens"),
        ("--budget-usd", "0", "run.budget_usd"),
    ] {
        let said = refused(&world, &["bench", flag, value]);
        assert!(said.starts_with(&format!("error: {key}: must be ")), "{said}");
    }
}

#[test]
fn a_seed_beyond_the_range_of_the_format_is_refused_and_not_changed() {
    let world = world();
    let largest = world.expect(0, &["config", "run.seed", "--seed", "9223372036854775807"]);
    assert_eq!(largest.stdout, "run.seed = 9223372036854775807  # --seed\n");
    let ran = world.expect(2, &["bench", "--dry-run", "--seed", "9223372036854775808"]);
    assert!(ran.stderr.contains("--seed"), "{ran}");
}

#[cfg(unix)]
#[test]
fn a_variable_of_others_that_is_no_text_does_no_harm() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    finish(start(world.command(&["config"]).env("SOMETHING_ELSE", odd))).ended(0);
}

#[test]
fn an_unusable_prompt_pack_is_named_by_file_and_line() {
    let world = world();
    let prompts = ["bench", "-o", "protocol.prompts=prompts"];
    assert_snapshot!(refused(&world, &prompts), @r"
    error: prompts: No such file or directory
    hint: `aske prompts export prompts` writes a complete pack to start from
    ");
    world.expect(0, &["prompts", "export", "prompts"]);
    std::fs::remove_file(world.path("prompts/no_reply.txt")).unwrap();
    let final_turn = format!("One\ntwo {{{{boundary_c_answer}}}}\n{}", world.read("prompts/asker_final.txt"));
    world.write("prompts/asker_final.txt", &final_turn);
    let expected = refused(&world, &prompts);
    assert_snapshot!(expected, @r"
    error: prompts: the prompt pack is not usable:
      asker_final.txt:2: unknown placeholder {{boundary_c_answer}}; it may use {{boundary_a_answer}}, {{boundary_b_answer}}, {{num_probing}}, {{structure}}
      no_reply.txt: missing file
    hint: `aske prompts export prompts` writes a complete pack to start from
    ");
    assert_eq!(refused(&world, &["prompts", "check", "prompts"]), expected);
    world.expect(0, &["prompts", "export", "mute"]);
    world.write("mute/asker_system.txt", "Ask a hard question.");
    assert_snapshot!(refused(&world, &["prompts", "check", "mute"]), @r"
    error: mute: the prompts do not tell the asker what to write:
      asker_system.txt: the asker must be told to write #Reasoning#, #Draft#, #Question#
      asker_system.txt: the asker must be told the number of probing rounds: {{num_probing}}, here or in asker_first.txt
    hint: `aske prompts export FOLDER` writes a complete pack to compare with
    ");
    assert_snapshot!(refused(&world, &["prompts", "export", "prompts"]), @r"
    error: prompts is not empty
    hint: name a new folder, so that nothing you edited is overwritten
    ");
}

#[test]
fn a_run_folder_of_another_version_is_left_alone() {
    let world = World::new();
    world.expect(0, &["bench", "--run", "run", "--limit", "1"]);
    let manifest = world.read("run/run.toml");
    assert!(manifest.starts_with("schema = 1\n"), "{manifest}");
    let newer = manifest.replacen("schema = 1\naske = \"0.1.0\"", "schema = 99\naske = \"7.0.0\"", 1);
    assert_ne!(newer, manifest);
    world.write("run/run.toml", &newer);
    assert_snapshot!(refused(&world, &["bench", "--run", "run"]), @r"
    error: run was written by aske 7.0.0 in format 99; this is format 1
    hint: use the aske that wrote it, or choose another folder with --run
    ");
    assert_eq!(world.read("run/run.toml"), newer);
}

#[test]
fn a_run_folder_of_another_configuration_is_left_alone() {
    let world = World::new();
    world.expect(0, &["bench", "--run", "run", "--limit", "1", "--seed", "4"]);
    let manifest = world.read("run/run.toml");
    assert_snapshot!(refused(&world, &["bench", "--run", "run", "--seed", "5"]), @r"
    error: run holds another experiment:
      seed: 4 in the folder, 5 now
    hint: to continue that run, restore these values; for a new one, choose another folder with --run; samples, solvers, addresses, limits, prices and budgets may change
    ");
    let said = refused(&world, &["bench", "--run", "run", "--seed", "4", "--rounds", "2"]);
    assert!(
        said.starts_with("error: run holds another experiment:\n  rounds: 4 in the folder, 2 now\nhint: "),
        "{said}"
    );
    assert_eq!(world.read("run/run.toml"), manifest);
}

#[test]
fn a_broken_line_of_a_run_folder_is_named() {
    let world = World::new();
    world.expect(0, &["bench", "--run", "run", "--limit", "2"]);
    let records = world.read("run/records.jsonl");
    let (first, rest) = records.split_once('\n').unwrap();
    world.write("run/records.jsonl", &format!("{}\n{rest}", &first[..40]));
    let said = refused(&world, &["bench", "--run", "run"]);
    assert!(said.starts_with("error: run/records.jsonl:1: "), "{said}");
    assert!(
        said.ends_with(
            "hint: the file was changed by hand or damaged; `aske repair` with this folder sets the line aside and rebuilds \
             what it can from stored replies\n"
        ),
        "{said}"
    );
}

#[test]
fn an_unknown_flag_or_value_is_explained() {
    let world = World::new();
    let ran = world.expect(2, &["bench", "--sample", "3"]);
    assert!(ran.stderr.starts_with("error: unexpected argument '--sample' found\n"), "{ran}");
    assert!(ran.stderr.contains("tip: a similar argument exists: '--samples'"), "{ran}");
    let ran = world.expect(2, &["bensh"]);
    assert!(ran.stderr.starts_with("error: unrecognized subcommand 'bensh'\n"), "{ran}");
    for shard in ["0/3", "4/3", "3", "x/y", "1/0"] {
        let ran = world.expect(2, &["bench", "--shard", shard]);
        let expected = format!(
            "error: invalid value '{shard}' for '--shard <PART/PARTS>': `{shard}` is not a shard; write the part \
             and the number of parts, such as 3/8\n"
        );
        assert!(ran.stderr.starts_with(&expected), "{ran}");
    }
    let ran = world.expect(2, &["merge", "into"]);
    assert!(ran.stderr.contains("<RUNS>..."), "{ran}");
}

#[test]
fn an_unknown_configuration_is_named_with_a_suggestion() {
    let world = World::new();
    assert_snapshot!(refused(&world, &["bench", "--config", "papre-bench"]), @r"
    error: papre-bench: no such configuration
    hint: did you mean the built-in `paper-bench`?
    ");
    assert_snapshot!(refused(&world, &["bench", "--config", "mine/x.toml"]), @r"
    error: mine/x.toml: no such configuration
    hint: name a file, or a built-in configuration: gpu-train, local, nano, nano-train, paper-bench, paper-train
    ");
    assert_snapshot!(refused(&world, &["config", "rum"]), @r"
    error: no key starts with `rum`
    hint: `aske config` without a prefix shows all keys
    ");
}

#[test]
fn a_key_that_is_not_set_is_asked_for() {
    let server = server(0);
    let keys = "api_key_env = \"KEY_OF_THE_TEST\"".to_owned();
    let world = World::with(&Config { keys, ..Config::new(&server, &[30, 60]) });
    assert_snapshot!(refused(&world, &["bench"]), @r"
    error: models.asker.api_key_env: the environment variable KEY_OF_THE_TEST is not set
    hint: export KEY_OF_THE_TEST=… with the key of this provider
    ");
    assert!(!world.path("runs").exists(), "nothing was begun");
    let ran = world.expect(0, &["bench", "--dry-run"]);
    assert!(ran.stdout.starts_with("2 sessions"), "a plan needs no key: {ran}");
}

#[test]
fn an_address_with_a_secret_is_refused_without_repeating_it() {
    let world = world();
    for url in ["https://user:hunter2@host/v1", "https://host/v1?key=hunter2"] {
        let said = refused(&world, &["bench", "-o", &format!("models.check.url=\"{url}\"")]);
        let expected = "error: models.check: the address of `host` contains credentials or a query\n";
        assert!(said.starts_with(expected), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn a_folder_in_use_is_left_to_its_user() {
    let server = server(60_000);
    let world = World::with(&Config::new(&server, &[30, 60]));
    let mut first = world.start(&["bench", "--run", "run", "--no-probe"]);
    wait_until("the first has begun", || server.stats().requests > 0);
    let said = refused(&world, &["bench", "--run", "run"]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_snapshot!(said, @r"
    error: run is in use by another aske
    hint: wait for it to end, or choose another folder with --run
    ");
}

#[test]
fn a_broken_script_is_named_by_line() {
    let world = World::new();
    world.write("my.jsonl", "{\"reply\": \"fine\"}\n{\"repyl\": \"not\"}\n");
    world.write(
        "aske.toml",
        "extends = \"nano\"\n[models.nano-1m]\nprovider = \"scripted\"\nscript = \"my.jsonl\"\n",
    );
    assert_snapshot!(refused(&world, &["bench"]), @r"
    error: my.jsonl: line 2: unknown key `repyl`; known are `reply`, `replies`, `when`, `system`, `reasoning`, `finish`, `delay_ms`
    hint: each line is a JSON object with `reply` or `replies`, and optionally `when`
    ");
}

#[test]
fn a_script_that_is_not_there_is_named() {
    let world = World::new();
    world.write(
        "aske.toml",
        "extends = \"nano\"\n[models.nano-1m]\nprovider = \"scripted\"\nscript = \"none.jsonl\"\n",
    );
    let said = refused(&world, &["bench"]);
    let expected = "error: models.nano-1m.script: none.jsonl: No such file or directory\nhint: ";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn a_local_model_without_its_files_is_named() {
    let world = World::new();
    let said = |path: &str| {
        world.write("aske.toml", &format!("extends = \"nano\"\n[models.nano-1m]\npath = \"{path}\"\n"));
        refused(&world, &["bench"])
    };
    let folder = said("nowhere");
    assert!(
        folder.starts_with("error: models.nano-1m.path: nowhere/config.json: cannot be read: "),
        "{folder}"
    );
    let shipped = said("builtin:nano-1g");
    assert!(
        shipped.contains("there is no bundled network `nano-1g`\nhint: `path` is a folder with config.json"),
        "{shipped}"
    );
    world.write("aske.toml", "extends = \"nano\"\n[protocol]\nprompts = \"builtin:none\"\n");
    let pack = refused(&world, &["bench"]);
    assert_eq!(
        pack,
        "error: none: no built-in prompt pack has this name\nhint: there are builtin:nano, builtin:small\n"
    );
    world.write("aske.toml", "extends = \"nano\"\n[models.staircase]\nlevels = 9\n");
    let levels = refused(&world, &["bench", "--asker", "staircase"]);
    assert!(levels.starts_with("error: models.staircase.levels: must be from 1 to 8\nhint: "), "{levels}");
}

#[test]
fn an_asker_that_only_asks_is_no_solver_and_no_cross_check() {
    let world = World::new();
    assert_snapshot!(refused(&world, &["bench", "--check", "staircase"]), @r"
    error: check.model: `staircase` can only ask
    hint: name a model that answers; `aske models` lists them
    ");
    let solver = refused(&world, &["bench", "--solvers", "fixed,nano-1m"]);
    assert!(solver.starts_with("error: boundary.solvers: `fixed` can only ask\nhint: "), "{solver}");
    let domain = refused(&world, &["bench", "--asker", "fixed", "-o", "protocol.domain=choice"]);
    assert!(domain.starts_with("error: asker.model: `fixed` asks mathematics only\nhint: "), "{domain}");
    let device = refused(&world, &["nano", "train", "--device", "cuda"]);
    assert!(device.starts_with("error: this program cannot train on `cuda`\nhint: "), "{device}");
    let folder = refused(&world, &["nano", "table", "--measure", "--weights", "nowhere"]);
    assert!(folder.starts_with("error: nowhere contains none of the networks\nhint: "), "{folder}");
    let name = refused(&world, &["nano", "table", "--only", "nope"]);
    assert!(name.starts_with("error: unknown network `nope`\nhint: choose from nano-15k, "), "{name}");
}
