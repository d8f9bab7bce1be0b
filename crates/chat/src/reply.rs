//! What a model gives back.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Why a model stopped writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done, or met a stop string.
    #[default]
    Stop,
    /// It ran out of its token budget.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// Anything else a server may say.
    Other,
}

impl Finish {
    /// The name under which it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::Filtered => "filtered",
            Self::Other => "other",
        }
    }

    /// Reads a stored name; what is unknown is [`Finish::Other`].
    pub fn from_name(name: &str) -> Self {
        match name {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "filtered" => Self::Filtered,
            _ => Self::Other,
        }
    }
}

/// Tokens that one or more calls used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub prompt: u64,
    /// Tokens read from the provider's cache; part of `prompt`.
    pub cached: u64,
    /// Tokens written, thinking included.
    pub completion: u64,
    /// Tokens of thinking, where the provider counts them; part of `completion`.
    pub reasoning: u64,
}

impl Usage {
    /// Read and written together.
    pub fn total(&self) -> u64 {
        self.prompt + self.completion
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.cached += other.cached;
        self.completion += other.completion;
        self.reasoning += other.reasoning;
    }
}

/// One reply of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text, with any thinking the model wrote in band.
    pub content: String,
    /// Thinking that the provider keeps in a field of its own.
    pub reasoning: Option<String>,
    /// Why it ended.
    pub finish: Finish,
    /// What it used.
    pub usage: Usage,
    /// Its tokens, where the model is one that learns from them.
    #[serde(skip)]
    pub trace: Option<Trace>,
}

/// The tokens of a reply as they were sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The tokens, with the one that ended the reply.
    pub tokens: Vec<u32>,
    /// The natural logarithm of the probability that each had when it was sampled.
    pub logprobs: Vec<f32>,
}

impl Reply {
    /// A finished reply with this text.
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}
