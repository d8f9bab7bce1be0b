//! The list of runs: found at any depth and while the viewer is open, named by their folders, read when they are needed.
#![expect(clippy::unwrap_used, reason = "an answer without its parts has failed the test")]

mod support;

use aske_record::{CallKey, StoredCall};
use aske_session::{Role, Slot};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use support::{Viewer, add, open, start};

const ONE: Option<[bool; 2]> = Some([true, false]);

fn run(path: &Path, sessions: u32) {
    let run = open(path);
    for sample in 0..sessions {
        add(&run, ["tiny", "large"], sample, "How far does the train go?", ONE);
    }
}

fn ids(page: &Value) -> Vec<&str> {
    page["rows"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect()
}

/// Asks until the answer is as it should be.
async fn until(viewer: &Viewer, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let said = viewer.get(path).await.json();
        if wanted(&said) {
            return said;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{said}");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

#[tokio::test]
async fn runs_are_found_at_any_depth_and_while_the_viewer_is_open() {
    let folder = tempfile::tempdir().unwrap();
    run(&folder.path().join("b"), 2);
    run(&folder.path().join("deep/er/b"), 3);
    let viewer = start(vec![folder.path().to_owned()]).await;
    let page = until(&viewer, "/api/home?sort=name", |page| page["reading"] == 0).await;
    assert_eq!(ids(&page), ["b", "deep/er/b"]);
    let row = &page["rows"][1];
    assert_eq!(
        (&row["state"], &row["sessions"], &row["kind"]),
        (&json!("ready"), &json!(3), &json!("sessions"))
    );
    assert_eq!((&row["asker"], &row["set"]), (&json!("asker"), &json!("3 solvers, tiny to large")));
    // The interval of few pairs is Clopper and Pearson's: binom.test(3, 3) in R gives 0.2924 to 1.
    let rate = &row["rate"];
    assert_eq!((&rate["value"], &rate["over"]), (&json!(1.0), &json!("these_pairs")));
    assert!((rate["interval"]["low"].as_f64().unwrap() - 0.2924).abs() < 1e-4);
    // A folder that comes first in the alphabet changes no id and no answer.
    let session = "/api/session?run=b&name=large:tiny/1";
    let before = viewer.get(session).await.body;
    run(&folder.path().join("a"), 1);
    let page = until(&viewer, "/api/home?sort=name", |page| page["total"] == 3 && page["reading"] == 0).await;
    assert_eq!(ids(&page), ["a", "b", "deep/er/b"]);
    assert_eq!(viewer.get(session).await.body, before);
    std::fs::remove_dir_all(folder.path().join("b")).unwrap();
    until(&viewer, "/api/home", |page| page["total"] == 2).await;
    let gone = viewer.get(session).await;
    // Another run of that name is named, and not shown in its place.
    assert_eq!((gone.status, &gone.json()["hint"]), (404, &json!("it could be deep/er/b")));
}

#[tokio::test]
async fn a_link_means_one_run_or_says_which_it_could_be() {
    let folder = tempfile::tempdir().unwrap();
    run(&folder.path().join("x/seed-0"), 1);
    run(&folder.path().join("y/seed-0"), 2);
    let viewer = start(vec![folder.path().join("x/seed-0"), folder.path().join("y/seed-0")]).await;
    let sessions = async |viewer: &Viewer, id: &str| {
        viewer.get(&format!("/api/sessions?run={id}")).await.json()["total"].clone()
    };
    assert_eq!(
        (sessions(&viewer, "x/seed-0").await, sessions(&viewer, "y/seed-0").await),
        (json!(1), json!(2))
    );
    let said = viewer.get("/api/run?run=seed-0").await;
    let said = (said.status, said.json());
    assert_eq!(said.0, 404);
    assert!(said.1["hint"].as_str().unwrap().contains("x/seed-0, y/seed-0"), "{}", said.1);
    let one = start(vec![folder.path().join("y/seed-0")]).await;
    assert_eq!(one.get("/api/home?limit=0").await.json()["alone"], "seed-0");
    assert_eq!(sessions(&one, "seed-0").await, json!(2));
    let said = one.get("/api/run?run=y/seed-0").await.json();
    assert_eq!(said["hint"], "it could be seed-0");
    let all = start(vec![folder.path().to_owned()]).await;
    assert_eq!(all.get("/api/home?limit=0").await.json()["alone"], json!(null));
    assert_eq!(sessions(&all, "y/seed-0").await, json!(2));
}

#[cfg(unix)]
#[tokio::test]
async fn broken_folders_are_rows_with_a_reason_and_stall_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    run(&at("good"), 1);
    for name in ["fifo", "torn", "no-toml", "half"] {
        run(&at(name), 1);
    }
    std::fs::remove_file(at("fifo/records.jsonl")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("fifo/records.jsonl")).status().unwrap().success());
    std::fs::write(at("torn/run.toml"), "schema = [").unwrap();
    std::fs::remove_file(at("no-toml/run.toml")).unwrap();
    // A line that is being written is left for later.
    let whole = std::fs::read(at("half/records.jsonl")).unwrap();
    std::fs::write(at("half/records.jsonl"), [&whole[..], b"{\"kind\":\"ses"].concat()).unwrap();
    std::os::unix::fs::symlink(folder.path(), at("good/loop")).unwrap();
    let viewer = start(vec![folder.path().to_owned()]).await;
    let page = until(&viewer, "/api/home?sort=name", |page| page["reading"] == 0).await;
    assert_eq!(ids(&page), ["fifo", "good", "half", "no-toml", "torn"]);
    let states: Vec<&str> =
        page["rows"].as_array().unwrap().iter().map(|row| row["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["broken", "ready", "ready", "broken", "broken"], "{page}");
    for (row, reason) in [(0, "is a FIFO"), (3, "no run.toml"), (4, "run.toml")] {
        assert!(page["rows"][row]["trouble"].as_str().unwrap().contains(reason), "{page}");
    }
    assert_eq!(page["rows"][2]["sessions"], 1);
    let said = viewer.get("/api/sessions?run=fifo").await;
    assert_eq!(said.status, 404);
    // Repaired while the viewer is open.
    std::fs::remove_file(at("fifo/records.jsonl")).unwrap();
    std::fs::write(at("fifo/records.jsonl"), &whole).unwrap();
    until(&viewer, "/api/home?sort=name", |page| page["rows"][0]["state"] == "ready").await;
}

#[tokio::test]
async fn the_first_sessions_of_a_large_run_come_before_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let large = open(&path);
    for sample in 0..40 {
        add(&large, ["tiny", "large"], sample, &"x".repeat(1 << 20), ONE);
    }
    drop(large);
    let viewer = start(vec![path]).await;
    let first = viewer.get("/api/sessions?run=run&limit=1").await.json();
    assert_eq!(
        (&first["rows"][0]["sample"], &first["rows"][0]["outcome"]),
        (&json!(0), &json!("calibrated"))
    );
    // Whatever needs all sessions waits for them.
    let last = viewer.get("/api/sessions?run=run&sort=latest&limit=1").await.json();
    assert_eq!(
        (&last["rows"][0]["sample"], &last["total"], &last["complete"]),
        (&json!(39), &json!(40), &json!(true))
    );
    until(&viewer, "/api/sessions?run=run&limit=1", |page| page["complete"] == true && page["total"] == 40)
        .await;
}

#[tokio::test]
async fn rows_are_sorted_filtered_and_paged() {
    let folder = tempfile::tempdir().unwrap();
    for (name, sessions) in [("a", 1), ("b", 3), ("c", 2)] {
        run(&folder.path().join(name), sessions);
    }
    std::fs::create_dir(folder.path().join("d")).unwrap();
    std::fs::write(folder.path().join("d/records.jsonl"), "").unwrap();
    let viewer = start(vec![folder.path().to_owned()]).await;
    until(&viewer, "/api/home", |page| page["reading"] == 0).await;
    let get = async |query: &str| viewer.get(&format!("/api/home?{query}")).await.json();
    assert_eq!(ids(&get("sort=name").await), ["a", "b", "c", "d"]);
    assert_eq!(ids(&get("sort=name&desc=true").await), ["d", "c", "b", "a"]);
    assert_eq!(ids(&get("sort=sessions").await)[..3], ["b", "c", "a"]);
    assert_eq!(ids(&get("sort=sessions&offset=1&limit=1").await), ["c"]);
    assert_eq!(get("sort=sessions&offset=1&limit=1").await["total"], 4);
    assert_eq!(ids(&get("q=B").await), ["b"]);
    assert_eq!(ids(&get("kind=unknown").await), ["d"]);
    assert_eq!(get("live=true").await["total"], 0);
    // What has no value comes last in either order.
    for desc in ["true", "false"] {
        assert_eq!(ids(&get(&format!("sort=calibrated&desc={desc}")).await)[3], "d");
    }
}

#[tokio::test]
async fn the_configuration_and_the_calls_of_a_run_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = open(&path);
    add(&run, ["tiny", "large"], 0, "First?", ONE);
    for (turn, attempts) in [(1, 1), (2, 3)] {
        let key = CallKey { record: "large:tiny/0".into(), slot: Slot::first(turn, Role::Asker) };
        let mut reply = aske_chat::Reply::text("so");
        reply.usage.prompt = 10;
        let latency = Duration::from_secs(2);
        let call = StoredCall {
            model: "m".into(),
            request: [0; 16],
            reply,
            latency,
            attempts,
            cost: aske_chat::Usd(0.5),
        };
        run.calls().put(key, call).await.unwrap();
    }
    drop(run);
    let viewer = start(vec![path]).await;
    let told = viewer.get("/api/calls?run=run").await.json();
    let model = &told["models"][0];
    assert_eq!((&model["role"], &model["model"], &model["calls"]), (&json!("asker"), &json!("m"), &json!(2)));
    assert_eq!(
        (&model["prompt"], &model["usd"], &model["retried"], &model["retries"]),
        (&json!(20), &json!(1.0), &json!(1), &json!(2))
    );
    // Both began two seconds before they were stored.
    let span = &told["spans"][0];
    assert_eq!((&told["timed"], &span["calls"], &span["most"]), (&json!(2), &json!(2), &json!(2)));
    let length = span["to"].as_i64().unwrap() - span["from"].as_i64().unwrap();
    assert!((2000..4000).contains(&length), "{told}");
    let told = viewer.get("/api/configuration?run=run").await.json();
    let asker = told["values"].as_array().unwrap().iter().find(|one| one["key"] == "asker.model").unwrap();
    assert_eq!(asker["value"], "\"asker\"");
    assert_eq!((&told["with_origins"], &told["prompts"]["files"]), (&json!(false), &json!(null)));
}
