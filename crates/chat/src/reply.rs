//! The reply of a model.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done, or reached a stop string.
    #[default]
    Stop,
    /// The token limit was reached.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// Any other reason.
    Other,
}

impl Finish {
    /// The stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::Filtered => "filtered",
            Self::Other => "other",
        }
    }

    /// Parses a stored name; unknown names are [`Finish::Other`].
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
    /// Prompt tokens.
    pub prompt: u64,
    /// Prompt tokens from the provider's cache; part of `prompt`.
    pub cached: u64,
    /// Completion tokens, including thinking.
    pub completion: u64,
    /// Thinking tokens, where reported; part of `completion`.
    pub reasoning: u64,
}

impl Usage {
    /// Prompt and completion tokens.
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
    /// The text, including in-band thinking.
    pub content: String,
    /// Thinking that the provider returns separately.
    pub reasoning: Option<String>,
    /// Why it ended.
    pub finish: Finish,
    /// Token usage.
    pub usage: Usage,
    /// Its tokens, if they were requested or the model is being trained.
    #[serde(skip)]
    pub trace: Option<Trace>,
}

/// The tokens of a reply as they were sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The tokens, including the one that ended the reply; empty where the server returns log-probabilities only.
    pub tokens: Vec<u32>,
    /// The log-probability of each token when it was sampled.
    pub logprobs: Vec<f32>,
    /// The tokens of the prompt; empty where unknown.
    pub prompt: Vec<u32>,
    /// The version of the weights that sampled them: the number of updates before. `None` in folders of earlier programs.
    pub version: Option<u64>,
}

impl Reply {
    /// A finished reply with this text.
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}
