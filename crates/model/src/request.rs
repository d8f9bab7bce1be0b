//! A request to a model.

use crate::Sampling;
use aske_chat::{ChatRole, Message};
use std::fmt;
use xxhash_rust::xxh3::Xxh3;

/// One request, independent of the provider.
#[derive(Clone, Debug)]
pub struct Request {
    /// The conversation.
    pub messages: Vec<Message>,
    /// Maximum number of tokens of the reply.
    pub max_tokens: u32,
    /// Sampling parameters.
    pub sampling: Sampling,
    /// The seed of this call.
    pub seed: u32,
    /// The client, where one engine serves several: all calls of a client share its part of the engine. It affects
    /// neither the reply nor the hash.
    pub client: Option<u64>,
}

/// Puts the system prompt in front of the first user message, for models without a system role.
pub(crate) fn fold(messages: &[Message]) -> Vec<Message> {
    match messages {
        [system, user, rest @ ..] if system.role == ChatRole::System && user.role == ChatRole::User => {
            let both = Message::user(format!("{}\n\n{}", system.content, user.content));
            std::iter::once(both).chain(rest.iter().cloned()).collect()
        }
        other => other.to_vec(),
    }
}

/// Identifies a request to a model.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RequestHash(pub [u8; 16]);

impl fmt::Debug for RequestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Request {
    /// A single user message with default sampling.
    pub fn user(text: &str) -> Self {
        let messages = vec![Message::user(text)];
        Self { messages, max_tokens: 1024, sampling: Sampling::default(), seed: 0, client: None }
    }

    /// The hash of this request to a model; the model's address is not part of it. It detects mix-ups, not attacks, so a
    /// fast hash is enough: XXH3 with 128 bits.
    pub fn hash(&self, model: &str) -> RequestHash {
        let mut hasher = Xxh3::new();
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        };
        add(model.as_bytes());
        for message in &self.messages {
            add(&[message.role as u8]);
            add(message.content.as_bytes());
        }
        add(&self.max_tokens.to_le_bytes());
        add(&self.seed.to_le_bytes());
        add(&serde_json::to_vec(&self.sampling).unwrap_or_default());
        RequestHash(hasher.digest128().to_le_bytes())
    }

    /// An estimate of the tokens of this request, for rate limits before the actual count is known.
    pub(crate) fn estimate(&self) -> f64 {
        let characters: usize = self.messages.iter().map(|message| message.content.len()).sum();
        characters as f64 / 4.0 + f64::from(self.max_tokens.min(1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_follows_what_is_asked_and_of_whom() {
        let request = Request::user("a");
        let same = request.hash("m");
        assert_eq!(request.clone().hash("m"), same);
        assert_ne!(request.hash("n"), same);
        assert_ne!(Request::user("b").hash("m"), same);
        assert_ne!(Request { seed: 1, ..request.clone() }.hash("m"), same);
        assert_ne!(Request { max_tokens: 1, ..request.clone() }.hash("m"), same);
        let warm = Sampling { temperature: Some(0.7), ..Sampling::default() };
        assert_ne!(Request { sampling: warm, ..request }.hash("m"), same);
    }
}
