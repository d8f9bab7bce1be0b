//! Sessions with their calls and audits, evaluations, trainings, and static copies.
#![expect(clippy::unwrap_used, reason = "an answer without its parts has failed the test")]

mod support;

use aske_chat::{Finish, Reply, Usd};
use aske_record::{CallKey, EvalRecord, Identity, Manifest, PanelRecord, Record, RunDir, SCHEMA, StoredCall};
use aske_session::{GradingRules, Role, Side, Slot, SolverAnswer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use support::{add, open, start};

async fn reply(run: &RunDir, record: &str, slot: Slot, text: &str) {
    let call = StoredCall {
        model: "m".into(),
        request: [0; 16],
        reply: Reply::text(text),
        latency: Duration::from_millis(1500),
        attempts: 2,
        cost: Usd(0.5),
    };
    run.calls().put(CallKey { record: record.into(), slot }, call).await.unwrap();
}

/// A run whose requests can be rebuilt: every model has an address.
fn callable(path: &Path, more: &str) -> RunDir {
    let model = |name: &str| format!("[models.{name}]\nprovider = 'openai'\nurl = 'http://localhost:1/v1'\n");
    let models: String = ["asker", "tiny", "large", "check"].map(model).concat();
    let text = format!(
        "asker.model = 'asker'\nboundary.solvers = ['tiny', 'large']\ncheck.model = 'check'\n{more}\n{models}"
    );
    RunDir::open(path, &Manifest::new("0.1.0", Identity::default(), toml::from_str(&text).unwrap())).unwrap()
}

fn audit(run: &RunDir, session: &str, right: &[(&str, Vec<bool>)]) {
    let answer = |right: &bool| SolverAnswer {
        answer: Some(if *right { "42" } else { "<b>41</b>" }.into()),
        finish: Finish::Stop,
    };
    let panel = PanelRecord {
        schema: SCHEMA,
        name: format!("8/{session}"),
        session: Some(session.to_owned()),
        question: Some("Q?".into()),
        check: vec![Some("42".into()); 3],
        answers: right
            .iter()
            .map(|(name, right)| ((*name).to_owned(), right.iter().map(answer).collect()))
            .collect(),
        right: Some(right.iter().map(|(name, right)| ((*name).to_owned(), right.clone())).collect()),
        rules: GradingRules::default(),
        used: BTreeMap::default(),
    };
    run.add_record(&Record::Audit(panel)).unwrap();
}

#[tokio::test]
async fn a_session_says_its_reference_and_how_often_its_solvers_were_right_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = open(&path);
    add(&run, ["tiny", "large"], 0, "First?", Some([false, true]));
    add(&run, ["tiny", "large"], 1, "Second?", None);
    let draws = vec![true, true, false, true];
    audit(
        &run,
        "large:tiny/0",
        &[("tiny", vec![false; 4]), ("large", draws.clone()), ("middle", vec![true])],
    );
    drop(run);
    let viewer = start(vec![path]).await;
    let found = viewer.get("/api/session?name=large:tiny/0").await.json();
    assert_eq!(found["reference"]["text"], "42");
    let audit = &found["audit"];
    // The smaller solver first.
    assert_eq!((&audit["pair"][0]["name"], &audit["pair"][1]["name"]), (&json!("tiny"), &json!("large")));
    assert_eq!(audit["pair"][1]["right"], json!(draws));
    assert_eq!(audit["pair"][0]["answers"][0]["text"], "<b>41</b>");
    assert_eq!(audit["controls"][0]["name"], "middle");
    let ungraded = viewer.get("/api/session?name=large:tiny/1").await.json();
    assert!(ungraded["reference"].is_null() && ungraded["audit"].is_null());
    let raw = viewer.get("/api/raw?name=large:tiny/0").await.json();
    assert_eq!((&raw["record"]["kind"], &raw["grade"]["outcome"]), (&json!("session"), &json!("calibrated")));
    assert_eq!(raw["audit"]["right"]["large"], json!(draws));
}

