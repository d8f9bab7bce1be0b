//! Powers and roots.

use super::super::form::{Form, Solution, at, solved};
use super::super::working::{self, chain, product};
use super::Family;

/// The largest base of a square, by level.
const SQUARES: [i128; 8] = [10, 20, 35, 60, 99, 400, 4000, 40_000];

fn power(n: &[i128]) -> Option<Solution> {
    let exponent = u32::try_from(n[1]).ok().filter(|exponent| (0..=40).contains(exponent))?;
    let value = n[0].checked_pow(exponent)?;
    let working = if exponent < 2 { value.to_string() } else { chain(&vec![n[0]; exponent as usize]) };
    solved(value, working)
}

fn root(n: &[i128]) -> Option<Solution> {
    let root = n[0].isqrt();
    if root * root != n[0] {
        return None;
    }
    solved(root, working::root(root))
}

pub(super) static FORMS: &[Form] = &[
    Form {
        phrasings: &["What is {} squared?", "Compute ${}^2$.", "Evaluate {}^2.", "Find the square of {}."],
        ranges: |level| vec![2..=at(level, &SQUARES)],
        solve: |n| solved(n[0] * n[0], product(n[0], n[0])),
        ..Form::of(Family::Power)
    },
    Form {
        phrasings: &["What is {}^{}?", "Compute ${}^{{}}$.", "Find {} to the power {}."],
        levels: 2..=8,
        ranges: |level| {
            let (base, exponent) =
                at(level, &[(3, 3), (3, 4), (5, 4), (9, 4), (12, 5), (20, 6), (50, 6), (99, 7)]);
            vec![2..=base, 3..=exponent]
        },
        solve: power,
        ..Form::of(Family::Power)
    },
    Form {
        phrasings: &[
            "What is the square root of {}?",
            "Compute $\\sqrt{{}}$.",
            "Which positive number has the square {}?",
        ],
        ranges: |level| vec![2..=at(level, &SQUARES)],
        numbers: |p| Some(vec![p[0] * p[0]]),
        parameters: |n| Some(vec![n[0].isqrt()]).filter(|p| p[0] * p[0] == n[0]),
        solve: root,
        ..Form::of(Family::Power)
    },
];
