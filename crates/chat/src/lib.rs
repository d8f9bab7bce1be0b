//! Types that all crates share: [`Message`], [`Reply`], [`Usage`], [`Price`] and the [`Hint`] trait.
//!
//! Plain values without behaviour beyond arithmetic; depends on no other crate of the workspace.
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
mod wording;

pub use hint::Hint;
pub use money::{Price, Usd};
pub use reply::{Finish, Reply, Trace, Usage};
pub use wording::plain_parse_error;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRole {
    /// The system prompt.
    System,
    /// A message to the model.
    User,
    /// A reply of the model.
    Assistant,
}

/// One message of a conversation; its text is shared, so a growing conversation is cheap to copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The role.
    pub role: ChatRole,
    /// The text.
    pub content: Arc<str>,
}

impl Message {
    /// A system prompt.
    pub fn system(content: impl Into<Arc<str>>) -> Self {
        Self { role: ChatRole::System, content: content.into() }
    }

    /// A message to the model.
    pub fn user(content: impl Into<Arc<str>>) -> Self {
        Self { role: ChatRole::User, content: content.into() }
    }

    /// An earlier reply of the model.
    pub fn assistant(content: impl Into<Arc<str>>) -> Self {
        Self { role: ChatRole::Assistant, content: content.into() }
    }
}