#[tokio::test]
async fn requests_are_rebuilt_and_those_of_another_hash_are_not_called_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = callable(&path, "");
    add(&run, ["tiny", "large"], 0, "Second?", Some([false, true]));
    let name = "large:tiny/0";
    let asked = "#Reasoning#\nr\n#Draft#\nd\n#Question#\nProbe?";
    reply(&run, name, Slot::first(1, Role::Asker), asked).await;
    for side in Side::BOTH {
        reply(&run, name, Slot::first(1, Role::Solver(side)), "\\boxed{1}").await;
    }
    drop(run);
    let viewer = start(vec![path]).await;
    let found = viewer.get(&format!("/api/requests?name={name}")).await.json();
    let calls = found["calls"].as_array().unwrap();
    let roles: Vec<&str> = calls.iter().map(|call| call["role"].as_str().unwrap()).collect();
    // Up to the asker's second turn, whose reply is not stored.
    assert_eq!(roles, ["asker", "one", "two", "asker"], "{found}");
    let exact: Vec<&Value> = calls.iter().map(|call| &call["exact"]).collect();
    assert_eq!(exact, [&json!(false), &json!(false), &json!(false), &Value::Null]);
    assert!(calls[1]["messages"].to_string().contains("Probe?"));
    assert_eq!((&calls[0]["conversation"], &calls[3]["conversation"]), (&json!(2), &json!(4)));
    let conversation = found["conversation"].as_array().unwrap();
    assert_eq!(conversation[2]["content"]["text"], asked);
    assert_eq!((&calls[0]["reply"]["attempts"], &calls[0]["reply"]["seconds"]), (&json!(2), &json!(1.5)));
    let sections = viewer.get(&format!("/api/session?name={name}")).await.json();
    let sections = &sections["turns"][0]["asker"]["sections"];
    assert_eq!(sections[0], json!({ "section": "reasoning", "text": { "text": "r" } }));
    assert_eq!(sections[2]["text"]["text"], "Probe?");
}

#[cfg(unix)]
#[tokio::test]
async fn prompts_that_are_no_files_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let (path, pack) = (folder.path().join("run"), folder.path().join("pack"));
    std::fs::create_dir(&pack).unwrap();
    let made = std::process::Command::new("mkfifo").arg(pack.join("asker_system.txt")).status();
    assert!(made.unwrap().success());
    let run = callable(&path, &format!("protocol.prompts = {:?}", pack.display().to_string()));
    add(&run, ["tiny", "large"], 0, "Q?", Some([false, true]));
    drop(run);
    let viewer = start(vec![path]).await;
    let found = tokio::time::timeout(Duration::from_secs(20), viewer.get("/api/requests?name=large:tiny/0"));
    let found = found.await.expect("it does not wait for the pipe").json();
    assert!(found["trouble"].as_str().unwrap().contains("is not a folder of prompts"), "{found}");
}

fn eval_run(path: &Path, samples: u32, right: impl Fn(u32) -> bool) {
    let identity = Identity(BTreeMap::from([("eval".to_owned(), "1".to_owned())]));
    let config = toml::from_str("asker.model = 'm'").unwrap();
    let run = RunDir::open(path, &Manifest::new("0.1.0", identity, config)).unwrap();
    for problem in ["p1", "p2"] {
        for sample in 0..samples {
            run.add_record(&Record::Eval(EvalRecord {
                schema: SCHEMA,
                dataset: "data".into(),
                title: None,
                problem: problem.into(),
                sample,
                level: Some(2),
                model: "m".into(),
                question: format!("What is {problem}? $x$"),
                reference: "1".into(),
                solved: SolverAnswer { answer: Some("1".into()), finish: Finish::Stop },
                boxed: true,
                right: right(sample),
                by: "exact".into(),
                comparison: None,
                used: BTreeMap::default(),
            }))
            .unwrap();
        }
    }
}

