//! Chat completion requests in OpenAI's format.

use super::OpenAiError;
use aske_chat::{ChatRole, Message};
use aske_model::{Request, Sampling};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Maximum value of `n`.
const MAX_REPLIES: u32 = 128;
/// Maximum value of `max_tokens`; the model's context limits replies further.
const MAX_TOKENS: u32 = 1 << 20;
/// Maximum number of messages and of stop strings.
const MAX_MESSAGES: usize = 4096;
const MAX_STOPS: usize = 64;

/// Limits that are checked before any work.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestLimits {
    /// `max_tokens` of requests that do not set it.
    pub(super) default_max_tokens: u32,
    /// Bytes of all messages together that can fit the model's context.
    pub(super) max_prompt_bytes: Option<usize>,
}

/// Fields that would change the reply and are not supported. Other unknown fields are ignored.
const UNSUPPORTED: [(&str, &str); 9] = [
    ("tools", "tool calls are not supported"),
    ("functions", "function calls are not supported"),
    ("logprobs", "log probabilities are not supported"),
    ("top_logprobs", "log probabilities are not supported"),
    ("logit_bias", "biases are not supported"),
    ("response_format", "only free text is supported"),
    ("modalities", "only text is supported"),
    ("audio", "only text is supported"),
    ("chat_template_kwargs", "set `models.NAME.extra_body.chat_template_kwargs` where the model is loaded"),
];

/// The body of a request.
#[derive(Debug, Deserialize)]
pub(super) struct ChatRequest {
    pub(super) model: String,
    messages: Vec<ChatMessage>,
    max_tokens: Option<u32>,
    max_completion_tokens: Option<u32>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    top_k: Option<i64>,
    min_p: Option<f64>,
    presence_penalty: Option<f64>,
    frequency_penalty: Option<f64>,
    repetition_penalty: Option<f64>,
    stop: Option<OneOrMany>,
    ignore_eos: Option<bool>,
    seed: Option<i64>,
    n: Option<u32>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Deserialize)]
struct ChatMessage {
    role: String,
    content: Content,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Debug, Deserialize)]
struct ContentPart {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

/// A validated request.
#[derive(Debug)]
pub(super) struct CompletionRequest {
    request: Request,
    replies: u32,
    pub(super) streamed: bool,
    pub(super) with_usage: bool,
}

impl CompletionRequest {
    /// Appends the instruction that the model was trained with to the last message. A request with instructions of its own is
    /// left alone: one with a system message, or whose last message says where the answer goes.
    pub(super) fn instruct(&mut self, instruction: &str) {
        let messages = &mut self.request.messages;
        if messages.iter().any(|message| message.role == ChatRole::System) {
            return;
        }
        let Some(last) = messages.last_mut().filter(|last| last.role == ChatRole::User) else { return };
        if !instruction.is_empty() && !last.content.contains("\\boxed") {
            last.content = format!("{}\n\n{instruction}", last.content).into();
        }
    }

