//! What a client asks for, in OpenAI's words.

use super::Refusal;
use aske_chat::Message;
use aske_model::{Request, Sampling};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Replies to one request at most.
const MOST_REPLIES: u32 = 128;
/// Tokens of one reply at most that a client may ask for; replies are as long as the model's context at most.
const MOST_TOKENS: u32 = 1 << 20;
/// Messages of a request, and stop strings, at most.
const MOST_MESSAGES: usize = 4096;
const MOST_STOPS: usize = 64;

/// What a request is held against before any work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Tokens of a reply where the client does not say.
    pub(super) usual_tokens: u32,
    /// Bytes of all messages together that can fit the model's context.
    pub(super) prompt_bytes: Option<usize>,
}

/// What changes a reply and is not done here. Everything else that is unknown does no harm, and is ignored.
const NOT_DONE: [(&str, &str); 9] = [
    ("tools", "tools are not called here"),
    ("functions", "functions are not called here"),
    ("logprobs", "log-probabilities are not sent"),
    ("top_logprobs", "log-probabilities are not sent"),
    ("logit_bias", "biases are not taken"),
    ("response_format", "replies are free text"),
    ("modalities", "replies are text"),
    ("audio", "replies are text"),
    ("chat_template_kwargs", "set `models.NAME.extra_body.chat_template_kwargs` where the model is loaded"),
];

/// A request as it was sent.
#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    pub(super) model: String,
    messages: Vec<Said>,
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
    more: Map<String, Value>,
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
struct Said {
    role: String,
    content: Content,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

/// A request that can be answered.
#[derive(Debug)]
pub(super) struct Asked {
    request: Request,
    replies: u32,
    pub(super) streamed: bool,
    pub(super) with_usage: bool,
}

impl Asked {
    /// One request for each reply, with seeds of their own.
    pub(super) fn requests(&self) -> impl Iterator<Item = Request> {
        (0..self.replies)
            .map(|reply| Request { seed: self.request.seed.wrapping_add(reply), ..self.request.clone() })
    }
}

impl Wanted {
    /// The request of this group; what it leaves open is as `usual`.
    pub(super) fn read(self, usual: &Sampling, limits: &Limits, group: u64) -> Result<Asked, Refusal> {
        let set =
            |value: &&Value| !matches!(value, Value::Null | Value::Bool(false)) && **value != text_only();
        if let Some((name, why)) =
            NOT_DONE.iter().find(|(name, _)| self.more.get(*name).as_ref().is_some_and(set))
        {
            return Err(Refusal::field(name, *why));
        }
        if self.messages.is_empty() {
            return Err(Refusal::field("messages", "there is no message"));
        }
        let max_tokens = self.max_completion_tokens.or(self.max_tokens).unwrap_or(limits.usual_tokens);
        let most = f64::from(MOST_TOKENS);
        in_range(
            "max_tokens",
            Some(f64::from(max_tokens)),
            |n| (1.0..=most).contains(&n),
            "from 1 to 1048576",
        )?;
        if self.messages.len() > MOST_MESSAGES {
            return Err(Refusal::field("messages", format!("there are more than {MOST_MESSAGES}")));
        }
        let bytes: usize = self.messages.iter().map(Said::bytes).sum();
        if let Some(most) = limits.prompt_bytes.filter(|most| bytes > *most) {
            // As the model itself would say it, which has no field either.
            return Err(Refusal::too_long(bytes, most));
        }
        in_range("temperature", self.temperature, |value| value >= 0.0, "0 or more")?;
        in_range("top_p", self.top_p, |value| value > 0.0 && value <= 1.0, "above 0 and at most 1")?;
        in_range("min_p", self.min_p, |value| (0.0..=1.0).contains(&value), "from 0 to 1")?;
        in_range("repetition_penalty", self.repetition_penalty, |value| value > 0.0, "above 0")?;
        in_range("presence_penalty", self.presence_penalty, |_| true, "a number")?;
        in_range("frequency_penalty", self.frequency_penalty, |_| true, "a number")?;
        let replies = self.n.unwrap_or(1);
        let most = f64::from(MOST_REPLIES);
        in_range("n", Some(f64::from(replies)), |n| (1.0..=most).contains(&n), "from 1 to 128")?;
        let stop = self.stop.map(|stop| match stop {
            OneOrMany::One(stop) => vec![stop],
            OneOrMany::Many(stops) => stops,
        });
        if stop.as_ref().is_some_and(|stops| stops.len() > MOST_STOPS) {
            return Err(Refusal::field("stop", format!("there are more than {MOST_STOPS}")));
        }
        let own = Sampling {
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
        let seed = self.seed.map_or_else(|| fastrand::u32(..), folded);
        let messages = self.messages.into_iter().map(Said::read).collect::<Result<_, _>>()?;
        Ok(Asked {
            request: Request { messages, max_tokens, sampling: own.over(usual), seed, group: Some(group) },
            replies,
            streamed: self.stream.unwrap_or(false),
            with_usage: self.stream_options.and_then(|options| options.include_usage).unwrap_or(false),
        })
    }
}

impl Said {
    /// Bytes of its text.
    fn bytes(&self) -> usize {
        match &self.content {
            Content::Text(text) => text.len(),
            Content::Parts(parts) => parts.iter().map(|part| part.text.len()).sum(),
        }
    }

