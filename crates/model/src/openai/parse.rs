//! Reading what a server sent. Anything unexpected is a malformed reply, which is tried again.

use crate::{Cause, Fault};
use aske_chat::{Finish, Reply, Usage};
use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Counts>,
    error: Option<ErrorBody>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<Message>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Content>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counts {
    #[serde(deserialize_with = "count")]
    prompt_tokens: u64,
    #[serde(deserialize_with = "count")]
    completion_tokens: u64,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "count")]
    cached_tokens: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    #[serde(deserialize_with = "count")]
    reasoning_tokens: u64,
}

/// More tokens than any reply has; what a server counts beyond is its error, and no sum may overflow by it.
const MOST_TOKENS: u64 = 1_000_000_000;

/// A number of tokens, however a server writes it. Book-keeping never makes a good reply a bad one.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let whole = value.as_u64().or_else(|| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped before the cast"
        )]
        value.as_f64().map(|number| number.clamp(0.0, MOST_TOKENS as f64) as u64)
    });
    Ok(whole.unwrap_or(0).min(MOST_TOKENS))
}

/// The error that some servers send with status 200, and most with any other.
#[derive(Deserialize)]
struct ErrorBody {
    message: Option<String>,
    code: Option<serde_json::Value>,
}

/// The reply in a completion.
pub(super) fn reply(body: &[u8]) -> Result<Reply, Fault> {
    let completion: Completion = serde_json::from_slice(body).map_err(|error| {
        let error = bounded(&error.to_string());
        Fault::new(Cause::Malformed, format!("not a completion ({error}): {}", excerpt(body)))
    })?;
    if let Some(error) = completion.error {
        let code =
            error.code.as_ref().and_then(serde_json::Value::as_u64).and_then(|c| u16::try_from(c).ok());
        let message = error.message.unwrap_or_else(|| excerpt(body));
        let cause = code.map_or(Cause::Server, super::status::cause);
        return Err(Fault::new(cause, bounded(&message)));
    }
    let choice = completion.choices.into_iter().next();
    let Some((message, finish)) = choice.and_then(|c| Some((c.message?, c.finish_reason))) else {
        return Err(Fault::new(Cause::Malformed, format!("no choices: {}", excerpt(body))));
    };
    if message.content.is_none() && message.reasoning_content.is_none() && finish.is_none() {
        return Err(Fault::new(Cause::Malformed, format!("an empty message: {}", excerpt(body))));
    }
    // A reply that the server gave up on is none, however much of it came.
    if let Some(reason @ ("abort" | "cancelled" | "error" | "insufficient_system_resource")) =
        finish.as_deref()
    {
        return Err(Fault::new(Cause::Server, format!("the server broke the reply off: {reason}")));
    }
    let content = match message.content {
        Some(Content::Text(text)) => text,
        Some(Content::Parts(parts)) => parts.into_iter().map(|part| part.text).collect(),
        None => String::new(),
    };
    let reasoning = message.reasoning_content.or(message.reasoning).filter(|text| !text.is_empty());
    let usage = usage(completion.usage);
    Ok(Reply { content, reasoning, finish: self::finish(finish.as_deref()), usage, trace: None })
}

fn finish(reason: Option<&str>) -> Finish {
    match reason {
        Some("stop" | "eos" | "end_turn" | "stop_sequence") | None => Finish::Stop,
        Some("length" | "max_tokens" | "model_length") => Finish::Length,
        Some("content_filter" | "safety") => Finish::Filtered,
        Some(_) => Finish::Other,
    }
}

fn usage(counts: Option<Counts>) -> Usage {
    let counts = counts.unwrap_or_default();
    Usage {
        prompt: counts.prompt_tokens,
        cached: counts.prompt_tokens_details.unwrap_or_default().cached_tokens,
        completion: counts.completion_tokens,
        reasoning: counts.completion_tokens_details.unwrap_or_default().reasoning_tokens,
    }
}

/// The names of the models that a server lists, where it does.
pub(super) fn served(body: &[u8]) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct List {
        data: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        id: String,
    }
    let list: List = serde_json::from_slice(body).ok()?;
    Some(list.data.into_iter().map(|entry| entry.id).collect())
}

/// What an error body says, or the beginning of the body.
pub(super) fn error_message(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Outer {
        error: Option<serde_json::Value>,
        message: Option<String>,
        detail: Option<serde_json::Value>,
    }
    // Gemini wraps its error object in a list.
    let outer = serde_json::from_slice::<Outer>(body)
        .ok()
        .or_else(|| serde_json::from_slice::<Vec<Outer>>(body).ok()?.into_iter().next());
    let said = outer.and_then(|outer| match outer.error {
        Some(serde_json::Value::String(text)) => Some(text),
        Some(error) => error.get("message").and_then(|m| m.as_str()).map(str::to_owned),
        None => outer.message.or_else(|| outer.detail.map(|detail| detail.to_string())),
    });
    said.map_or_else(|| excerpt(body), |said| bounded(&said))
}

