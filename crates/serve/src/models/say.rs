//! What a client is told, in OpenAI's words.

use super::{Head, together};
use aske_chat::{Finish, Reply, Usage};
use serde_json::{Value, json};

/// An answer all at once.
pub(super) fn whole(head: &Head, replies: &[Reply]) -> Value {
    let choice = |(index, reply): (usize, &Reply)| {
        json!({
            "index": index,
            "message": { "role": "assistant", "content": reply.content, "refusal": null },
            "logprobs": null,
            "finish_reason": finish(reply.finish),
        })
    };
    let choices: Vec<Value> = replies.iter().enumerate().map(choice).collect();
    let used = together(replies.iter().map(|reply| reply.usage));
    json!({
        "id": head.id, "object": "chat.completion", "created": head.created, "model": head.model,
        "choices": choices, "usage": usage(used),
    })
}

/// A part of a streamed answer: what one of the replies adds.
pub(super) fn part(head: &Head, index: usize, delta: &Value, end: Option<Finish>) -> Value {
    let choice = json!({
        "index": index, "delta": delta, "logprobs": null, "finish_reason": end.map(finish),
    });
    json!({
        "id": head.id, "object": "chat.completion.chunk", "created": head.created, "model": head.model,
        "choices": [choice],
    })
}

/// The last part of a streamed answer, where the client wants to know what it used.
pub(super) fn used(head: &Head, used: Usage) -> Value {
    json!({
        "id": head.id, "object": "chat.completion.chunk", "created": head.created, "model": head.model,
        "choices": [], "usage": usage(used),
    })
}

fn usage(used: Usage) -> Value {
    json!({
        "prompt_tokens": used.prompt,
        "completion_tokens": used.completion,
        "total_tokens": used.total(),
        "prompt_tokens_details": { "cached_tokens": used.cached },
    })
}

fn finish(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Other => "stop",
        Finish::Length => "length",
        Finish::Filtered => "content_filter",
    }
}