    fn read(self) -> Result<Message, Refusal> {
        let text = match self.content {
            Content::Text(text) => text,
            Content::Parts(parts) => {
                if let Some(other) = parts.iter().find(|part| part.kind != "text") {
                    return Err(Refusal::field(
                        "messages",
                        format!("a part is `{}`; only text is read", other.kind),
                    ));
                }
                parts.into_iter().map(|part| part.text).collect()
            }
        };
        match self.role.as_str() {
            "system" | "developer" => Ok(Message::system(text)),
            "user" => Ok(Message::user(text)),
            "assistant" => Ok(Message::assistant(text)),
            other => Err(Refusal::field(
                "messages",
                format!("a role is `{other}`; there are system, user, assistant"),
            )),
        }
    }
}

/// What clients send that always want free text.
fn text_only() -> Value {
    serde_json::json!({ "type": "text" })
}

/// Seeds of 64 bits: all of their bits count.
fn folded(seed: i64) -> u32 {
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
    half(seed.cast_unsigned()) ^ half(seed.cast_unsigned() >> 32)
}

fn in_range(
    name: &'static str,
    value: Option<f64>,
    good: impl Fn(f64) -> bool,
    range: &str,
) -> Result<(), Refusal> {
    match value {
        Some(value) if !value.is_finite() || !good(value) => {
            Err(Refusal::field(name, format!("{value} is not {range}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Asked, Refusal> {
        let usual = Sampling { temperature: Some(0.7), top_k: Some(20), ..Sampling::default() };
        serde_json::from_value::<Wanted>(value).unwrap().read(
            &usual,
            &Limits { usual_tokens: 64, prompt_bytes: Some(1000) },
            7,
        )
    }

    #[test]
    fn what_a_client_leaves_open_is_as_configured() {
        let asked = read(json!({
            "model": "m", "top_k": 5, "stop": "x", "seed": 7, "n": 2, "user": "someone", "tools": null,
            "response_format": {"type": "text"},
            "messages": [
                {"role": "developer", "content": "be brief"},
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            ],
        }))
        .unwrap();
        let Request { messages, max_tokens, sampling, .. } = &asked.request;
        assert_eq!(messages[..], [Message::system("be brief"), Message::user("ab")]);
        assert_eq!((*max_tokens, sampling.temperature, sampling.top_k), (64, Some(0.7), Some(5)));
        assert_eq!(sampling.stop.as_deref(), Some(&["x".to_owned()][..]));
        assert_eq!(asked.requests().map(|request| request.seed).collect::<Vec<_>>(), [7, 8]);
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
            assert_eq!(read(body).unwrap_err().param(), Some(name));
        }
        let long = json!({ "model": "m", "messages": [{"role": "user", "content": "q".repeat(1001)}] });
        assert!(read(long).unwrap_err().body()["error"]["message"].as_str().unwrap().contains("1001 bytes"));
        assert!(read(base).is_ok());
    }
}