#[tokio::test]
async fn thousands_of_samples_come_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    eval_run(&folder.path().join("eval"), 3000, |sample| sample.is_multiple_of(3));
    let viewer = start(vec![folder.path().join("eval")]).await;
    let page = "/api/eval?dataset=data&problem=p1";
    let first = viewer.get(&format!("{page}&limit=20")).await.json();
    assert_eq!(
        (&first["total"], &first["right"], &first["matching"]),
        (&json!(3000), &json!(1000), &json!(3000))
    );
    assert_eq!(first["samples"].as_array().unwrap().len(), 20);
    assert_eq!(first["after"], json!(["data", "p2"]));
    let right = viewer.get(&format!("{page}&only=right&limit=20&offset=980")).await.json();
    assert_eq!((&right["matching"], &right["samples"][19]["number"]), (&json!(1000), &json!(2997)));
    // pass@1 is avg@n; all samples are any right.
    let scores = viewer.get("/api/scores").await.json();
    let data = &scores["datasets"][0];
    assert!((data["average"]["value"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!((&data["pass"][2999]["value"], &scores["right"]), (&json!(1.0), &json!(2000)));
}

#[tokio::test]
async fn two_evaluations_are_compared_on_the_problems_of_both() {
    let folder = tempfile::tempdir().unwrap();
    eval_run(&folder.path().join("one"), 4, |sample| sample < 1);
    eval_run(&folder.path().join("two"), 2, |sample| sample < 1);
    let viewer = start(vec![folder.path().to_owned()]).await;
    let found = viewer.get("/api/eval-compare?first=one&second=two").await.json();
    assert_eq!((&found["rows"][0]["right"], &found["rows"][0]["samples"]), (&json!([1, 1]), &json!([4, 2])));
    assert_eq!(found["comparison"]["base"], "one");
    let up = viewer.get("/api/eval-compare?first=one&second=two&change=up").await.json();
    let down = viewer.get("/api/eval-compare?first=two&second=one&change=up").await.json();
    assert_eq!((&up["total"], &down["total"]), (&json!(2), &json!(0)), "a quarter is less than a half");
}

#[tokio::test]
async fn a_training_without_a_finished_seed_is_shown_as_far_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("train");
    for seed in [0, 1] {
        let identity = Identity(BTreeMap::from([("train".to_owned(), "{}".to_owned())]));
        let config = toml::from_str("train.steps = 9\ntrain.watch.min_distinct = 0.5").unwrap();
        RunDir::open(&root.join(format!("seed-{seed}")), &Manifest::new("0.1.0", identity, config)).unwrap();
    }
    let line = "{\"step\":1,\"reward\":0.25,\"calibrated\":0.5}\n";
    std::fs::write(root.join("seed-0/metrics.jsonl"), format!("{line}{{\"step\":2,")).unwrap();
    std::fs::write(root.join("result.json"), "[1, {\"name\": \"<script>\"").unwrap();
    let viewer = start(vec![folder.path().to_owned()]).await;
    let found = viewer.get("/api/training?run=train").await.json();
    assert_eq!((&found["result"], &found["measurements"]), (&Value::Null, &json!([])));
    let seeds = found["seeds"].as_array().unwrap();
    assert_eq!(
        (&seeds[0]["step"], &seeds[0]["planned"], &seeds[0]["run"]),
        (&json!(1), &json!(9), &json!("train/seed-0"))
    );
    assert_eq!(
        (&seeds[0]["columns"]["reward"], &seeds[0]["limits"]["distinct"]),
        (&json!([0.25]), &json!(0.5))
    );
    assert_eq!((&seeds[1]["step"], &seeds[1]["columns"]), (&Value::Null, &json!({})));
    for step in ["0", "10", "18446744073709551615"] {
        assert_eq!(
            viewer.get(&format!("/api/rollouts?run=train/seed-0&step={step}")).await.status,
            400,
            "{step}"
        );
    }
    assert_eq!(viewer.get("/api/training?run=train/seed-0").await.status, 400);
}

/// The names and texts of all chunks, by their request.
fn chunks(folder: &Path) -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder.join("data")).unwrap().map(|file| file.unwrap().path());
    let scripts = files.filter(|path| path.extension().is_some_and(|ending| ending == "js"));
    let chunk = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let inner = text.strip_prefix("askeChunk(").unwrap().strip_suffix(");\n").unwrap();
        let parts: (String, String, bool) = serde_json::from_str(&format!("[{inner}]")).unwrap();
        (parts.0, parts.1)
    };
    scripts.map(chunk).collect()
}

#[tokio::test]
async fn a_static_copy_holds_what_the_server_sends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = open(&path);
    add(&run, ["tiny", "large"], 0, "</script><!-- \u{2028}\u{202e} ' \" \\", Some([false, true]));
    let giant = "x".repeat(1 << 20);
    reply(&run, "large:tiny/0", Slot::first(1, Role::Asker), &giant).await;
    drop(run);
    let into = folder.path().join("site");
    let made = aske_view::bundle(vec![path.clone()], &into, |_| {}).await.unwrap();
    assert_eq!(
        (made.runs, std::fs::read_dir(folder.path()).unwrap().count()),
        (1, 2),
        "and nothing else is left"
    );
    let chunks = chunks(&into);
    let viewer = start(vec![path]).await;
    for route in ["session", "raw", "requests"] {
        let key = format!("{route}?name=large%3Atiny%2F0&run=run");
        let said = viewer.get(&format!("/api/{key}")).await;
        assert_eq!(chunks[&key].as_bytes(), said.body, "{key}");
    }
    assert!(
        chunks.contains_key("sessions?limit=100&run=run") && chunks.contains_key("home?limit=100&parts=true")
    );
    let texts = std::fs::read_dir(into.join("data")).unwrap().map(|file| file.unwrap().path());
    let full =
        texts.filter(|path| path.extension().is_some_and(|ending| ending == "txt")).collect::<Vec<_>>();
    assert_eq!(std::fs::read_to_string(&full[0]).unwrap(), giant, "the full text of a reply that is cut");
}

#[tokio::test]
async fn a_static_copy_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    add(&open(&path), ["tiny", "large"], 0, "Q?", Some([false, true]));
    let full = folder.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("mine"), "").unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for into in [&full, &file] {
        let error = aske_view::bundle(vec![path.clone()], into, |_| {}).await.unwrap_err();
        assert!(
            error.to_string().ends_with("is not empty") && aske_chat::Hint::hint(&error).is_some(),
            "{error}"
        );
    }
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    aske_view::bundle(vec![path.clone()], &empty, |_| {}).await.unwrap();
    assert!(empty.join("index.html").is_file());
    // A copy that is broken off leaves nothing.
    let broken = folder.path().join("broken");
    let copying = aske_view::bundle(vec![path], &broken, |_| {});
    drop(tokio::time::timeout(Duration::from_millis(1), copying).await);
    let names = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("partial")));
}
