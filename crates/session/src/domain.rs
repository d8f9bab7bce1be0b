//! A domain is a prompt pack, a way to read an answer and a way to compare two.

mod choice;
mod number;
mod text;

use crate::thinking::SplitReply;
use aske_answer::{Comparison, Rules, last_word};
use serde::Serialize;
use std::str::FromStr;

/// What the questions are about, and so how answers are read and compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Domain {
    /// Mathematics: any expression.
    Math {
        /// Which rules decide whether two answers are the same.
        rules: Rules,
    },
    /// Multiple choice: one letter.
    Choice,
    /// One number, equal within a relative tolerance.
    Number {
        /// The maximum difference, relative to the larger number.
        tolerance: f64,
    },
    /// A word or a short phrase.
    Text,
}

/// The default relative tolerance: one percent.
const TOLERANCE: f64 = 0.01;

/// An unknown name of a domain.
#[derive(Debug, thiserror::Error)]
#[error("unknown domain `{0}`, expected one of math, choice, number, text")]
pub struct UnknownDomainError(String);

impl FromStr for Domain {
    type Err = UnknownDomainError;
    fn from_str(name: &str) -> Result<Self, UnknownDomainError> {
        match name {
            "math" => Ok(Self::math()),
            "choice" => Ok(Self::Choice),
            "number" => Ok(Self::Number { tolerance: TOLERANCE }),
            "text" => Ok(Self::Text),
            other => Err(UnknownDomainError(other.to_owned())),
        }
    }
}

impl Domain {
    /// The names of all domains.
    pub const NAMES: [&'static str; 4] = ["math", "choice", "number", "text"];

    /// Mathematics by the usual rules.
    pub fn math() -> Self {
        Self::Math { rules: Rules::default() }
    }

    /// Its name in configurations.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Math { .. } => "math",
            Self::Choice => "choice",
            Self::Number { .. } => "number",
            Self::Text => "text",
        }
    }

    /// The answer that a reply gives, boxed or not.
    pub fn read(&self, parts: &SplitReply<'_>) -> Option<String> {
        let boxed = parts.boxed();
        let visible = parts.visible.as_ref();
        match self {
            Self::Math { .. } => boxed.or_else(|| last_word(visible)).map(str::to_owned),
            Self::Choice => choice::read(boxed, visible),
            Self::Number { .. } => number::read(boxed, visible),
            Self::Text => text::read(boxed, visible),
        }
    }

    /// Whether two answers are the same.
    pub fn compare(&self, gold: &str, pred: &str) -> Comparison {
        match self {
            Self::Math { rules } => rules.compare(gold, pred),
            Self::Choice => choice::compare(gold, pred),
            Self::Number { tolerance } => number::compare(gold, pred, *tolerance),
            Self::Text => text::compare(gold, pred),
        }
    }
}
