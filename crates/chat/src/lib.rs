//! The words every room shares: a [`Message`], a [`Reply`], how it [`Finish`]ed, what it used.
//!
//! Plain values, no behaviour beyond arithmetic; depends on nothing of ours.
//!
//! ```
//! use aske_chat::{Finish, Message, Reply};
//! let prompt = [Message::system("Answer briefly."), Message::user("What is 2 + 2?")];
//! let reply = Reply::text("\\boxed{4}");
//! assert_eq!((prompt.len(), reply.finish), (2, Finish::Stop));
//! ```

mod hint;
mod money;
mod reply;

pub use hint::Hint;
pub use money::{Price, Usd};
pub use reply::{Finish, Reply, Trace, Usage};

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Who speaks a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRole {
    /// The standing instructions.
    System,
    /// The side that asks.
    User,
    /// The model's own earlier reply.
    Assistant,
}

/// One message of a conversation; its text is shared, so a growing conversation is cheap to copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: ChatRole,
    /// What is said.
    pub content: Arc<str>,
}

impl Message {
    /// Standing instructions.
    pub fn system(content: impl Into<Arc<str>>) -> Self {
        Self { role: ChatRole::System, content: content.into() }
    }

    /// A message to the model.
    pub fn user(content: impl Into<Arc<str>>) -> Self {
        Self { role: ChatRole::User, content: content.into() }
    }

    /// A reply of the model, as history.
    pub fn assistant(content: impl Into<Arc<str>>) -> Self {
        Self { role: ChatRole::Assistant, content: content.into() }
    }
}
