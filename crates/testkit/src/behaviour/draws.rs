//! Pseudo-random draws, derived from the request only.

use super::ChatRequest;

/// The purpose of a draw; each uses its own bits of the request's hash.
#[derive(Clone, Copy)]
pub(crate) enum Draw {
    /// The kind of the reply.
    ReplyKind,
    /// The length of the numbers.
    Digits,
    /// The first number.
    Left,
    /// The second number.
    Right,
    /// Whether the answer is right.
    Skill,
    /// Which wrong answer is given.
    Slip,
    /// Where the padding starts.
    Padding,
}

/// The hash of a request's model, messages and seed.
pub(crate) struct Draws([u8; 64]);

impl Draws {
    /// Hashes a request; each text is preceded by its length, so that different requests differ.
    pub(crate) fn of(request: &ChatRequest) -> Self {
        let mut hasher = blake3::Hasher::new();
        let mut text = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        text(&request.model);
        for message in &request.messages {
            text(&message.role);
            text(message.text());
        }
        if let Some(seed) = request.seed {
            hasher.update(&seed.to_le_bytes());
        }
        let mut bits = [0; 64];
        hasher.finalize_xof().fill(&mut bits);
        Self(bits)
    }

    /// A number below `bound`; the bias is below 2⁻⁴⁰ for the bounds in use.
    pub(crate) fn below(&self, draw: Draw, bound: u64) -> u64 {
        let start = draw as usize * 8;
        let mut word = [0; 8];
        word.copy_from_slice(&self.0[start..start + 8]);
        u64::from_le_bytes(word) % bound
    }

    /// Whether an event of this probability happens.
    pub(crate) fn percent(&self, draw: Draw, chance: u64) -> bool {
        self.below(draw, 100) < chance
    }

    /// An id for the reply, from the eight bytes that no draw uses.
    pub(crate) fn id(&self) -> String {
        use std::fmt::Write;
        self.0[56..].iter().fold(String::with_capacity(16), |mut id, byte| {
            // Writing to a string cannot fail.
            let _ = write!(id, "{byte:02x}");
            id
        })
    }
}
