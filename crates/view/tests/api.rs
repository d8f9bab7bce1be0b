//! The viewer's answers over a real socket.
#![expect(clippy::unwrap_used, reason = "an answer without its parts has failed the test")]

mod support;

use aske_record::{CallKey, StoredCall};
use aske_session::{Role, Side, Slot};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::{Viewer, add, open, start};
use tempfile::TempDir;

const EASY: Option<[bool; 2]> = Some([true, true]);
const HARD: Option<[bool; 2]> = Some([false, false]);
const ONE: Option<[bool; 2]> = Some([true, false]);

async fn two_runs(folder: &TempDir) -> Viewer {
    let paths = ["first", "second"].map(|name| folder.path().join(name));
    let first = open(&paths[0]);
    add(&first, ["large", "tiny"], 0, "How far does the train go?", ONE);
    add(&first, ["tiny", "middle"], 0, "<script>alert(1)</script>", EASY);
    add(&first, ["tiny", "middle"], 1, &"x".repeat(1 << 20), HARD);
    add(&first, ["middle", "large"], 0, "A TRAIN again?", None);
    let second = open(&paths[1]);
    add(&second, ["tiny", "large"], 0, "Other?", EASY);
    add(&second, ["tiny", "middle"], 0, "Same?", EASY);
    start(paths.to_vec()).await
}

fn names(said: &Value) -> Vec<&str> {
    said["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn only_requests_for_this_machine_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = two_runs(&folder).await;
    let port = viewer.address.port();
    let with = async |hosts: &str| {
        viewer.send(&format!("GET /api/runs HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n")).await.status
    };
    assert_eq!(with(&format!("Host: 127.0.0.1:{port}\r\n")).await, 200);
    assert_eq!(with(&format!("Host: localhost:{port}\r\n")).await, 200);
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "", "127.0.0.1.evil.example"] {
        assert_eq!(with(&format!("Host: {host}\r\n")).await, 421, "{host}");
    }
    assert_eq!(with(&format!("Host: evil:{port}\r\n")).await, 421);
    let twice = with(&format!("Host: localhost:{port}\r\nHost: evil\r\n")).await;
    assert!([400, 421].contains(&twice), "{twice}");
}

#[tokio::test]
async fn every_reply_has_the_policy_and_nothing_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = two_runs(&folder).await;
    let host = viewer.address;
    let paths = [
        "GET /",
        "GET /app.js",
        "GET /none",
        "GET /api/runs",
        "GET /api/session",
        "POST /api/runs",
        "DELETE /",
    ];
    for (path, status) in paths.into_iter().zip([200, 200, 404, 200, 400, 405, 405]) {
        let said =
            viewer.send(&format!("{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")).await;
        assert_eq!(said.status, status, "{path}");
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             require-trusted-types-for 'script'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(said.head.contains(header), "{path}: {}", said.head);
        }
    }
    let head = viewer.send(&format!("HEAD / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[tokio::test]
async fn bad_parameters_get_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = two_runs(&folder).await;
    for (path, word) in [
        ("sessions?limit=201", "`limit` is at most 200"),
        ("sessions?offset=99999999999999999999999", "is not a number"),
        ("sessions?outcome=easy", "is not one of calibrated, too_easy"),
        ("sessions?flag=x", "is not one of truncated"),
        ("sessions?sort=x", "is not one of ended"),
        ("sessions?a=nobody", "no solver of this run is called `nobody`"),
        ("sessions?run=0&run=1", "`run` is given twice"),
        ("sessions?colour=red", "`colour` is not a parameter of this route"),
        ("session?run=first", "`name` is required"),
        ("compare?first=first", "`second` is required"),
        ("compare?first=first&second=second&differs=maybe", "is not one of true, false"),
        ("home?sort=colour", "is not one of written"),
        ("home?kind=x", "is not one of sessions"),
        ("news?since=x", "is not a number"),
        ("runs?x=1", "is not a parameter of this route"),
    ] {
        let said = viewer.get(&format!("/api/{path}")).await;
        assert_eq!(said.status, 400, "{path}");
        let error = said.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(word), "{path}: {error}");
    }
    assert_eq!(viewer.get("/api/session?name=no:body/0").await.status, 404);
    for id in ["0", "third", "..%2Ffirst%2F..", "%2Fetc", "%00", "first%2F..%2Fsecond", "~"] {
        for route in ["run", "sessions", "evidence", "news", "evals"] {
            let said = viewer.get(&format!("/api/{route}?run={id}")).await;
            assert_eq!(said.status, 404, "{route} {id}");
            assert!(said.json()["error"].as_str().unwrap().starts_with("there is no run `"), "{route} {id}");
        }
    }
    for odd in [
        "sessions?q=%ff%fe",
        "sessions?q=%00",
        "sessions?%",
        "sessions?q=%F0%9F%98%80&offset=18446744073709551615",
    ] {
        let said = viewer.get(&format!("/api/{odd}")).await;
        assert!([200, 400].contains(&said.status), "{odd}: {}", said.status);
        said.json();
    }
}