    /// One request for each reply, with different seeds.
    pub(super) fn requests(&self) -> impl Iterator<Item = Request> {
        (0..self.replies)
            .map(|reply| Request { seed: self.request.seed.wrapping_add(reply), ..self.request.clone() })
    }
}

impl ChatRequest {
    /// Validates the request; fields that it does not set are taken from `defaults`.
    pub(super) fn validate(
        self,
        defaults: &Sampling,
        limits: &RequestLimits,
        client: u64,
    ) -> Result<CompletionRequest, OpenAiError> {
        let set =
            |value: &&Value| !matches!(value, Value::Null | Value::Bool(false)) && **value != text_only();
        if let Some((name, reason)) =
            UNSUPPORTED.iter().find(|(name, _)| self.other.get(*name).as_ref().is_some_and(set))
        {
            return Err(OpenAiError::field(name, *reason));
        }
        if self.messages.is_empty() {
            return Err(OpenAiError::field("messages", "at least one message is required"));
        }
        let max_tokens = self.max_completion_tokens.or(self.max_tokens).unwrap_or(limits.default_max_tokens);
        let max = f64::from(MAX_TOKENS);
        check_range(
            "max_tokens",
            Some(max_tokens.into()),
            |n| (1.0..=max).contains(&n),
            "from 1 to 1048576",
        )?;
        if self.messages.len() > MAX_MESSAGES {
            return Err(OpenAiError::field("messages", format!("at most {MAX_MESSAGES} are allowed")));
        }
        let bytes: usize = self.messages.iter().map(ChatMessage::bytes).sum();
        if let Some(max) = limits.max_prompt_bytes.filter(|max| bytes > *max) {
            // Names no field, like the model's own error for a prompt that is too long.
            return Err(OpenAiError::bad_request(format!(
                "the messages have {bytes} bytes; at most {max} can fit the model's context"
            )));
        }
        check_range("temperature", self.temperature, |value| value >= 0.0, "0 or more")?;
        check_range("top_p", self.top_p, |value| value > 0.0 && value <= 1.0, "above 0 and at most 1")?;
        check_range("min_p", self.min_p, |value| (0.0..=1.0).contains(&value), "from 0 to 1")?;
        check_range("repetition_penalty", self.repetition_penalty, |value| value > 0.0, "above 0")?;
        check_range("presence_penalty", self.presence_penalty, |_| true, "a number")?;
        check_range("frequency_penalty", self.frequency_penalty, |_| true, "a number")?;
        let replies = self.n.unwrap_or(1);
        let max = f64::from(MAX_REPLIES);
        check_range("n", Some(replies.into()), |n| (1.0..=max).contains(&n), "from 1 to 128")?;
        let stop = self.stop.map(|stop| match stop {
            OneOrMany::One(stop) => vec![stop],
            OneOrMany::Many(stops) => stops,
        });
        if stop.as_ref().is_some_and(|stops| stops.len() > MAX_STOPS) {
            return Err(OpenAiError::field("stop", format!("at most {MAX_STOPS} are allowed")));
        }
        let sampling = Sampling {
            temperature: self.temperature,
            top_p: self.top_p,
            top_k: self.top_k,
            min_p: self.min_p,
            presence_penalty: self.presence_penalty,
            frequency_penalty: self.frequency_penalty,
            repetition_penalty: self.repetition_penalty,
            stop,
            ignore_eos: self.ignore_eos,
            ..Sampling::default()
        };
        let seed = self.seed.map_or_else(|| fastrand::u32(..), fold_seed);
        let messages = self.messages.into_iter().map(ChatMessage::into_message).collect::<Result<_, _>>()?;
        Ok(CompletionRequest {
            request: Request {
                messages,
                max_tokens,
                sampling: sampling.over(defaults),
                seed,
                client: Some(client),
            },
            replies,
            streamed: self.stream.unwrap_or(false),
            with_usage: self.stream_options.and_then(|options| options.include_usage).unwrap_or(false),
        })
    }
}

impl ChatMessage {
    fn bytes(&self) -> usize {
        match &self.content {
            Content::Text(text) => text.len(),
            Content::Parts(parts) => parts.iter().map(|part| part.text.len()).sum(),
        }
    }

