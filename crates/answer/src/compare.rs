//! Whether two answers are the same: the verdict, and how it was reached.

use crate::policy::Policy;
use crate::{compat, decide, normalise, text};
use serde::{Deserialize, Serialize};

/// What a comparison found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The same answer.
    Equal,
    /// Not the same answer.
    Different,
    /// Neither could be established within bounds.
    Undecided,
}

/// How a verdict was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The same text, case and white space apart; or text that is not.
    Text,
    /// Canonical forms: a proof.
    Exact,
    /// Enclosures that share no number: a proof of difference.
    Interval,
    /// The same option letter, or another.
    Letter,
    /// The same comma-separated parts in another order.
    Parts,
    /// Two ways of saying that there is no solution.
    NoSolution,
    /// Within the tolerance of a rounded number, or outside of it.
    Tolerance,
    /// Agreement at many points, to many digits: no proof, but very likely.
    Probable,
    /// Answers of kinds that are never the same, or of other lengths.
    Kind,
    /// The work was given up.
    Bounds,
}

impl Method {
    /// Of two methods that a verdict rests on, the one that proves less.
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

    /// The work was given up.
    pub(crate) fn undecided() -> Self {
        Self { verdict: Verdict::Undecided, method: Method::Bounds }
    }
}

/// Answers longer than this are not compared.
pub(crate) const MAX_BYTES: usize = 64 * 1024;

/// Which rules decide whether two answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rules {
    /// This project's, with what the policy leaves open.
    Aske(Policy),
    /// Those of math-verify 0.9.0, its mistakes included.
    MathVerify,
    /// The paper's: wrappers stripped, math-verify's rules, then the same text, the same parts, the same
    /// "no solution".
    Paper,
}

impl Default for Rules {
    fn default() -> Self {
        Self::Aske(Policy::usual())
    }
}

impl Rules {
    /// The name of these rules, which changes whenever verdicts may: grades by two rules are not mixed.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Aske(_) => "aske-2",
            Self::MathVerify => "math-verify-1",
            Self::Paper => "paper-2",
        }
    }

    /// Compares two mathematical answers. Under math-verify's rules it matters which of them is the gold one.
    pub fn compare(&self, gold: &str, pred: &str) -> Comparison {
        match self {
            Self::Aske(policy) => decide::compare(gold, pred, policy),
            Self::MathVerify => compat::compare(gold, pred),
            Self::Paper => {
                if gold.len() > MAX_BYTES || pred.len() > MAX_BYTES {
                    return Comparison::undecided();
                }
                let symbolic = Self::MathVerify.compare(&normalise(gold), &normalise(pred));
                if symbolic.verdict == Verdict::Equal {
                    return symbolic;
                }
                text::same(gold, pred).map_or(symbolic, |method| Comparison::decided(true, method))
            }
        }
    }
}

/// Compares two mathematical answers by the usual rules.
pub fn compare(gold: &str, pred: &str) -> Comparison {
    Rules::default().compare(gold, pred)
}
