//! The rules by which two answers are compared.

use crate::policy::NotationPolicy;
use crate::{decide, normalise, text};
use aske_algebra::verdict::{Comparison, MAX_BYTES, Method, Verdict};
use serde::Serialize;

/// Which rules decide whether two answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rules {
    /// This project's, with what the policy leaves ambiguous.
    Aske(NotationPolicy),
    /// Those of math-verify 0.9.0, its mistakes included.
    MathVerify,
    /// The paper's: wrappers stripped, math-verify's rules, then the same text, the same parts, the same
    /// "no solution".
    Paper,
}

impl Default for Rules {
    fn default() -> Self {
        Self::Aske(NotationPolicy::usual())
    }
}

impl Rules {
    /// The names of all rules, with their versions.
    pub const NAMES: [&'static str; 3] = ["aske-4", "math-verify-1", "paper-3"];

    /// The name of these rules. Its version changes whenever verdicts may, so that grades by two versions are not mixed.
    pub fn name(&self) -> &'static str {
        let [aske, math_verify, paper] = Self::NAMES;
        match self {
            Self::Aske(_) => aske,
            Self::MathVerify => math_verify,
            Self::Paper => paper,
        }
    }

    /// Compares two mathematical answers. Under math-verify's rules it matters which of them is the gold one.
    pub fn compare(&self, gold: &str, pred: &str) -> Comparison {
        match self {
            Self::Aske(policy) => decide::compare(gold, pred, policy),
            Self::MathVerify => aske_math_verify::compare(gold, pred),
            Self::Paper => {
                if gold.len() > MAX_BYTES || pred.len() > MAX_BYTES {
                    return Comparison::undecided();
                }
                let symbolic = Self::MathVerify.compare(&normalise(gold), &normalise(pred));
                if symbolic.verdict == Verdict::Equal {
                    return symbolic;
                }
                let folded = |method| if method == Method::Text { Method::Folded } else { method };
                text::same(gold, pred).map_or(symbolic, |method| Comparison::decided(true, folded(method)))
            }
        }
    }
}

/// Compares two mathematical answers by the usual rules.
pub fn compare(gold: &str, pred: &str) -> Comparison {
    Rules::default().compare(gold, pred)
}
