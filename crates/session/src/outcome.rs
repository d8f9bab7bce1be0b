//! How a session ended.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The label of a finished session. A failure of the infrastructure is never one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Exactly one solver was right.
    Calibrated,
    /// Both were right.
    TooEasy,
    /// Neither was right.
    TooHard,
    /// The final turn had no question.
    NoQuestion,
    /// The cross-check answers did not all agree.
    BadCrossCheck,
}

impl Outcome {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 5] =
        [Self::Calibrated, Self::TooEasy, Self::TooHard, Self::NoQuestion, Self::BadCrossCheck];

    /// The name in records and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated",
            Self::TooEasy => "too_easy",
            Self::TooHard => "too_hard",
            Self::NoQuestion => "no_question",
            Self::BadCrossCheck => "bad_cross_check",
        }
    }

    /// The outcome that follows from which solvers are right, in either order.
    pub fn of(right: [bool; 2]) -> Self {
        match right {
            [true, true] => Self::TooEasy,
            [false, false] => Self::TooHard,
            _ => Self::Calibrated,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
