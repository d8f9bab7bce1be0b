//! Models of the user: named by provider, address or path, and `aske init`.

mod common;

use aske_testkit::{RawServer, TestServer, response};
use common::{Ran, World, finish, server, start};

/// Runs the program with a test server as ollama.
fn with_ollama(world: &World, server: &TestServer, arguments: &[&str]) -> Ran {
    finish(start(world.command(arguments).env("OLLAMA_HOST", server.address().to_string())))
}

/// The program without keys and addresses of providers in its environment.
fn without_keys(world: &World, arguments: &[&str]) -> Ran {
    let mut command = world.command(arguments);
    for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY"] {
        command.env_remove(name);
    }
    // Nothing listens on port 1.
    finish(start(command.env("OLLAMA_HOST", "127.0.0.1:1").env("VLLM_BASE_URL", "http://127.0.0.1:1/v1")))
}

/// A server that lists these models and answers every question with `5`.
fn listing(names: &'static [&'static str]) -> RawServer {
    RawServer::start(move |seen| {
        let body = if seen.head.starts_with("GET ") {
            let models: Vec<_> = names.iter().map(|name| serde_json::json!({ "id": name })).collect();
            serde_json::json!({ "data": models })
        } else {
            serde_json::json!({
                "choices": [{ "message": { "content": "5\u{1b}[31m" }, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": 12, "completion_tokens": 1 },
            })
        };
        response(200, "", body.to_string().as_bytes())
    })
}

#[test]
fn a_whole_benchmark_is_named_on_the_command_line() {
    let (world, server) = (World::new(), server(0));
    let arguments = [
        "bench",
        "--asker",
        "ollama/asker",
        "--check",
        "ollama/check",
        "--solvers",
        "ollama/solver-50,ollama/solver-100",
        "--samples",
        "2",
        "--rounds",
        "1",
    ];
    let ran = with_ollama(&world, &server, &arguments).ended(0);
    assert!(ran.stderr.contains("ollama-asker asks 2 solvers: 2 sessions"), "{ran}");
    assert!(ran.stderr.contains("-o protocol.asker_tokens=4000"), "the nano configuration allows 400: {ran}");
    let folder = world.folder("runs/nano-ollama-asker");
    assert_eq!(folder.records().len(), 2);
    assert!(folder.records().keys().all(|name| name.starts_with("ollama-solver-100:ollama-solver-50/")));
    // The run does not need the names again.
    let run = "runs/nano-ollama-asker";
    let regraded = with_ollama(&world, &server, &["regrade", run, "--check", "ollama/check"]).ended(0);
    assert!(world.path("runs/nano-ollama-asker/grades/ollama-check.jsonl").is_file(), "{regraded}");
    world.expect(0, &["report", run]);
    // Running it again calls nobody, so the server may be gone.
    let calls = server.stats().requests;
    drop(server);
    let again = without_keys(&world, &arguments).ended(0);
    assert!(again.stderr.contains("all finished before"), "{again}");
    assert!(calls > 0);
}

#[test]
fn every_command_takes_every_kind_of_name() {
    let (world, server) = (World::new(), server(0));
    let url = server.url();
    let at = |model: &str| format!("{url}#{model}");
    let ran = with_ollama(
        &world,
        &server,
        &[
            "ask",
            "ollama/solver-50",
            &at("solver-100"),
            "--asker",
            &at("asker"),
            "--check",
            "ollama/check",
            "--rounds",
            "1",
        ],
    );
    assert!(ran.stdout.starts_with("asker asks ollama-solver-50 and solver-100\n"), "{ran}");
    assert_eq!(ran.code, Some(0), "{ran}");
    let ran =
        with_ollama(&world, &server, &["eval", "ollama/check", "--limit", "2", "--samples", "1"]).ended(0);
    assert!(world.path("runs/eval-ollama-check/run.toml").is_file(), "{ran}");
    let models =
        with_ollama(&world, &server, &["models", "ollama/check", &at("asker"), "--json"]).ended(0).json();
    let names: Vec<&str> =
        models.as_array().unwrap().iter().map(|model| model["model"].as_str().unwrap()).collect();
    assert_eq!(names, ["asker", "ollama-check"]);
    // A configuration names models alike.
    world.write(
        "aske.toml",
        "extends = \"nano\"\n[asker]\nmodel = \"ollama/asker\"\n[boundary]\nsolvers = [\"ollama/solver-50\", \"mine/solver-100\"]\n\
         [check]\nmodel = \"mine/check\"\n[providers.mine]\nurl = \"http://127.0.0.1:1/v1\"\nurl_env = \"MINE_URL\"\n",
    );
    let mut command = world.command(&["bench", "--limit", "1", "--rounds", "1"]);
    command.env("OLLAMA_HOST", server.address().to_string()).env("MINE_URL", server.url());
    let ran = finish(start(&mut command)).ended(0);
    assert_eq!(world.folder("runs/aske-ollama-asker").records().len(), 1);
    // The command that it suggests next works.
    assert!(ran.stderr.contains("`aske ask ollama-solver-50 mine-solver-100 --rounds 1`"), "{ran}");
    let mut next = world.command(&["ask", "ollama-solver-50", "mine-solver-100", "--rounds", "1"]);
    next.env("OLLAMA_HOST", server.address().to_string()).env("MINE_URL", server.url());
    finish(start(&mut next)).ended(0);
    let mut ends = world.command(&["ask", "--rounds", "1"]);
    ends.env("OLLAMA_HOST", server.address().to_string()).env("MINE_URL", server.url());
    finish(start(&mut ends)).ended(0);
}

#[test]
fn what_is_missing_is_named_before_anything_is_created() {
    let world = World::new();
    for (word, said, hint) in [
        ("openai/gpt-5", "OPENAI_API_KEY is not set", "export OPENAI_API_KEY=…"),
        ("gemini/gemini-2.5-pro", "GEMINI_API_KEY is not set", "export GEMINI_API_KEY=…"),
        ("ollama/qwen3:0.6b", "http://127.0.0.1:1/v1: cannot connect", "start it with `ollama serve`"),
        ("vllm/org/model", "http://127.0.0.1:1/v1: cannot connect", "start it with `vllm serve org/model`"),
        ("opnai/gpt-5", "unknown provider `opnai`", "did you mean `openai`?"),
        ("gpt-5", "unknown model `gpt-5`", "name its provider: openai/gpt-5"),
        ("http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1: cannot connect", "is the server running"),
    ] {
        for arguments in [
            &["bench", "--asker", word][..],
            &["ask", "nano-15k", "nano-40k", "--check", word],
            &["eval", word],
            &["eval", "nano-asker", "--judge", word],
            &["difficulty", "--asker", word],
        ] {
            let ran = without_keys(&world, arguments).ended(2);
            assert!(ran.stderr.contains(said) && ran.stderr.contains(hint), "{arguments:?}: {ran}");
            assert_eq!(ran.stdout, "", "{ran}");
        }
    }
    assert!(std::fs::read_dir(world.path(".")).unwrap().next().is_none(), "nothing was created");
}

#[test]
fn a_local_server_without_the_model_says_what_it_has() {
    let (world, server) = (World::new(), server(0));
    let ran = with_ollama(&world, &server, &["bench", "--asker", "ollama/askr"]).ended(2);
    assert!(ran.stderr.contains("has no model `askr`; it offers asker, check, equiv"), "{ran}");
    assert!(ran.stderr.contains("hint: did you mean `asker`? Otherwise: ollama pull askr"), "{ran}");
    assert!(!world.path("runs").exists(), "{ran}");
}

#[test]
fn a_server_with_one_model_needs_no_name() {
    let (world, several, one) = (World::new(), server(0), listing(&["org/only"]));
    let ran = world.run(&["models", &one.url(), "--json"]);
    assert_eq!(ran.json()[0]["model"], "only", "{ran}");
    let ran = world.expect(2, &["bench", "--asker", &several.url()]);
    assert!(
        ran.stderr.contains("which model of this server? It offers asker, check, equiv, solver-50"),
        "{ran}"
    );
    assert!(ran.stderr.contains(&format!("append its name: {}#asker", several.url())), "{ran}");
}

#[test]
fn the_cost_of_a_model_without_a_price_is_unknown() {
    let (world, server) = (World::new(), server(0));
    let run = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        finish(start(command.env("OPENAI_BASE_URL", server.url()).env("OPENAI_API_KEY", "sk-0123456789")))
    };
    let dry = run(&["bench", "--asker", "openai/asker", "--dry-run"]).ended(0);
    assert!(
        dry.stdout.contains("price unknown") && dry.stderr.contains("price unknown: openai-asker"),
        "{dry}"
    );
    let priced = run(&["bench", "--asker", "openai/gpt-5", "--dry-run"]).ended(0);
    assert!(!priced.stdout.contains("price unknown") && !priced.stderr.contains("price unknown"), "{priced}");
    let solvers = ["--solvers", "nano-15k,nano-40k", "--limit", "1", "--rounds", "0"];
    let ran = run(&[&["bench", "--asker", "openai/asker"], &solvers[..]].concat()).ended(0);
    assert!(ran.stderr.contains("price unknown: openai-asker; not part of the cost"), "{ran}");
    let stored = world.read("runs/nano-openai-asker/run.toml");
    assert!(stored.contains("OPENAI_API_KEY") && !stored.contains("sk-0123456789"), "{stored}");
    assert!(!stored.contains("[config.providers"), "{stored}");
}

#[test]
fn providers_are_listed_with_their_models() {
    let (world, server) = (World::new(), server(0));
    let table = without_keys(&world, &["models", "providers"]).ended(0);
    assert!(
        table.stdout.contains("https://api.openai.com/v1") && table.stdout.contains("needs OPENAI_API_KEY"),
        "{table}"
    );
    let listed = with_ollama(&world, &server, &["models", "providers", "ollama"]).ended(0);
    assert_eq!(
        listed.stdout,
        "ollama/asker\nollama/check\nollama/equiv\nollama/solver-50\nollama/solver-100\n"
    );
    let missing = without_keys(&world, &["models", "providers", "openai"]).ended(2);
    assert!(missing.stderr.contains("export OPENAI_API_KEY=…"), "{missing}");
    let wrong = without_keys(&world, &["models", "providers", "olama"]).ended(2);
    assert!(wrong.stderr.contains("did you mean `ollama`?"), "{wrong}");
    // The bundled table is shown only if it is asked for.
    let config = world.expect(0, &["config"]);
    assert!(!config.stdout.contains("providers."), "{config}");
    assert!(world.expect(0, &["config", "providers.xai"]).stdout.contains("https://api.x.ai/v1"));
}

#[test]
fn init_writes_a_configuration_that_runs() {
    let (world, server) = (World::new(), server(0));
    let ran = with_ollama(&world, &server, &["init", "--provider", "ollama", "--model", "asker"]).ended(0);
    assert!(ran.stderr.contains("smoke test: 5 sessions"), "{ran}");
    assert!(ran.stderr.contains("`aske bench --limit 5` runs it"), "{ran}");
    assert!(world.read("aske.toml").contains("model = \"ollama/asker\""));
    assert!(!world.path("runs").exists(), "nobody asked for sessions");
    let again = with_ollama(&world, &server, &["init", "--provider", "ollama", "--model", "check"]).ended(2);
    assert!(again.stderr.contains("aske.toml exists, and is left as it is"), "{again}");
    assert!(world.read("aske.toml").contains("ollama/asker"));
    let url = server.url();
    let solvers = ["--solvers", "solver-50,solver-100", "--force", "--smoke-test"];
    let ran =
        with_ollama(&world, &server, &[&["init", "--url", &url, "--model", "asker"], &solvers[..]].concat())
            .ended(0);
    assert!(ran.stdout.contains("5 sessions graded"), "{ran}");
    assert!(
        world.read("aske.toml").contains(&format!("solvers = [\"{url}#solver-50\", \"{url}#solver-100\"]"))
    );
    assert_eq!(world.folder("runs/aske-asker").records().len(), 5);
}

#[test]
fn models_of_two_servers_with_one_name_are_two_experiments() {
    let (world, one, two) = (World::new(), server(0), server(0));
    let bench = |server: &TestServer| {
        let named = format!("{}#asker", server.url());
        world.run(&["bench", "--asker", &named, "--limit", "1"]).ended(0)
    };
    bench(&one);
    let ran = bench(&two);
    assert!(ran.stderr.contains("so this run goes into runs/nano-asker-2"), "{ran}");
    assert!(ran.stderr.contains(&format!("{} in the folder, {} now", one.url(), two.url())), "{ran}");
    assert!(bench(&one).stderr.contains("all finished before"));
}

#[test]
fn init_takes_a_whole_name_and_writes_only_what_is_valid() {
    let (world, server) = (World::new(), server(0));
    let named = format!("{}#asker", server.url());
    let ran = world.run(&["init", "--url", &server.url(), "--model", "asker", "--solvers", "asker,asker"]);
    assert!(ran.ended(2).stderr.contains("named twice"));
    assert!(!world.path("aske.toml").exists() && !world.path("aske.toml.new").exists());
    world.run(&["init", "--url", &named]).ended(0);
    assert!(world.read("aske.toml").contains(&format!("model = \"{named}\"")));
    let secret = "http://user:hunter2@127.0.0.1:1/v1";
    let ran = world.run(&["init", "--force", "--url", secret]).ended(2);
    assert!(!ran.stderr.contains("hunter2"), "{ran}");
}

#[test]
fn init_without_a_terminal_says_what_it_needs() {
    let (world, server, one) = (World::new(), server(0), listing(&["org/only"]));
    let ran = without_keys(&world, &["init"]).ended(2);
    assert!(ran.stderr.contains("aske init --provider NAME --model MODEL"), "{ran}");
    let ran = without_keys(&world, &["init", "--provider", "openai", "--model", "gpt-5"]).ended(2);
    assert!(ran.stderr.contains("export OPENAI_API_KEY=…"), "{ran}");
    let ran = without_keys(&world, &["init", "--provider", "ollama", "--model", "m"]).ended(2);
    assert!(ran.stderr.contains("start it with `ollama serve`"), "{ran}");
    let ran = without_keys(&world, &["init", "--url", &server.url()]).ended(2);
    assert!(ran.stderr.contains("offers asker, check"), "{ran}");
    let ran = without_keys(&world, &["init", "--url", &server.url(), "--model", "chek"]).ended(2);
    assert!(ran.stderr.contains("did you mean `check`?"), "{ran}");
    assert!(std::fs::read_dir(world.path(".")).unwrap().next().is_none(), "nothing was created");
    // The only model of a server is taken, and its reply is shown without its control characters.
    let ran = without_keys(&world, &["init", "--url", &one.url()]).ended(0);
    assert!(
        ran.stderr.contains("it wrote `5[31m` in ") && ran.stderr.contains("12 tokens read and 1 written"),
        "{ran}"
    );
    assert!(world.read("aske.toml").contains("#org/only\""));
}

#[test]
fn shells_complete_names() {
    let world = World::new();
    world.write("aske.toml", "extends = \"nano\"\n[sets.mine]\nsolvers = [\"nano-15k\", \"nano-40k\"]\n");
    std::fs::create_dir_all(world.path("runs/first")).unwrap();
    std::fs::write(world.path("runs/first/run.toml"), "").unwrap();
    let complete = |words: &[&str]| {
        let mut command = world.command(&[&["--", "aske"], words].concat());
        command.env("ASKE_COMPLETE", "fish");
        let ran = finish(start(&mut command)).ended(0);
        ran.stdout
            .lines()
            .map(|line| line.split('\t').next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let has = |words: &[&str], name: &str| complete(words).iter().any(|found| found == name);
    assert!(
        has(&["bench", "--asker", "nano-as"], "nano-asker"),
        "{:?}",
        complete(&["bench", "--asker", "nano-as"])
    );
    assert!(has(&["bench", "--asker", "openai/gpt-5-m"], "openai/gpt-5-mini"));
    assert!(has(&["ask", "oll"], "ollama/"));
    assert!(has(&["bench", "--set", ""], "mine") && has(&["bench", "--set", ""], "nano"));
    assert!(has(&["bench", "--config", "paper-b"], "paper-bench"));
    assert!(has(&["models", "--config", "paper-bench", "gemini-3.1-p"], "gemini-3.1-pro"));
    assert!(has(&["report", "runs/f"], "runs/first"));
    assert!(has(&["init", "--provider", "olla"], "ollama"));
}
