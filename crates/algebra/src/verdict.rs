//! The result of a comparison: the verdict, and the method that reached it.

use serde::{Deserialize, Serialize};

/// What a comparison found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The same answer.
    Equal,
    /// Not the same answer.
    Different,
    /// Neither could be proved within the work limit.
    Undecided,
}

/// How a verdict was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The same or different text, or the same words.
    Text,
    /// Canonical forms: a proof.
    Exact,
    /// Disjoint enclosures: a proof of difference.
    Interval,
    /// The same option letter, or another.
    Letter,
    /// The same comma-separated parts in another order.
    Parts,
    /// Two ways of saying that there is no solution.
    NoSolution,
    /// Within or outside the tolerance of a rounded number.
    Tolerance,
    /// Agreement at many points, to many digits: no proof, but very likely.
    Probable,
    /// Answers of kinds that are never the same, or of other lengths.
    Kind,
    /// The paper's fall-through: the same text apart from case and white space, after the mathematics differed.
    Folded,
    /// The work limit was reached.
    Bounds,
}

impl Method {
    /// The weaker of two methods that a verdict depends on.
    #[must_use]
    pub fn weaker(self, other: Self) -> Self {
        self.max(other)
    }
}

/// A verdict and how it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// Equal, different or undecided.
    pub verdict: Verdict,
    /// The method that decided.
    pub method: Method,
}

impl Comparison {
    /// Equal or different, by this method.
    pub fn decided(equal: bool, method: Method) -> Self {
        Self { verdict: if equal { Verdict::Equal } else { Verdict::Different }, method }
    }

    /// The work limit was reached.
    pub fn undecided() -> Self {
        Self { verdict: Verdict::Undecided, method: Method::Bounds }
    }
}

/// Answers longer than this are not compared.
pub const MAX_BYTES: usize = 64 * 1024;
