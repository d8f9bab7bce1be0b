//! Parses responses. A body without a reply is an error that is retried; a reply is used even if other parts of the body are malformed.

use super::repair;
use crate::{ErrorCause, ProviderError};
use aske_chat::{Finish, Reply, Trace, Usage};
use serde_json::Value;

/// Token counts are clamped to this, so that sums cannot overflow.
const MAX_TOKENS: u64 = 1_000_000_000;

/// The reply in a completion. Only the parts that make up the reply must be valid.
pub(super) fn reply(body: &[u8]) -> Result<Reply, ProviderError> {
    let malformed =
        |what: &str| ProviderError::new(ErrorCause::Malformed, format!("{what}: {}", excerpt(body)));
    let mut completion: Value = serde_json::from_slice(body).or_else(|error| {
        let invalid = || malformed(&format!("not a completion ({})", bounded(&error.to_string())));
        repair::value(body).ok_or_else(invalid)
    })?;
    if !completion.is_object() {
        return Err(malformed("not a completion"));
    }
    // Some servers send an error with status 200.
    if let Some(error) = completion.get("error").filter(|error| !error.is_null()) {
        let code = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        let message = error.as_str().or_else(|| error["message"].as_str());
        let cause = code.map_or(ErrorCause::Server, super::status::cause);
        return Err(ProviderError::new(cause, message.map_or_else(|| excerpt(body), bounded)));
    }
    let usage = usage(&completion["usage"]);
    let prompt = token_ids(&completion["prompt_token_ids"]);
    let mut choice = completion.pointer_mut("/choices/0").map_or(Value::Null, Value::take);
    let trace = trace(&choice, prompt.unwrap_or_default());
    if !choice["message"].is_object() {
        return Err(malformed("no choices"));
    }
    let content = match choice["message"]["content"].take() {
        Value::Null => None,
        Value::String(text) => Some(text),
        content => Some(joined(&content).ok_or_else(|| malformed("the content is not a text"))?),
    };
    let (message, finish) = (&choice["message"], choice["finish_reason"].as_str());
    let [reasoning_content, reasoning] = ["reasoning_content", "reasoning"].map(|key| message[key].as_str());
    if content.is_none() && reasoning_content.is_none() && finish.is_none() {
        return Err(malformed("an empty message"));
    }
    // The server aborted the reply.
    if let Some(reason @ ("abort" | "cancelled" | "error" | "insufficient_system_resource")) = finish {
        return Err(ProviderError::new(
            ErrorCause::Server,
            format!("the server broke the reply off: {reason}"),
        ));
    }
    let reasoning = reasoning_content.or(reasoning).filter(|text| !text.is_empty()).map(str::to_owned);
    let content = content.unwrap_or_default();
    Ok(Reply { content, reasoning, finish: self::finish(finish), usage, trace })
}

/// The tokens of a reply and their log-probabilities, where the server returns them: as `logprobs.content`, whose entries have
/// an `id` at llama-server, and as `token_ids` at vLLM. Lists that do not fit together are left out.
fn trace(choice: &Value, prompt: Vec<u32>) -> Option<Trace> {
    let entries = choice["logprobs"]["content"].as_array();
    #[expect(clippy::cast_possible_truncation, reason = "a log-probability needs no more")]
    let logprob = |entry: &Value| entry["logprob"].as_f64().map(|logprob| logprob as f32);
    let logprobs = entries.and_then(|entries| entries.iter().map(logprob).collect::<Option<Vec<_>>>());
    let id = |entry: &Value| u32::try_from(entry["id"].as_u64()?).ok();
    let ids = || entries.and_then(|entries| entries.iter().map(id).collect());
    let tokens = token_ids(&choice["token_ids"]).or_else(ids);
    match (tokens.unwrap_or_default(), logprobs.unwrap_or_default()) {
        (tokens, logprobs) if tokens.is_empty() && logprobs.is_empty() => None,
        (tokens, logprobs)
            if !tokens.is_empty() && !logprobs.is_empty() && tokens.len() != logprobs.len() =>
        {
            None
        }
        (tokens, logprobs) => Some(Trace { tokens, logprobs, version: None, prompt }),
    }
}

