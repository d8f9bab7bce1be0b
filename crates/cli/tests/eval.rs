//! `aske eval` from outside: the paper's suite against a server, killed and gone on with; runs that grow, are compared,
//! reported and exported.
mod common;

use common::datasets::{hub_cache, problem};
use common::{Config, World, finish, server, settled, start, wait_until};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;

/// Samples in flight at most.
const AT_ONCE: u32 = 32;

/// The samples of a run folder, by name.
fn samples(world: &World, run: &str) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(world.path(&format!("{run}/records.jsonl"))).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut found = BTreeMap::new();
    for line in lines {
        assert_eq!(line["kind"], "eval");
        let name = format!("{}/{}/{}", line["dataset"], line["problem"], line["sample"]);
        assert!(found.insert(name.clone(), line).is_none(), "{name} is there twice");
    }
    found
}

#[cfg(unix)]
#[test]
fn the_suite_of_550_problems_and_8_samples_goes_on_after_a_kill_and_asks_nothing_twice() {
    use std::os::unix::process::ExitStatusExt;
    let server = server(1);
    let config = Config {
        equivalence: Some("equiv".to_owned()),
        concurrency: AT_ONCE,
        ..Config::new(&server, &[60, 90])
    };
    let world = World::with(&config);
    hub_cache(&world.path("hub"));
    let arguments = ["eval", "solver-60", "--data", "paper", "--judge", "equiv", "--run", "run"];
    let command = |more: &[&str]| -> Command {
        let mut command = world.command(&[&arguments, more].concat());
        command.env("HF_HUB_CACHE", world.path("hub")).env("HF_HUB_OFFLINE", "1");
        command
    };
    let mut child = start(&mut command(&[]));
    wait_until("a third of the samples is answered", || {
        assert_eq!(child.try_wait().unwrap(), None, "the run ended before it could be killed");
        server.stats().good >= 1500
    });
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    let folder = world.folder("run");
    let kept = folder.replies();
    let lost = settled(&server).good - folder.stored();
    assert!(lost <= u64::from(AT_ONCE), "{lost} replies were under way");

    let ran = finish(start(&mut command(&["--json"]))).ended(0);
    let now = folder.replies();
    assert!(kept.iter().all(|(place, reply)| now.get(place) == Some(reply)), "what was stored stays");
    let stats = settled(&server);
    assert_eq!(folder.probes(), 4, "the model and its judge, at both starts");
    assert_eq!(stats.good, folder.stored() + lost, "only what was lost on its way is asked again");
    assert_eq!((stats.distinct_good, stats.repeated_good), (folder.stored(), lost));

    let found = samples(&world, "run");
    assert_eq!(found.len(), 550 * 8);
    let told = ran.json();
    let datasets: Vec<(&str, u64, u64)> = told["scores"]["datasets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let number = |key: &str| one[key].as_u64().unwrap();
            (one["title"].as_str().unwrap(), number("problems"), number("judged"))
        })
        .collect();
    assert_eq!(
        datasets,
        [
            ("AIME (2022–2024)", 90, 0),
            ("AIME 2025", 30, 0),
            ("HMMT 2025", 30, 0),
            ("IMO AnswerBench", 400, 3200)
        ]
    );
    let average = |place: usize| told["scores"]["datasets"][place]["average"]["value"].as_f64().unwrap();
    assert!((average(0) - 0.6).abs() < 0.06, "the solver is right in 60% of cases: {}", average(0));
    assert!(average(3).abs() < 1e-9, "the judge says no to everything");
    assert_eq!(told["scores"]["pooled"]["problems"], 550);

    let requests = stats.requests;
    let ran = finish(start(&mut command(&[]))).ended(0);
    assert!(ran.stderr.contains("4,400 samples, all finished before"), "{ran}");
    assert_eq!(server.stats().requests, requests, "nothing is asked again");
}