#[tokio::test]
async fn sessions_are_filtered_counted_and_ordered() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = two_runs(&folder).await;
    let get = async |query: &str| viewer.get(&format!("/api/sessions?{query}")).await.json();
    let all = get("").await;
    assert_eq!(all["total"], 4);
    assert_eq!(all["outcomes"], json!([1, 1, 1, 0, 0, 1]));
    // The smaller solver stands first, whichever was Model 1 to the asker: there the large one was right.
    assert_eq!(all["rows"][0]["pair"], json!(["tiny", "large"]));
    assert_eq!(all["rows"][0]["right"], json!([false, true]));
    let easy = get("outcome=too_easy").await;
    assert_eq!((names(&easy), &easy["outcomes"]), (vec!["middle:tiny/0"], &all["outcomes"]));
    assert_eq!(names(&get("outcome=ungraded").await), ["large:middle/0"]);
    assert_eq!(names(&get("q=TRAIN").await), ["large:tiny/0", "large:middle/0"]);
    assert_eq!(get("q=middle:tiny").await["total"], 2, "names are searched");
    assert_eq!(names(&get("a=middle&b=tiny&sort=latest").await), ["middle:tiny/1", "middle:tiny/0"]);
    assert_eq!(get("solver=large").await["total"], 2);
    let pairs = get("sort=pair").await;
    assert_eq!(names(&pairs), ["middle:tiny/0", "middle:tiny/1", "large:tiny/0", "large:middle/0"]);
    assert_eq!(names(&get("sort=pair&offset=1&limit=2").await), ["middle:tiny/1", "large:tiny/0"]);
    assert_eq!(get("flag=leaked").await["total"], 0);
    let long = get("outcome=too_hard").await["rows"][0]["question"].as_str().unwrap().chars().count();
    assert_eq!(long, 301, "300 characters and an ellipsis");
}

#[tokio::test]
async fn hostile_texts_are_json_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = two_runs(&folder).await;
    let said = viewer.get("/api/session?name=middle:tiny/0").await;
    assert!(said.head.contains("content-type: application/json"));
    let said = said.json();
    assert_eq!(said["turns"][1]["question"]["text"], "<script>alert(1)</script>");
    assert_eq!(said["models"], json!([1, 2]));
    let long = viewer.get("/api/session?name=middle:tiny/1").await.json();
    let question = &long["turns"][1]["question"];
    assert_eq!(question["text"].as_str().unwrap().len(), 256 << 10);
    assert_eq!(question["left_out"], (1 << 20) - (256 << 10));
}

#[tokio::test]
async fn a_session_knows_its_neighbours_under_the_filter() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = two_runs(&folder).await;
    let said = viewer.get("/api/session?name=middle:tiny/0&a=tiny&sort=pair").await.json();
    let around = json!({ "place": 0, "total": 3, "before": null, "after": "middle:tiny/1" });
    assert_eq!(said["around"], around);
    let outside = viewer.get("/api/session?name=middle:tiny/0&outcome=too_hard").await.json();
    assert_eq!(outside["around"], json!({ "place": null, "total": 1, "before": null, "after": null }));
}

#[tokio::test]
async fn two_runs_are_compared_on_what_they_share() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = two_runs(&folder).await;
    let all = viewer.get("/api/compare?first=first&second=second").await.json();
    assert_eq!((&all["shared"], &all["differ"], &all["total"]), (&json!(2), &json!(1), &json!(2)));
    assert_eq!((&all["table"][0][1], &all["table"][1][1]), (&json!(1), &json!(1)));
    let differ = viewer.get("/api/compare?first=first&second=second&differs=true").await.json();
    assert_eq!(names(&differ), ["large:tiny/0"]);
    assert_eq!(differ["rows"][0]["outcomes"], json!(["calibrated", "too_easy"]));
    let cell = viewer.get("/api/compare?first=first&second=second&one=too_easy&two=too_easy").await.json();
    assert_eq!(names(&cell), ["middle:tiny/0"]);
}

#[tokio::test]
async fn the_evidence_is_one_json_of_all_runs() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = two_runs(&folder).await;
    let said = viewer.get("/api/evidence").await;
    assert_eq!(said.status, 200);
    assert_eq!(said.json()["runs"].as_array().unwrap().len(), 2);
    assert_eq!(viewer.get("/api/evidence").await.body, said.body);
}

