//! Sums, differences and products of fractions.

use super::super::form::{Form, Ranges, Solution, at};
use super::super::value::{Value, gcd};
use super::super::working::reduced;
use super::Family;

fn ranges(level: u32) -> Ranges {
    let largest = at(level, &[4, 6, 8, 10, 14, 40, 200, 2000]);
    vec![1..=largest - 1, 2..=largest, 1..=largest - 1, 2..=largest]
}

/// Proper fractions in lowest terms.
fn proper(n: &[i128]) -> Option<Vec<i128>> {
    let fine = |a: i128, b: i128| a < b && gcd(a, b) == 1;
    (fine(n[0], n[1]) && fine(n[2], n[3])).then(|| n.to_vec())
}

/// Proper fractions in lowest terms, the larger one first.
fn falling(n: &[i128]) -> Option<Vec<i128>> {
    proper(n).filter(|n| n[0] * n[3] > n[2] * n[1])
}

/// The sum or difference over the product of the denominators, then in lowest terms.
fn combined(n: &[i128], sign: i128) -> Option<Solution> {
    let (left, right, below) = (n[0] * n[3], n[2] * n[1], n[1] * n[3]);
    let above = left + sign * right;
    let op = if sign < 0 { '-' } else { '+' };
    let working = format!(
        "{}*{}={left}, {}*{}={right}, {left}{op}{right}={above}, {}*{}={below}, {}",
        n[0],
        n[3],
        n[2],
        n[1],
        n[1],
        n[3],
        reduced(above, below)
    );
    Some(Solution { value: Value::ratio(above, below)?, working })
}

fn multiplied(n: &[i128]) -> Option<Solution> {
    let (above, below) = (n[0] * n[2], n[1] * n[3]);
    let working = format!("{}*{}={above}, {}*{}={below}, {}", n[0], n[2], n[1], n[3], reduced(above, below));
    Some(Solution { value: Value::ratio(above, below)?, working })
}

pub(super) static FORMS: &[Form] = &[
    Form {
        phrasings: &[
            "What is {}/{} + {}/{}?",
            "Compute $\\frac{{}}{{}} + \\frac{{}}{{}}$.",
            "Add {}/{} and {}/{}.",
            "Find the sum of {}/{} and {}/{} in lowest terms.",
        ],
        ranges,
        numbers: proper,
        solve: |n| combined(n, 1),
        ..Form::of(Family::Fraction)
    },
    Form {
        phrasings: &[
            "What is {}/{} - {}/{}?",
            "Compute $\\frac{{}}{{}} - \\frac{{}}{{}}$.",
            "Evaluate {}/{} minus {}/{}.",
        ],
        ranges,
        numbers: falling,
        solve: |n| combined(n, -1),
        ..Form::of(Family::Fraction)
    },
    Form {
        phrasings: &[
            "What is {}/{} * {}/{}?",
            "Compute $\\frac{{}}{{}} \\cdot \\frac{{}}{{}}$.",
            "Find the product of {}/{} and {}/{}.",
        ],
        ranges,
        numbers: proper,
        solve: multiplied,
        ..Form::of(Family::Fraction)
    },
];