/// The beginning of a body, fit for one line of a terminal.
fn excerpt(body: &[u8]) -> String {
    let head = &body[..body.len().min(400)];
    if head.is_empty() { "an empty body".to_owned() } else { bounded(&String::from_utf8_lossy(head)) }
}

/// At most 300 characters, without control characters.
fn bounded(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean.take(300).collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_completion_is_read() {
        let body = br#"{"choices":[{"message":{"role":"assistant","content":"hi","reasoning_content":"hm"},
            "finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":3,
            "prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}"#;
        let reply = reply(body).unwrap();
        assert_eq!((reply.content.as_str(), reply.reasoning.as_deref()), ("hi", Some("hm")));
        assert_eq!(reply.finish, Finish::Length);
        assert_eq!(reply.usage, Usage { prompt: 7, cached: 4, completion: 3, reasoning: 2 });
    }

    #[test]
    fn variants_of_servers_are_read() {
        let read = |body: &str| reply(body.as_bytes()).unwrap();
        assert_eq!(
            read(r#"{"choices":[{"message":{"content":null},"finish_reason":"length"}]}"#).content,
            ""
        );
        let parts = r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}],"usage":null}"#;
        assert_eq!(read(parts).content, "ab");
        let other_field =
            r#"{"choices":[{"message":{"content":"x","reasoning":"r"},"finish_reason":"content_filter"}]}"#;
        assert_eq!(read(other_field).reasoning.as_deref(), Some("r"));
        assert_eq!(read(other_field).finish, Finish::Filtered);
    }

    #[test]
    fn odd_token_counts_never_cost_a_reply() {
        let read = |counts: &str| {
            let body = format!(r#"{{"choices":[{{"message":{{"content":"x"}}}}],"usage":{counts}}}"#);
            reply(body.as_bytes()).unwrap().usage
        };
        assert_eq!(read(r#"{"prompt_tokens":12.0,"completion_tokens":null}"#).prompt, 12);
        assert_eq!(read(r#"{"prompt_tokens":9223372036854775808}"#).prompt, MOST_TOKENS);
        assert_eq!(read(r#"{"prompt_tokens":-5,"completion_tokens":"many"}"#), Usage::default());
        assert_eq!(read(r#"{"prompt_tokens_details":{"cached_tokens":null}}"#), Usage::default());
    }

    #[test]
    fn what_is_no_completion_is_malformed_and_an_error_object_is_its_code() {
        let cause = |body: &str| reply(body.as_bytes()).unwrap_err().cause;
        for reason in ["abort", "error"] {
            let broken =
                format!(r#"{{"choices":[{{"message":{{"content":"so 4"}},"finish_reason":"{reason}"}}]}}"#);
            assert_eq!(cause(&broken), Cause::Server, "{reason}");
        }
        let empty = r#"{"choices":[{"message":{"content":null},"finish_reason":null}]}"#;
        for body in [empty, "", "<html>busy</html>", "{}", r#"{"choices":[]}"#, r#"{"choices":[{}]}"#, "[1]"]
        {
            assert_eq!(cause(body), Cause::Malformed, "{body}");
        }
        assert_eq!(cause(r#"{"error":{"message":"slow down","code":429}}"#), Cause::Throttled);
        assert_eq!(cause(r#"{"error":{"message":"who?","code":401}}"#), Cause::Auth);
        assert_eq!(cause(r#"{"error":{"message":"oops"}}"#), Cause::Server);
    }

    #[test]
    fn errors_are_bounded_and_on_one_line() {
        let quoted = format!(r#"{{"choices":"{}"}}"#, "x".repeat(200_000));
        assert!(reply(quoted.as_bytes()).unwrap_err().message.len() < 1000);
        let long = format!(r#"{{"error":{{"message":"a\n\u001b[31m{}"}}}}"#, "b".repeat(5000));
        let said = error_message(long.as_bytes());
        assert!(said.chars().count() <= 300 && !said.contains(['\n', '\u{1b}']));
        assert_eq!(error_message(br#"[{"error":{"code":400,"message":"bad"}}]"#), "bad");
        assert_eq!(error_message(br#"{"detail":"nope"}"#), "\"nope\"");
        assert_eq!(error_message(b""), "an empty body");
    }
}