    fn into_message(self) -> Result<Message, OpenAiError> {
        let text = match self.content {
            Content::Text(text) => text,
            Content::Parts(parts) => {
                if let Some(other) = parts.iter().find(|part| part.kind != "text") {
                    return Err(OpenAiError::field(
                        "messages",
                        format!("parts of type `{}` are not supported", other.kind),
                    ));
                }
                parts.into_iter().map(|part| part.text).collect()
            }
        };
        match self.role.as_str() {
            "system" | "developer" => Ok(Message::system(text)),
            "user" => Ok(Message::user(text)),
            "assistant" => Ok(Message::assistant(text)),
            other => Err(OpenAiError::field(
                "messages",
                format!("the role `{other}` is not supported; use system, user or assistant"),
            )),
        }
    }
}

/// The value of `response_format` that asks for free text.
fn text_only() -> Value {
    serde_json::json!({ "type": "text" })
}

/// Folds a seed of 64 bits into 32.
fn fold_seed(seed: i64) -> u32 {
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
    half(seed.cast_unsigned()) ^ half(seed.cast_unsigned() >> 32)
}

fn check_range(
    name: &'static str,
    value: Option<f64>,
    is_valid: impl Fn(f64) -> bool,
    range: &str,
) -> Result<(), OpenAiError> {
    match value {
        Some(value) if !value.is_finite() || !is_valid(value) => {
            Err(OpenAiError::field(name, format!("{value} is not {range}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn validate(value: Value) -> Result<CompletionRequest, OpenAiError> {
        let defaults = Sampling { temperature: Some(0.7), top_k: Some(20), ..Sampling::default() };
        serde_json::from_value::<ChatRequest>(value).unwrap().validate(
            &defaults,
            &RequestLimits { default_max_tokens: 64, max_prompt_bytes: Some(1000) },
            7,
        )
    }

    #[test]
    fn what_a_client_leaves_open_is_as_configured() {
        let request = validate(json!({
            "model": "m", "top_k": 5, "stop": "x", "seed": 7, "n": 2, "user": "someone", "tools": null,
            "response_format": {"type": "text"},
            "messages": [
                {"role": "developer", "content": "be brief"},
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            ],
        }))
        .unwrap();
        let Request { messages, max_tokens, sampling, .. } = &request.request;
        assert_eq!(messages[..], [Message::system("be brief"), Message::user("ab")]);
        assert_eq!((*max_tokens, sampling.temperature, sampling.top_k), (64, Some(0.7), Some(5)));
        assert_eq!(sampling.stop.as_deref(), Some(&["x".to_owned()][..]));
        assert_eq!(request.requests().map(|request| request.seed).collect::<Vec<_>>(), [7, 8]);
    }

    #[test]
    fn the_instruction_of_a_model_follows_a_request_without_its_own() {
        let last = |messages: Value| {
            let mut request = validate(json!({ "model": "m", "messages": messages })).unwrap();
            request.instruct(r"Work, \boxed{}.");
            request.request.messages.last().unwrap().content.to_string()
        };
        let user = |text: &str| json!({"role": "user", "content": text});
        assert_eq!(last(json!([user("What is 2 + 2?")])), "What is 2 + 2?\n\nWork, \\boxed{}.");
        let dialogue = json!([user("a"), {"role": "assistant", "content": "b"}, user("c")]);
        assert_eq!(last(dialogue), "c\n\nWork, \\boxed{}.");
        for own in [
            json!([{"role": "system", "content": "s"}, user("q")]),
            json!([{"role": "developer", "content": "s"}, user("q")]),
            json!([user("q. Put it in \\boxed{}.")]),
            json!([user("a"), {"role": "assistant", "content": "q"}]),
        ] {
            assert!(!last(own).contains("Work"));
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name() {
        let base = json!({ "model": "m", "messages": [{"role": "user", "content": "q"}] });
        let wrong = [
            ("tools", json!([{}])),
            ("logprobs", json!(true)),
            ("response_format", json!({"type": "json_object"})),
            ("temperature", json!(-1)),
            ("top_p", json!(0)),
            ("n", json!(0)),
            ("n", json!(129)),
            ("max_tokens", json!(0)),
            ("max_tokens", json!(2_000_000)),
            ("stop", json!(vec!["x"; 65])),
            ("messages", json!(vec![json!({"role": "user", "content": ""}); 4097])),
            ("messages", json!([])),
            ("messages", json!([{"role": "tool", "content": "q"}])),
            ("messages", json!([{"role": "user", "content": [{"type": "image_url"}]}])),
        ];
        for (name, value) in wrong {
            let mut body = base.clone();
            body[name] = value;
            assert_eq!(validate(body).unwrap_err().param, Some(name));
        }
        let long = json!({ "model": "m", "messages": [{"role": "user", "content": "q".repeat(1001)}] });
        assert!(
            validate(long).unwrap_err().body()["error"]["message"].as_str().unwrap().contains("1001 bytes")
        );
        assert!(validate(base).is_ok());
    }
}