#[tokio::test]
async fn news_wakes_up_when_a_run_grows_and_when_the_viewer_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live");
    let run = open(&path);
    add(&run, ["tiny", "large"], 0, "First?", ONE);
    let mut viewer = start(vec![path]).await;
    let runs = viewer.get("/api/runs").await.json();
    assert_eq!((&runs["runs"][0]["writing"], &runs["runs"][0]["sessions"]), (&json!(true), &json!(1)));
    let since = runs["version"].as_u64().unwrap();
    let path = format!("/api/news?since={since}");
    let (asked, said) = (Instant::now(), viewer.get(&path));
    let grow = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        add(&run, ["tiny", "large"], 1, "Second?", EASY);
    };
    let (said, ()) = tokio::join!(said, grow);
    assert!(said.json()["news"].as_bool().unwrap());
    assert!(asked.elapsed() >= Duration::from_millis(300) && asked.elapsed() < Duration::from_secs(5));
    assert_eq!(viewer.get("/api/sessions").await.json()["total"], 2);
    // The writer goes: that is news too.
    drop(run);
    let mut version = said.json()["version"].as_u64().unwrap();
    loop {
        let path = format!("/api/news?since={version}");
        version = viewer.get(&path).await.json()["version"].as_u64().unwrap();
        let row = viewer.get("/api/run?run=live").await.json();
        if row["writing"] == json!(false) && row["sessions"] == json!(2) {
            break;
        }
        assert!(asked.elapsed() < Duration::from_secs(20), "{row}");
    }
    // Its row is made once more.
    let mut version = 0;
    loop {
        let now = viewer.get("/api/home").await.json()["version"].as_u64().unwrap();
        if now == version {
            break;
        }
        version = now;
        tokio::time::sleep(Duration::from_millis(1500)).await;
    }
    // A wait in progress does not keep the viewer from ending.
    let end = viewer.end.take().unwrap();
    let path = format!("/api/news?since={version}");
    let stop = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        end.send(()).unwrap();
    };
    let asked = Instant::now();
    let (said, ()) = tokio::join!(viewer.get(&path), stop);
    assert!(!said.json()["news"].as_bool().unwrap() && asked.elapsed() < Duration::from_secs(5));
    viewer.task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_folder_without_a_run_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let runs = vec![folder.path().to_owned()];
    let error = aske_view::serve(runs, support::local(), |_| {}, std::future::pending()).await.unwrap_err();
    assert!(error.to_string().contains("holds no run") && aske_chat::Hint::hint(&error).is_some(), "{error}");
}

/// The memory of this process in bytes; 0 where the system does not tell.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).map_or(0, |pages: usize| pages * 4096)
}

#[tokio::test]
async fn giant_replies_are_cut_linked_and_made_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = open(&path);
    add(&run, ["tiny", "large"], 0, "First?", ONE);
    add(&run, ["tiny", "large"], 1, "Second?", ONE);
    let giant = "so $x^2$ and\n".repeat((8 << 20) / 13);
    for (turn, role) in (1..=2).flat_map(|turn| [Side::One, Side::Two].map(|side| (turn, Role::Solver(side))))
    {
        let key = CallKey { record: "large:tiny/0".into(), slot: Slot { turn, role, draw: 0 } };
        let call = StoredCall {
            model: "m".into(),
            request: [0; 16],
            reply: aske_chat::Reply::text(giant.as_str()),
            latency: Duration::from_secs(1),
            attempts: 1,
            cost: aske_chat::Usd(0.0),
        };
        run.calls().put(key, call).await.unwrap();
    }
    drop(run);
    let viewer = std::sync::Arc::new(start(vec![path]).await);
    let page = "/api/session?name=large:tiny/0";
    let one = viewer.get(page).await;
    assert!(one.body.len() < 13 << 20, "{}", one.body.len());
    let reply = &one.json()["turns"][0]["solvers"][0]["reply"];
    assert!(reply["text"]["left_out"].as_u64().unwrap() > 7 << 20);
    let full = viewer.get(reply["full"].as_str().unwrap()).await;
    assert!(full.head.contains("text/plain") && full.body == giant.as_bytes());
    // Thirty at once: 30 × 32 MB of replies, and no more than a few of them in memory.
    let before = resident();
    let many: Vec<_> = (0..30)
        .map(|_| {
            let viewer = std::sync::Arc::clone(&viewer);
            tokio::spawn(async move { viewer.get(page).await.body.len() })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(viewer.get("/api/session?name=large:tiny/1").await.status, 200);
    let done = many.iter().filter(|one| one.is_finished()).count();
    assert!(done < 15, "a small page does not wait for large ones: {done} were done before it");
    let mut most = 0;
    let mut sent = 0;
    for one in many {
        sent += one.await.unwrap();
        most = most.max(resident());
    }
    // What this test has received is in the same process.
    let held = most.saturating_sub(before + sent) >> 20;
    assert!(held < 600, "{held} MB");
}
