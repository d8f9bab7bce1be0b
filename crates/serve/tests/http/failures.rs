//! What goes wrong is said clearly, and is never a score.

use crate::support::{World, asks};
use axum::{Json, Router, routing};
use serde_json::json;
use std::time::Duration;
use tokio::net::TcpListener;

#[tokio::test]
async fn a_solver_that_cannot_be_reached_is_a_failure_and_the_step_may_be_repeated() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let far = format!(
        "[models.far]\nprovider = \"openai\"\nurl = \"http://127.0.0.1:{port}/v1\"\nlimits = {{ attempts = 1 }}\n"
    );
    let world = World::with("check", ["weak", "far"], &far);
    let server = world.usual().await;
    let (session, _) = server.create(&json!({})).await;
    let probe = asks("a probe");
    for _ in 0..2 {
        let failed = server.step(&session, 1, &probe).await;
        assert_eq!((failed.status, &failed.body["failure"]), (503, &json!(true)), "{failed:?}");
        assert!(failed.head.contains("retry-after: ") && failed.body["hint"].is_string(), "{failed:?}");
    }
    let reward = server.get(&format!("/v1/sessions/{session}/reward")).await;
    assert_eq!(reward.status, 409, "no score: {reward:?}");
    let other = server.step(&session, 1, &asks("another")).await;
    assert_eq!(other.status, 409, "the turn has its reply: {other:?}");
    // Now the solver is there.
    let reply = json!({
        "choices": [{ "message": { "content": "\\boxed{42}" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1 },
    });
    let solver = Router::new().route("/v1/chat/completions", routing::post(async move || Json(reply)));
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let solving = tokio::spawn(async move { axum::serve(listener, solver).await });
    let next = server.step(&session, 1, &probe).await;
    assert_eq!((next.status, &next.body["turn"]), (200, &json!(2)), "{next:?}");
    solving.abort();
    server.stop().await;
    let stored = aske_record::Replies::open(&world.path().join("run")).unwrap();
    assert_eq!(stored.of_record("far:weak/0").unwrap().len(), 3, "the weak solver was asked once");
}

#[tokio::test]
async fn a_lasting_failure_is_a_bad_gateway() {
    let world = World::new("check");
    // Nothing in this script fits.
    std::fs::write(world.path().join("weak.jsonl"), "{\"when\":\"never\",\"reply\":\"x\"}\n").unwrap();
    let server = world.usual().await;
    let (session, _) = server.create(&json!({})).await;
    let failed = server.step(&session, 1, &asks("a probe")).await;
    assert_eq!((failed.status, &failed.body["failure"]), (502, &json!(true)), "{failed:?}");
    server.stop().await;
}

#[tokio::test]
async fn sessions_are_limited_deleted_and_forgotten() {
    let world = World::new("check");
    let server = world.start(2, Duration::from_secs(3)).await;
    let (first, one) = server.create(&json!({})).await;
    let (_, two) = server.create(&json!({})).await;
    assert_eq!((&one["sample"], &two["sample"]), (&json!(0), &json!(1)), "one pair, two samples");
    let full = server.post("/v1/sessions", &json!({})).await;
    assert!(full.status == 429 && full.head.contains("retry-after: "), "{full:?}");
    let path = format!("/v1/sessions/{first}");
    assert_eq!(server.send("DELETE", &path, "", "").await.status, 204);
    assert_eq!(server.send("DELETE", &path, "", "").await.status, 404);
    let (third, _) = server.create(&json!({})).await;
    tokio::time::sleep(Duration::from_millis(3200)).await;
    assert_eq!(server.step(&third, 1, &asks("x")).await.status, 404);
    assert_eq!(server.get("/healthz").await.body["sessions"], 0);
    server.stop().await;
}

#[tokio::test]
async fn bad_requests_get_one_clear_error() {
    let world = World::new("check");
    let server = world.usual().await;
    let (session, _) = server.create(&json!({})).await;
    let step = format!("/v1/sessions/{session}/step");
    let large = json!({ "turn": 1, "content": "x".repeat(5 << 20) });
    for (path, body, status, says) in [
        ("/v1/sessions", json!({ "pair": "weak:stron" }), 400, "strong"),
        ("/v1/sessions", json!({ "pair": "weak:weak" }), 400, "weak"),
        ("/v1/sessions", json!({ "pear": 1 }), 400, "pear"),
        (step.as_str(), json!({ "content": "x" }), 400, "turn"),
        (step.as_str(), large, 413, "smaller"),
        ("/v1/sessions/none/step", json!({ "turn": 1, "content": "x" }), 404, "create another"),
        ("/v1/diversity", json!({ "step": 1, "questions": vec![""; 5000] }), 400, "4096"),
        ("/v1/nothing", json!({}), 404, "openapi"),
        ("/healthz", json!({}), 405, "openapi"),
    ] {
        let said = server.post(path, &body).await;
        assert_eq!(said.status, status, "{path} {said:?}");
        let text = said.body.to_string();
        assert!(
            said.body["error"].is_string() && said.body["hint"].is_string() && text.contains(says),
            "{text}"
        );
    }
    let plain = server.send("POST", &step, "Content-Type: text/plain\r\n", "{}").await;
    assert_eq!(plain.status, 415, "{plain:?}");
    let novelty = server.get(&format!("/v1/sessions/{session}/reward?novelty=3")).await;
    assert_eq!(novelty.status, 400, "{novelty:?}");
    let document = server.get("/openapi.json").await.body;
    assert!(document["paths"]["/v1/sessions/{session}/step"]["post"].is_object());
    server.stop().await;
}