#[test]
fn a_request_is_the_papers() {
    let dump = tempfile::tempdir().unwrap();
    let file = dump.path().join("requests");
    let options = aske_testkit::TestServerOptions {
        dump: Some(file.clone()),
        ..aske_testkit::TestServerOptions::default()
    };
    let server = aske_testkit::TestServer::start(options);
    let world = World::new();
    world.write("p.jsonl", "{\"problem\": \"What is 2 + 3?\", \"answer\": 5}\n");
    let model = format!("{}#solver-100", server.url());
    let ran = world.expect(0, &["eval", &model, "--data", "p.jsonl", "--samples", "1", "--json"]);
    assert_eq!(ran.json()["scores"]["datasets"][0]["average"]["value"], 1.0);
    server.stop().unwrap();
    // The probe comes first.
    let requests = std::fs::read_to_string(&file).unwrap();
    assert_eq!(requests.lines().count(), 2, "{requests}");
    let body: Value = serde_json::from_str(requests.lines().last().unwrap()).unwrap();
    let text = body["messages"][0]["content"].as_str().unwrap();
    assert!(text.starts_with("What is 2 + 3?\n\n") && text.ends_with("\\boxed{}."), "{text}");
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    for (key, value) in [
        ("temperature", 1.0.into()),
        ("top_p", 0.95.into()),
        ("top_k", 20.into()),
        ("min_p", 0.0.into()),
        ("presence_penalty", 1.5.into()),
        ("repetition_penalty", 1.0.into()),
        ("max_tokens", 32_000.into()),
        ("chat_template_kwargs", serde_json::json!({ "enable_thinking": false })),
    ] {
        assert_eq!(body[key], value, "{key}: {body}");
    }
}

#[test]
fn a_run_grows_and_a_changed_file_is_refused() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[50, 90]));
    world.write("p.csv", "id,problem,answer\na,What is 2 + 3?,5\nb,What is 4 + 5?,9\n");
    world.write("q.csv", "id,problem,answer\na,What is 1 + 1?,2\n");
    let eval = |more: &[&str]| world.run(&[&["eval", "solver-50", "--run", "run", "--json"], more].concat());
    eval(&["--data", "p.csv", "--samples", "2", "--limit", "1"]).ended(0);
    assert_eq!(samples(&world, "run").len(), 2);
    eval(&["--data", "p.csv", "--samples", "4"]).ended(0);
    eval(&["--data", "p.csv", "--data", "q.csv", "--samples", "4"]).ended(0);
    assert_eq!(samples(&world, "run").len(), 12);
    // Each of the three starts has probed the model.
    assert_eq!((server.stats().requests, server.stats().repeated_good), (12 + 3, 0));

    world.write("p.csv", "id,problem,answer\na,What is 2 + 3?,6\nb,What is 4 + 5?,9\n");
    let ran = eval(&["--data", "p.csv"]).ended(2);
    assert!(ran.stderr.contains("error: run holds another experiment:\n  data.p: "), "{ran}");
    assert!(ran.stderr.contains("hint: to continue that run, restore these values"), "{ran}");
    let ran = eval(&["--data", "q.csv", "--tokens", "99"]).ended(2);
    assert!(ran.stderr.contains("eval.max_tokens: 32000 tokens in the folder, 99 tokens now"), "{ran}");
    let ran = world.run(&["bench", "--run", "run"]).ended(2);
    assert!(ran.stderr.contains("holds an evaluation"), "{ran}");
    assert_eq!(server.stats().requests, 12 + 3);
}

#[test]
fn a_context_that_is_too_short_is_told_with_the_limit_of_an_evaluation() {
    // As vLLM answers a request that does not fit.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 16_384]);
            let body = r#"{"error": {"message": "This model's maximum context length is 4096 tokens"}}"#;
            let head =
                format!("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: {}", body.len());
            let _ = stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes());
        }
    });
    let server = server(0);
    let world = World::with(&Config { urls: vec![url], ..Config::new(&server, &[50, 90]) });
    world.write("p.csv", "id,problem,answer\na,What is 2 + 3?,5\n");
    // This server rejects a probe as well.
    let arguments = ["eval", "solver-50", "--data", "p.csv", "--samples", "1", "--no-probe"];
    let ran = world.expect(1, &arguments);
    assert!(ran.stderr.contains("if the context is too short, lower `eval.max_tokens` (--tokens)"), "{ran}");
    let told = world.expect(1, &[&arguments[..], &["--json"]].concat()).json();
    let hint = told["failures"][0]["hint"].as_str().unwrap();
    assert!(hint.contains("`eval.max_tokens`") && !hint.contains("[protocol]"), "{hint}");
    let ran = world.expect(1, &["bench", "--run", "run", "--no-probe"]);
    assert!(ran.stderr.contains("lower the token budgets or the rounds in `[protocol]`"), "{ran}");
}

