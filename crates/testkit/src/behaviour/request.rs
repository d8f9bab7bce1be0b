//! The fields of a chat request that the models use.

use serde::Deserialize;

/// The body of `POST /v1/chat/completions`; other fields are ignored.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatRequest {
    pub(crate) model: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) seed: Option<i128>,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) max_completion_tokens: Option<u64>,
    pub(crate) stream: Option<bool>,
}

/// A message of the conversation.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    pub(crate) role: String,
    pub(crate) content: Option<Content>,
}

/// Text, as a string or in parts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

/// A part of a message; only text is used.
#[derive(Debug, Deserialize)]
pub(crate) struct ContentPart {
    pub(crate) text: Option<String>,
}

impl Message {
    /// The message's text; the last of several parts.
    pub(crate) fn text(&self) -> &str {
        match &self.content {
            Some(Content::Text(text)) => text,
            Some(Content::Parts(parts)) => {
                parts.iter().rev().find_map(|part| part.text.as_deref()).unwrap_or_default()
            }
            None => "",
        }
    }
}

impl ChatRequest {
    /// The text of every message.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().map(Message::text)
    }

    /// The last user message.
    pub(crate) fn last_user(&self) -> &str {
        self.messages.iter().rev().find(|message| message.role == "user").map_or("", Message::text)
    }

    /// Whether the reply should have a `#Summary#` section.
    pub(crate) fn wants_summary(&self) -> bool {
        let asked = |text: &str| text.contains("#Summary#");
        asked(self.last_user())
            || self.messages.iter().any(|message| message.role == "system" && asked(message.text()))
    }
}