fn token_ids(list: &Value) -> Option<Vec<u32>> {
    list.as_array()?.iter().map(|id| u32::try_from(id.as_u64()?).ok()).collect()
}

/// The text of a content in parts.
fn joined(content: &Value) -> Option<String> {
    let text =
        |part: &Value| part.as_object()?.get("text").map_or(Some(""), Value::as_str).map(str::to_owned);
    content.as_array()?.iter().map(text).collect()
}

fn finish(reason: Option<&str>) -> Finish {
    match reason {
        Some("stop" | "eos" | "end_turn" | "stop_sequence") | None => Finish::Stop,
        Some("length" | "max_tokens" | "model_length") => Finish::Length,
        Some("content_filter" | "safety") => Finish::Filtered,
        Some(_) => Finish::Other,
    }
}

fn usage(counts: &Value) -> Usage {
    Usage {
        prompt: tokens(&counts["prompt_tokens"]),
        cached: tokens(&counts["prompt_tokens_details"]["cached_tokens"]),
        completion: tokens(&counts["completion_tokens"]),
        reasoning: tokens(&counts["completion_tokens_details"]["reasoning_tokens"]),
    }
}

/// A token count, however it is written. A wrong count never makes a reply unusable.
fn tokens(value: &Value) -> u64 {
    let whole = value.as_u64().or_else(|| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped before the cast"
        )]
        value.as_f64().map(|number| number.clamp(0.0, MAX_TOKENS as f64) as u64)
    });
    whole.unwrap_or(0).min(MAX_TOKENS)
}

/// The names of the models that a server lists, where it does.
pub(super) fn served(body: &[u8]) -> Option<Vec<String>> {
    let list: Value = serde_json::from_slice(body).ok()?;
    list["data"].as_array()?.iter().map(|entry| entry["id"].as_str().map(str::to_owned)).collect()
}

