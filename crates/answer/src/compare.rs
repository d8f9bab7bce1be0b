//! Whether two answers are the same.

use crate::normalise;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The same text, case and white space apart.
    Text,
    /// The same comma-separated parts in another order.
    Parts,
    /// Two ways of saying that there is no solution.
    NoSolution,
    /// Within the tolerance of a number.
    Tolerance,
    /// The same option letter.
    Letter,
    /// The work was given up.
    Bounds,
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
}

/// The name of this way to compare, which changes whenever verdicts may: grades of two ways are not mixed.
pub const COMPARISON: &str = "plain-1";

/// Answers longer than this are not compared.
const MAX_BYTES: usize = 64 * 1024;

/// Compares two mathematical answers: normalised text ignoring case and white space, then comma-separated
/// parts as a set, then words for "no solution".
pub fn compare(gold: &str, pred: &str) -> Comparison {
    if gold.len() > MAX_BYTES || pred.len() > MAX_BYTES {
        return Comparison { verdict: Verdict::Undecided, method: Method::Bounds };
    }
    let (gold, pred) = (fold(gold), fold(pred));
    if gold.is_empty() || pred.is_empty() {
        return Comparison::decided(false, Method::Text);
    }
    if gold == pred {
        return Comparison::decided(true, Method::Text);
    }
    if same_parts(&gold, &pred) {
        return Comparison::decided(true, Method::Parts);
    }
    if is_no_solution(&gold) && is_no_solution(&pred) {
        return Comparison::decided(true, Method::NoSolution);
    }
    Comparison::decided(false, Method::Text)
}

fn fold(answer: &str) -> String {
    normalise(answer).chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Equal as sets of comma-separated parts; only commas outside every bracket separate, so tuples stay whole.
fn same_parts(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (parts(a), parts(b));
    if a.len() < 2 || a.len() != b.len() {
        return false;
    }
    a.sort_unstable();
    b.sort_unstable();
    a == b
}

fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(|c: char| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

fn is_no_solution(folded: &str) -> bool {
    const WORDS: &[&str] = &[
        "nosolution",
        "nosolutions",
        "norealsolution",
        "norealsolutions",
        "none",
        "doesnotexist",
        "dne",
        "undefined",
        "impossible",
        "\\emptyset",
        "\\varnothing",
        "emptyset",
        "∅",
        "\\{\\}",
    ];
    WORDS.contains(&folded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn equal(a: &str, b: &str) -> bool {
        compare(a, b).verdict == Verdict::Equal
    }

    #[test]
    fn text_is_compared_without_case_and_spaces() {
        assert!(equal("Yes", r"\text{ yes }"));
        assert!(equal("x = 1", "x=1"));
        assert!(!equal("1", "2"));
        assert!(!equal("", ""));
    }

    #[test]
    fn comma_separated_parts_match_in_any_order() {
        assert!(equal("1, 2, 3", "3,1,2"));
        assert!(!equal("1,1,2", "1,2,2"));
        assert!(!equal("(1,2)", "(2,1)"));
        assert!(equal("(1,2),(3,4)", "(3,4),(1,2)"));
    }

    #[test]
    fn no_solution_has_many_names() {
        assert!(equal(r"\emptyset", "No solution."));
        assert!(!equal("none", "0"));
    }

    #[test]
    fn an_answer_out_of_bounds_is_undecided() {
        let long = "1".repeat(MAX_BYTES + 1);
        assert_eq!(compare(&long, "1").verdict, Verdict::Undecided);
    }

    proptest! {
        #[test]
        fn equality_is_symmetric_and_reflexive(a in ".{1,30}", b in ".{1,30}") {
            prop_assert_eq!(equal(&a, &b), equal(&b, &a));
            prop_assume!(!fold(&a).is_empty());
            prop_assert!(equal(&a, &a));
        }
    }
}
