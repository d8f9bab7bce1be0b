//! Responses in OpenAI's format.

use aske_chat::{Finish, Reply, Usage};
use serde_json::{Value, json};

/// The fields that all parts of one response share.
pub(super) struct ResponseHeader {
    id: String,
    created: u64,
    model: String,
}

impl ResponseHeader {
    pub(super) fn new(model: &str) -> Self {
        let id = format!("chatcmpl-{:016x}", fastrand::u64(..));
        Self { id, created: super::unix_time(), model: model.to_owned() }
    }

    /// A complete response.
    pub(super) fn completion(&self, replies: &[Reply]) -> Value {
        let choice = |(index, reply): (usize, &Reply)| {
            json!({
                "index": index,
                "message": { "role": "assistant", "content": reply.content, "refusal": null },
                "logprobs": null,
                "finish_reason": finish_reason(reply.finish),
            })
        };
        let choices: Vec<Value> = replies.iter().enumerate().map(choice).collect();
        let mut body = self.object("chat.completion", &choices);
        body["usage"] = usage(replies.iter().map(|reply| reply.usage));
        body
    }

    /// A chunk of a streamed response: what one of the replies adds.
    pub(super) fn chunk(&self, index: usize, delta: &Value, finish: Option<Finish>) -> Value {
        let choice = json!({
            "index": index, "delta": delta, "logprobs": null, "finish_reason": finish.map(finish_reason),
        });
        self.object("chat.completion.chunk", &[choice])
    }

    /// The last chunk of a streamed response, if the client requested the usage.
    pub(super) fn usage_chunk(&self, replies: impl IntoIterator<Item = Usage>) -> Value {
        let mut body = self.object("chat.completion.chunk", &[]);
        body["usage"] = usage(replies);
        body
    }

    fn object(&self, object: &str, choices: &[Value]) -> Value {
        json!({
            "id": self.id, "object": object, "created": self.created, "model": self.model, "choices": choices,
        })
    }
}

/// The usage of several replies to one prompt, which counts once.
fn usage(replies: impl IntoIterator<Item = Usage>) -> Value {
    let add = |sum: Usage, one: Usage| Usage {
        prompt: one.prompt,
        cached: if sum == Usage::default() { one.cached } else { sum.cached },
        completion: sum.completion + one.completion,
        reasoning: sum.reasoning + one.reasoning,
    };
    let total = replies.into_iter().fold(Usage::default(), add);
    json!({
        "prompt_tokens": total.prompt,
        "completion_tokens": total.completion,
        "total_tokens": total.total(),
        "prompt_tokens_details": { "cached_tokens": total.cached },
    })
}

fn finish_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Other => "stop",
        Finish::Length => "length",
        Finish::Filtered => "content_filter",
    }
}
