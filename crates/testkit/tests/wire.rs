//! What a raw TCP client sees: good replies, refusals and every fault.

mod client;

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use aske_testkit::{Fault, TestServer, TestServerOptions};
use client::{Client, body};
use serde_json::Value;

fn faulty(fault: Fault) -> TestServer {
    let hang = Duration::from_millis(150);
    TestServer::start(TestServerOptions {
        faults: 1.0,
        only_fault: Some(fault),
        hang,
        ..TestServerOptions::default()
    })
}

#[test]
fn a_good_reply_has_the_usual_shape() {
    let server = TestServer::start(TestServerOptions::default());
    let reply = Client::new(&server).chat(&body("solver-100", "What is 417 + 268?", 1)).unwrap();
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let value = reply.json();
    assert_eq!(value["object"], "chat.completion");
    assert_eq!(value["model"], "solver-100");
    assert_eq!(value["choices"][0]["message"]["role"], "assistant");
    assert_eq!(value["choices"][0]["finish_reason"], "stop");
    assert!(value["choices"][0]["message"]["content"].as_str().unwrap().ends_with("\\boxed{685}"));
    let tokens = |name: &str| value["usage"][name].as_u64().unwrap();
    assert_eq!(tokens("prompt_tokens") + tokens("completion_tokens"), tokens("total_tokens"));
}

#[test]
fn one_connection_serves_many_requests() {
    let server = TestServer::start(TestServerOptions::default());
    let mut client = Client::new(&server);
    for seed in 0..50 {
        assert_eq!(client.chat(&body("asker", "Go", seed)).unwrap().status, 200);
    }
    assert_eq!(client.get("/v1/models").unwrap().json()["object"], "list");
    assert_eq!(client.get("/stats").unwrap().json()["good"], 50);
}

#[test]
fn bad_requests_are_refused_in_the_usual_shape() {
    let server = TestServer::start(TestServerOptions::default());
    let mut client = Client::new(&server);
    let code = |value: &Value| value["error"]["code"].as_str().unwrap().to_owned();

    let reply = client.chat("{").unwrap();
    assert_eq!((reply.status, code(&reply.json())), (400, "invalid_body".into()));
    let reply = client.chat(&body("gpt", "Hello", 1)).unwrap();
    assert_eq!((reply.status, code(&reply.json())), (404, "model_not_found".into()));
    let reply = client.get("/nowhere").unwrap();
    assert_eq!((reply.status, code(&reply.json())), (404, "unknown_url".into()));
    client.key = Some("wrong-key");
    let reply = client.chat(&body("asker", "Go", 1)).unwrap();
    assert_eq!((reply.status, code(&reply.json())), (401, "invalid_api_key".into()));
    assert!(reply.text().contains("wrong-key"));
    client.key = Some("right-key");
    assert_eq!(client.chat(&body("asker", "Go", 1)).unwrap().status, 200);

    let stats = server.stats();
    assert_eq!((stats.requests, stats.refused, stats.good), (4, 3, 1));
}

#[test]
fn error_statuses_arrive_with_their_headers() {
    let cases = [
        (Fault::RetryNow, 429, Some("0")),
        (Fault::RetryInASecond, 429, Some("1")),
        (Fault::RetryUnknown, 429, None),
        (Fault::Status500, 500, None),
        (Fault::Status503, 503, None),
    ];
    for (fault, status, retry_after) in cases {
        let server = faulty(fault);
        let reply = Client::new(&server).chat(&body("asker", "Go", 1)).unwrap();
        assert_eq!((reply.status, reply.header("retry-after")), (status, retry_after), "{}", fault.name());
        assert!(reply.json()["error"]["message"].is_string());
        assert_eq!(server.stats().faults[&fault.name()], 1);
    }
}

#[test]
fn a_reset_is_a_reset() {
    let server = faulty(Fault::Reset);
    let error = Client::new(&server).chat(&body("asker", "Go", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
    assert_eq!(server.stats().faults["reset"], 1);
}

#[test]
fn a_hang_is_silence_and_then_a_close() {
    let server = faulty(Fault::Hang);
    let start = Instant::now();
    let error = Client::new(&server).chat(&body("asker", "Go", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}");
    assert!(start.elapsed() >= Duration::from_millis(150));
    assert_eq!(server.stats().faults["hang"], 1);
}

#[test]
fn half_a_body_is_half_of_the_declared_length() {
    let server = faulty(Fault::HalfBody);
    let mut client = Client::new(&server);
    client.send_chat(&body("asker", "Go", 1)).unwrap();
    let all = client.read_to_end().unwrap();
    let (head, half) = all.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let declared: usize =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    assert_eq!(half.len(), declared / 2);
    assert!(half.starts_with("{\"id\":\"chatcmpl-"));
    assert_eq!(server.stats().faults["half-body"], 1);
}

#[test]
fn a_page_and_an_empty_list_come_with_status_200() {
    let server = faulty(Fault::Html);
    let reply = Client::new(&server).chat(&body("asker", "Go", 1)).unwrap();
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(reply.text().starts_with("<!doctype html>"));

    let server = faulty(Fault::EmptyChoices);
    let reply = Client::new(&server).chat(&body("asker", "Go", 1)).unwrap();
    assert_eq!((reply.status, reply.text()), (200, "{\"choices\":[]}"));
}