#[test]
fn a_judge_that_cannot_be_read_is_no_verdict_and_no_answer_is_asked_again() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[100, 90]));
    world.write("mine.toml", "name = \"mine\"\nfiles = [\"p.jsonl\"]\ngrading = \"judge\"\n");
    world.write("p.jsonl", "{\"problem\": \"What is 2 + 3?\", \"answer\": 5}\n");
    // A solver says a number where yes or no is due.
    let eval = ["eval", "solver-100", "--data", "mine.toml", "--samples", "2", "--run", "run"];
    world.write("judge.jsonl", "{\"reply\": \"perhaps\"}\n");
    let scripted =
        ["-o", "models.judge.provider=scripted", "-o", "models.judge.script=judge.jsonl", "--judge", "judge"];
    let ran = world.run(&[&eval[..], &scripted].concat()).ended(1);
    assert!(ran.stderr.contains("neither yes nor no"), "{ran}");
    assert!(samples(&world, "run").is_empty(), "an unreadable verdict is no score");
    assert_eq!(server.stats().requests, 2 + 1, "the model was probed");
    let ran = world.run(&[&eval[..], &scripted].concat()).ended(1);
    assert!(ran.stderr.contains("2 samples are left"), "{ran}");
    assert_eq!(server.stats().requests, 2 + 1, "the answers are stored");
}

#[test]
fn a_judge_may_come_later_and_decides_on_the_stored_answers() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[100, 90]));
    world.write(
        "mine.toml",
        "name = \"mine\"\ntitle = \"My problems\"\nfiles = [\"p.jsonl\"]\ngrading = \"judge\"\n",
    );
    world.write("p.jsonl", "{\"problem\": \"What is 2 + 3?\", \"answer\": 5}\n");
    let eval = ["eval", "solver-100", "--data", "mine.toml", "--samples", "3", "--run", "run"];
    let ran = world.run(&eval).ended(0);
    assert!(ran.stdout.contains("My problems") && ran.stdout.contains("100.0%"), "{ran}");
    world.write("judge.jsonl", "{\"reply\": \"No\"}\n");
    let scripted =
        ["-o", "models.judge.provider=scripted", "-o", "models.judge.script=judge.jsonl", "--judge", "judge"];
    let ran = world.run(&[&eval[..], &scripted, &["--json"]].concat()).ended(0);
    let told = &ran.json()["scores"]["datasets"][0];
    assert_eq!(
        (&told["samples"], &told["judged"], &told["average"]["value"]),
        (&3.into(), &3.into(), &0.0.into())
    );
    assert_eq!(server.stats().requests, 3 + 1, "the answers are stored");
    let report = world.expect(0, &["report", "run", "--json"]).json();
    assert_eq!(report["evals"][0]["scores"]["datasets"][0]["samples"], 3, "what was judged anew counts once");
    // Without the judge, further samples would be scored otherwise than those that are there.
    let ran = world.run(&eval).ended(2);
    assert!(ran.stderr.contains("mine is judged there by judge") && ran.stderr.contains("--judge"), "{ran}");
    assert_eq!(server.stats().requests, 3 + 1);
}