/// What an error body says, or the beginning of the body.
pub(super) fn error_message(body: &[u8]) -> String {
    let body_or_list: Value = serde_json::from_slice(body).unwrap_or_default();
    // Gemini wraps its error object in a list.
    let outer = body_or_list.get(0).unwrap_or(&body_or_list);
    let said = match (&outer["error"], &outer["detail"]) {
        (Value::String(text), _) => Some(text.clone()),
        (Value::Null, Value::Null) => outer["message"].as_str().map(str::to_owned),
        (Value::Null, detail) => {
            Some(outer["message"].as_str().map_or_else(|| detail.to_string(), str::to_owned))
        }
        (error, _) => error["message"].as_str().map(str::to_owned),
    };
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
    fn tokens_and_log_probabilities_are_read_where_they_fit_together() {
        let read = |top: &str, choice: &str| {
            let body = format!(r#"{{{top}"choices":[{{"message":{{"content":"hi"}}{choice}}}]}}"#);
            reply(body.as_bytes()).unwrap().trace
        };
        let entries = r#","logprobs":{"content":[{"token":"h","logprob":-0.5},{"token":"i","logprob":-1}]}"#;
        let trace = |tokens: &[u32], logprobs: &[f32], prompt: &[u32]| {
            Some(Trace {
                tokens: tokens.into(),
                logprobs: logprobs.into(),
                version: None,
                prompt: prompt.into(),
            })
        };
        assert_eq!(read("", entries), trace(&[], &[-0.5, -1.0], &[]), "OpenAI");
        let vllm = format!(r#"{entries},"token_ids":[7,8]"#);
        assert_eq!(
            read(r#""prompt_token_ids":[1,2,3],"#, &vllm),
            trace(&[7, 8], &[-0.5, -1.0], &[1, 2, 3]),
            "vLLM"
        );
        let llama = r#","logprobs":{"content":[{"id":7,"token":"h","logprob":-0.5}]}"#;
        assert_eq!(read("", llama), trace(&[7], &[-0.5], &[]), "llama-server");
        for other in ["", r#","logprobs":null"#, r#","logprobs":{"content":[]}"#, r#","logprobs":[3]"#] {
            assert_eq!(read("", other), None, "{other}");
        }
        assert_eq!(
            read("", &format!(r#"{entries},"token_ids":[7]"#)),
            None,
            "one token, two log-probabilities"
        );
        assert_eq!(read("", r#","logprobs":{"content":[{"logprob":"x"}]},"token_ids":[-1]"#), None);
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
        assert_eq!(read(r#"{"prompt_tokens":9223372036854775808}"#).prompt, MAX_TOKENS);
        assert_eq!(read(r#"{"prompt_tokens":-5,"completion_tokens":"many"}"#), Usage::default());
        assert_eq!(read(r#"{"prompt_tokens_details":{"cached_tokens":null}}"#), Usage::default());
    }

    #[test]
    fn a_good_reply_is_read_whatever_stands_beside_it() {
        let read = |body: &str| reply(body.as_bytes()).unwrap();
        let lone = r#"{"choices":[{"message":{"content":"so \ud83d 4","reasoning":"\udc00"},"finish_reason":"length"}],
            "usage":{"prompt_tokens":1e400,"completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":2}}}"#;
        let found = read(lone);
        assert_eq!((found.content.as_str(), found.reasoning.as_deref()), ("so \u{fffd} 4", Some("\u{fffd}")));
        assert_eq!(found.finish, Finish::Length);
        assert_eq!(found.usage, Usage { completion: 3, reasoning: 2, ..Usage::default() });
        for usage in ["1e400", "NaN", "\"many\"", "[]", "[-Infinity]", "null", "7", "{\"prompt_tokens\":{}}"]
        {
            let body =
                format!(r#"{{"choices":[{{"message":{{"content":"x"}}}}],"usage":{usage},"error":null}}"#);
            assert_eq!(read(&body), Reply::text("x"), "{usage}");
        }
        let twice = r#"{"choices":[],"usage":1,"choices":[{"message":{"content":[{"text":"\udfff"}]},"finish_reason":1}],"usage":2}"#;
        assert_eq!(read(twice).content, "\u{fffd}");
    }

    #[test]
    fn repairs_make_no_reply_of_what_is_none() {
        let cause = |body: &str| reply(body.as_bytes()).unwrap_err().cause;
        for content in ["42", "{}", "true", "1e400,\"content\":7"] {
            let body =
                format!(r#"{{"choices":[{{"message":{{"content":{content}}},"finish_reason":"stop"}}]}}"#);
            assert_eq!(cause(&body), ErrorCause::Malformed, "{content}");
        }
        assert_eq!(cause(r#"{"error":"no \ud800"}"#), ErrorCause::Server);
        assert_eq!(cause(r#"{"error":{"code":429,"message":"\ud800"},"took":1e400}"#), ErrorCause::Throttled);
        assert_eq!(cause(r#"{"choices":[{"message":null}],"took":NaN}"#), ErrorCause::Malformed);
    }

    #[test]
    fn what_is_no_completion_is_malformed_and_an_error_object_is_its_code() {
        let cause = |body: &str| reply(body.as_bytes()).unwrap_err().cause;
        for reason in ["abort", "error"] {
            let broken =
                format!(r#"{{"choices":[{{"message":{{"content":"so 4"}},"finish_reason":"{reason}"}}]}}"#);
            assert_eq!(cause(&broken), ErrorCause::Server, "{reason}");
        }
        let empty = r#"{"choices":[{"message":{"content":null},"finish_reason":null}]}"#;
        for body in [empty, "", "<html>busy</html>", "{}", r#"{"choices":[]}"#, r#"{"choices":[{}]}"#, "[1]"]
        {
            assert_eq!(cause(body), ErrorCause::Malformed, "{body}");
        }
        assert_eq!(cause(r#"{"error":{"message":"slow down","code":429}}"#), ErrorCause::Throttled);
        assert_eq!(cause(r#"{"error":{"message":"who?","code":401}}"#), ErrorCause::Auth);
        assert_eq!(cause(r#"{"error":{"message":"oops"}}"#), ErrorCause::Server);
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
