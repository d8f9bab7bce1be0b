//! A rollout, independent of the format of its file.

use crate::SkipReason;
use crate::{results, traces};
use aske_chat::plain_parse_error;
use aske_chat::{ChatRole, Finish, Usage, Usd};
use serde_json::Value;
use std::time::Duration;

/// The asker's conversation and the other fields of a rollout.
#[derive(Debug)]
pub(crate) struct Rollout {
    /// The conversation, in order.
    pub(crate) messages: Vec<RolloutMessage>,
    /// The model that asked, if the line names it.
    pub(crate) asker: Option<String>,
    /// Whether it ended in an error.
    pub(crate) failed: bool,
    /// Usage of the asker, if known only for the whole rollout.
    pub(crate) usage: Usage,
    /// All other fields.
    pub(crate) fields: Value,
}

/// One message of the conversation.
#[derive(Clone, Debug)]
pub(crate) struct RolloutMessage {
    pub(crate) role: ChatRole,
    pub(crate) text: String,
    /// Set for replies of the model in this rollout, not for examples in its prompt.
    pub(crate) call: Option<CallInfo>,
}

/// Details of a reply.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallInfo {
    pub(crate) reasoning: Option<String>,
    pub(crate) finish: Finish,
    pub(crate) usage: Usage,
    pub(crate) latency: Duration,
    pub(crate) cost: Usd,
}

impl Rollout {
    /// The indices of the asker's replies among the messages.
    pub(crate) fn turns(&self) -> Vec<usize> {
        let replies = self.messages.iter().enumerate().filter(|(_, message)| message.call.is_some());
        replies.map(|(index, _)| index).collect()
    }
}

/// Reads the rollouts of a line of either format; ambiguous ones are skipped.
pub(crate) fn read(line: &[u8]) -> Result<Vec<Result<Rollout, SkipReason>>, String> {
    let value: Value = serde_json::from_slice(line).map_err(plain_parse_error)?;
    if value.get("traces").is_some_and(Value::is_array) {
        traces::episode(value)
    } else if value.get("nodes").is_some_and(Value::is_array) {
        Ok(vec![traces::trace(value).map(Ok)?])
    } else if value.get("completion").is_some() {
        Ok(vec![Ok(results::rollout(value)?)])
    } else {
        Err("neither a rollout of results.jsonl nor an episode of traces.jsonl".to_owned())
    }
}

/// The role of a message; tool messages are skipped.
pub(crate) fn chat_role(message: &Value) -> Option<ChatRole> {
    match message.get("role")?.as_str()? {
        "system" | "developer" => Some(ChatRole::System),
        "user" => Some(ChatRole::User),
        "assistant" => Some(ChatRole::Assistant),
        _ => None,
    }
}

/// The text of a message: a string, or the texts of its parts.
pub(crate) fn text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Reasoning that the provider returned in a separate field.
pub(crate) fn reasoning(message: &Value) -> Option<String> {
    message.get("reasoning_content").and_then(Value::as_str).map(str::to_owned)
}
