//! One rollout, whatever file it came from.

use crate::Left;
use crate::{results, traces};
use aske_chat::{ChatRole, Finish, Usage, Usd};
use serde_json::Value;
use std::time::Duration;

/// A rollout: the asker's conversation, and all that the file says beside it.
#[derive(Debug)]
pub(crate) struct Rollout {
    /// The conversation, in order.
    pub(crate) messages: Vec<Said>,
    /// The model that asked, where the line names it.
    pub(crate) asker: Option<String>,
    /// It ended in an error.
    pub(crate) failed: bool,
    /// What the asker used, where that is told of the whole rollout only.
    pub(crate) usage: Usage,
    /// Every other field.
    pub(crate) fields: Value,
}

/// One message of the conversation.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) role: ChatRole,
    pub(crate) text: String,
    /// What the model said in this rollout, and no example that stood in its prompt.
    pub(crate) call: Option<Took>,
}

/// What is told of an asker's reply beside its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Took {
    pub(crate) reasoning: Option<String>,
    pub(crate) finish: Finish,
    pub(crate) usage: Usage,
    pub(crate) latency: Duration,
    pub(crate) cost: Usd,
}

impl Rollout {
    /// The asker's turns: the places of its replies among the messages.
    pub(crate) fn turns(&self) -> Vec<usize> {
        let asked = self.messages.iter().enumerate().filter(|(_, said)| said.call.is_some());
        asked.map(|(place, _)| place).collect()
    }
}

/// The rollouts of one line, of either format; those that cannot be told apart are left out.
pub(crate) fn read(line: &[u8]) -> Result<Vec<Result<Rollout, Left>>, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
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

/// Who speaks; messages of tools are none of the conversation.
pub(crate) fn speaker(message: &Value) -> Option<ChatRole> {
    match message.get("role")?.as_str()? {
        "system" | "developer" => Some(ChatRole::System),
        "user" => Some(ChatRole::User),
        "assistant" => Some(ChatRole::Assistant),
        _ => None,
    }
}

/// The text of a message: one string, or those of its parts.
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

/// Thinking that the provider kept in a field of its own.
pub(crate) fn reasoning(message: &Value) -> Option<String> {
    message.get("reasoning_content").and_then(Value::as_str).map(str::to_owned)
}
