//! Replies that are good but for a detail of their JSON: the text is used at once, and no session stays open.

mod common;

use aske_testkit::{RawServer, RecordedRequest, response};
use common::{Config, World};

/// What every model here says, as it stands in a JSON string.
fn text(seen: &RecordedRequest) -> &'static str {
    match seen.model().as_str() {
        "asker" => r"#Reasoning#\nr\n#Draft#\nd\n#Question#\nWhat is 2 + 2?",
        _ => r"#Summary#\nI added.\n\\boxed{4}",
    }
}

/// A completion with this content, usage and more fields, all as JSON.
fn completion(content: &str, usage: &str, more: &str) -> Vec<u8> {
    format!(
        r#"{{"id":"x","choices":[{{"index":0,"message":{{"role":"assistant","content":"{content}"}},"finish_reason":"stop"}}],"usage":{usage}{more}}}"#
    )
    .into_bytes()
}

type Oddity = fn(&str) -> Vec<u8>;

const PLAIN: &str = r#"{"prompt_tokens":7,"completion_tokens":3}"#;

/// Each with what is odd about it.
const ODDITIES: &[(&str, Oddity)] = &[
    ("a lone leading surrogate", |text| completion(&format!(r"\ud83d {text}"), PLAIN, "")),
    ("a lone trailing surrogate", |text| completion(&format!(r"\uDC00{text}"), PLAIN, "")),
    ("a pair the wrong way round", |text| completion(&format!(r"\udc00\ud83d {text}"), PLAIN, "")),
    ("a surrogate at the very end", |text| completion(&format!(r"{text}\ud800"), PLAIN, "")),
    ("a count beyond all numbers", |text| {
        completion(text, r#"{"prompt_tokens":1e400,"completion_tokens":3}"#, "")
    }),
    ("a usage beyond all numbers", |text| completion(text, "1e400", "")),
    ("a number beyond all numbers elsewhere", |text| completion(text, PLAIN, r#","took":-1e999"#)),
    ("counts that are not numbers", |text| {
        completion(text, r#"{"prompt_tokens":NaN,"completion_tokens":-Infinity}"#, "")
    }),
    ("negative and fractional counts", |text| {
        completion(text, r#"{"prompt_tokens":-7,"completion_tokens":2.5}"#, "")
    }),
    ("no usage", |text| completion(text, "null", "")),
    ("a usage that is a text", |text| completion(text, r#""many""#, "")),
    ("details that are a list", |text| completion(text, r#"{"prompt_tokens_details":[1]}"#, "")),
    ("a count that is nested deeply", |text| {
        completion(text, &format!(r#"{{"prompt_tokens":{}{}}}"#, "[".repeat(5000), "]".repeat(5000)), "")
    }),
    ("another field that is nested deeply", |text| {
        completion(text, PLAIN, &format!(r#","x":{}0{}"#, r#"{"a":"#.repeat(5000), "}".repeat(5000)))
    }),
    ("the same key twice", |text| completion(text, PLAIN, &format!(r#","usage":{PLAIN}"#))),
    ("a byte order mark", |text| [b"\xef\xbb\xbf".to_vec(), completion(text, PLAIN, "")].concat()),
    ("a line break in a text", |text| completion(&format!("one\ntwo {text}"), PLAIN, "")),
    ("an escape that JSON does not know", |text| completion(&format!(r"\( {text}"), PLAIN, "")),
    ("bytes that are no text", |text| {
        let whole = completion(text, PLAIN, "");
        let place = whole.windows(2).position(|two| two == b"#\\").unwrap_or(0);
        [&whole[..place], b"\xff", &whole[place..]].concat()
    }),
    ("a reason that is a number", |text| {
        String::from_utf8_lossy(&completion(text, PLAIN, "")).replace(r#""stop""#, "1").into_bytes()
    }),
];

#[test]
fn an_oddity_beside_a_good_reply_leaves_no_session_open() {
    let mut open = Vec::new();
    for &(what, body) in ODDITIES {
        let server = RawServer::start(move |seen| response(200, "", &body(text(seen))));
        let limits = "attempts = 2".to_owned();
        let config = Config { urls: vec![server.url()], limits, samples: 1, ..config() };
        let world = World::with(&config);
        let ran = world.run(&["bench", "--run", "run", "--json"]);
        let folder = world.folder("run");
        let (grades, replies) = (folder.grades(), folder.replies());
        let is_graded = grades.get("one:two/0").is_some_and(|grade| grade["outcome"] == "too_easy");
        if ran.code != Some(0) || !is_graded {
            open.push(format!("{what}: {}", ran.json()["failures"][0]["message"]));
            continue;
        }
        assert_eq!(
            folder.stored(),
            server.requests().len() as u64,
            "{what}: every reply was used the first time"
        );
        assert!(replies.values().all(|reply| reply.contains("#Question#") || reply.contains("boxed{4}")));
        if what.contains("surrogate") {
            assert!(replies.values().all(|reply| reply.contains('\u{fffd}')), "{what}: {replies:?}");
        }
    }
    assert!(open.is_empty(), "sessions stay open after\n{}", open.join("\n"));
}

fn config() -> Config {
    Config {
        urls: Vec::new(),
        asker: "asker".to_owned(),
        solvers: vec!["one".to_owned(), "two".to_owned()],
        rounds: 1,
        samples: 1,
        concurrency: 4,
        limits: String::new(),
        keys: String::new(),
        equivalence: None,
    }
}

#[test]
fn what_is_no_completion_stays_a_failure() {
    let whole = completion(r"\\boxed{4}", PLAIN, "");
    let half = whole[..whole.len() / 2].to_vec();
    for body in
        [half, b"<html>busy</html>".to_vec(), completion("", "null", "").split_off(3), b"[[[".to_vec()]
    {
        let server = RawServer::start(move |_| response(200, "", &body));
        let limits = "attempts = 2".to_owned();
        let world = World::with(&Config { urls: vec![server.url()], limits, ..config() });
        let ran = world.expect(1, &["bench", "--run", "run", "--json"]);
        assert_eq!(ran.json()["failures"][0]["cause"], "malformed reply", "{ran}");
        // The probes of the four models are tried as often, and do not stop the run.
        assert_eq!(server.requests().len(), 4 * 2 + 2, "tried twice and given up");
        assert_eq!(world.folder("run").stored(), 0);
    }
}