#[test]
fn two_models_are_compared_in_every_format_and_shown_by_report_and_export() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[30, 60, 90]));
    let row = |number| {
        let ((problem, answer), level) = (problem(number), number % 5 + 1);
        serde_json::json!({ "problem": problem, "answer": answer, "level": level }).to_string()
    };
    let rows: Vec<String> = (0..40).map(row).collect();
    world.write("p.jsonl", &rows.join("\n"));
    world.write("q.jsonl", &rows[..10].join("\n"));
    for (model, run, seed) in
        [("solver-30", "base", "0"), ("solver-60", "t/seed-0", "0"), ("solver-60", "t/seed-1", "1")]
    {
        let data = ["--data", "p.jsonl", "--data", "q.jsonl"];
        let ran = world.run(&[&["eval", model, "--run", run, "--seed", seed], &data[..]].concat()).ended(0);
        assert!(ran.stdout.contains("avg@8") && ran.stdout.contains("p, level 5"), "{ran}");
    }
    let compare = ["eval", "compare", "base", "t/seed-0", "t/seed-1"];
    let compared = |more: &[&str]| world.run(&[&compare[..], more].concat()).ended(0);
    let told = compared(&["--json"]).json();
    assert_eq!((told["lines"][0]["k"].as_u64(), told["lines"].as_array().unwrap().len()), (Some(8), 6));
    let change = &told["lines"][5]["change"];
    assert!(change["p"].as_f64().unwrap() < 0.001, "{change}");
    assert!((change["difference"]["value"].as_f64().unwrap() - 0.3).abs() < 0.12, "{change}");
    assert_eq!(told["trained"], serde_json::json!(["seed 0", "seed 1"]));

    let shown = compared(&[]).stdout;
    for words in
        ["Baseline", "Mean of 2", "seed 1", "pass@8", "avg@8", "All problems", "smallest visible", "< 0.001"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let markdown = compared(&["--format", "markdown"]).stdout;
    assert!(
        markdown.starts_with("| Dataset | Metric | n | Baseline |") && markdown.contains("**"),
        "{markdown}"
    );
    compared(&["--out", "t.tex", "--figure", "f.svg"]);
    let latex = world.read("t.tex");
    assert!(latex.contains("\\toprule") && latex.contains("\\textbf{") && latex.contains("\\%"), "{latex}");
    assert!(world.read("f.svg").starts_with("<svg") && world.read("f.svg").matches("<circle").count() == 12);
    let told = compared(&["--out", "t.txt", "--json"]);
    assert!(told.json()["lines"].is_array() && world.read("t.txt").contains("Baseline"), "{told}");
    assert!(!world.read("t.txt").contains('\u{1b}'), "a file has no colours");
    compared(&["--out", "t.html"]);
    assert!(world.read("t.html").contains("<svg class=\"bars\""));

    // The base among the trained runs is a mistake, and its copy too.
    let among = world.run(&["eval", "compare", "base", "t/seed-0", "./base", "--json"]).ended(0);
    assert!(
        among.stderr.contains("warning:") && among.stderr.contains("(./base) is the base run"),
        "{among}"
    );
    let told = among.json();
    assert_eq!(told["warnings"].as_array().unwrap().len(), 1, "{told}");
    assert!(told["lines"][5]["trained_changes"][0]["p_holm"].as_f64().unwrap() < 0.05, "{told}");
    assert_eq!(told["lines"][5]["trained_changes"][1]["p_holm"], 1.0, "{told}");

    // Another protocol is told beside the numbers, wherever they go.
    let other = ["--run", "t/seed-2", "--data", "p.jsonl", "--samples", "8", "-o", "eval.sampling.top_k=5"];
    world.expect(0, &[&["eval", "solver-60"], &other[..]].concat());
    let ran = world.expect(0, &["eval", "compare", "base", "t/seed-2", "--out", "d.md"]);
    for told in [&ran.stderr, &world.read("d.md").replace('\\', "")] {
        assert!(told.contains("seed 2 has another sampling") && told.contains("\"top_k\":5"), "{told}");
        assert!(told.contains("10 problems of q"), "{told}");
    }

    let ran = world.expect(0, &["report", "base", "t/seed-0"]);
    assert!(ran.stdout.contains("solver-30") && ran.stdout.contains("solver-60"), "{ran}");
    assert_eq!(
        world.expect(0, &["report", "base", "--json"]).json()["evals"][0]["scores"]["model"],
        "solver-30"
    );
    world.expect(0, &["report", "base", "--html", "r.html"]);
    assert!(world.read("r.html").contains("pass@8"));
    world.expect(0, &["export", "base", "--out", "e.jsonl"]);
    let exported: Vec<Value> =
        world.read("e.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(exported.len(), 400);
    let keys: HashSet<&str> = exported[0].as_object().unwrap().keys().map(String::as_str).collect();
    for key in ["dataset", "problem", "sample", "answer", "correct", "tokens", "capped"] {
        assert!(keys.contains(key), "{keys:?}");
    }
    world.expect(0, &["export", "base", "--out", "tables"]);
    assert!(world.path("tables/evals.parquet").is_file() && !world.path("tables/sessions.parquet").exists());
    let ran = world.run(&["eval", "compare", "base", "t"]).ended(2);
    assert!(ran.stderr.contains("holds no run"), "{ran}");
}

#[test]
fn the_shipped_benchmark_works_without_anything() {
    let world = World::new();
    let ran = world.expect(0, &["eval", "nano-15k", "--samples", "1", "--tokens", "60", "--limit", "20"]);
    assert!(ran.stdout.contains("Ladder") && ran.stderr.contains("runs/eval-nano-15k"), "{ran}");
    // The first ten problems speak the language of the nano world, and so does the instruction for its networks.
    let told = world.expect(0, &["eval", "--samples", "1", "--limit", "10", "--json"]).json();
    assert!(told["scores"]["datasets"][0]["average"]["value"].as_f64().unwrap() > 0.5, "{told}");
    let ran = world.expect(0, &["eval", "--dry-run", "--json"]);
    let told = ran.json();
    assert_eq!(
        (&told["model"], &told["samples"], &told["open"]),
        (&"nano-asker".into(), &800.into(), &790.into())
    );
    let listed = world.expect(0, &["eval", "datasets", "--json"]).json();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "aime-2022-2024",
            "aime-2025",
            "hmmt-feb-2025",
            "imo-answerbench",
            "math-500",
            "olympiadbench",
            "ladder"
        ]
    );
    assert_eq!((&listed[6]["where"], &listed[6]["problems"]), (&"shipped".into(), &100.into()));
}
