//! Explanations of a verdict: how both answers were read, and what decided. Used by `aske verify --explain`.

use crate::answer::Answer;
use crate::compare::Rules;
use crate::read;
use aske_algebra::exact;
use aske_algebra::fuel::Fuel;
use aske_algebra::verdict::Comparison;
use serde::Serialize;

/// One way an answer was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// The kind of answer.
    pub kind: &'static str,
    /// What was understood.
    pub read: String,
    /// The canonical form, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical: Option<String>,
}

/// Both answers as they were read, and what was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The readings of the gold answer; none where it is only text.
    pub gold: Vec<Reading>,
    /// The readings of the other answer.
    pub pred: Vec<Reading>,
    /// The verdict and the method.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// Work for one explanation's canonical forms.
const FUEL: u64 = 2_000_000;

/// Compares two answers and tells how.
pub fn explain(gold: &str, pred: &str, rules: &Rules) -> Explanation {
    Explanation { gold: readings(gold), pred: readings(pred), comparison: rules.compare(gold, pred) }
}

fn readings(text: &str) -> Vec<Reading> {
    let fuel = Fuel::new(FUEL);
    read::readings(text, &fuel)
        .unwrap_or_default()
        .iter()
        .map(|answer| Reading {
            kind: answer.kind(),
            read: answer.to_string(),
            canonical: match answer {
                Answer::Value(expr) | Answer::Percent(expr) | Answer::Quantity(expr, _) => {
                    exact::canonical_form(expr, &fuel).ok().map(|normal| normal.to_string())
                }
                _ => None,
            },
        })
        .collect()
}
