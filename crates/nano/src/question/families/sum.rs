//! Sums and differences.

use super::super::form::{Form, at, solved};
use super::super::working::{addition, subtraction};
use super::{Family, Ranges};

fn ranges(level: u32) -> Ranges {
    let largest = 10_i128.pow(at(level, &[1, 2, 3, 4, 5, 7, 9, 12])) - 1;
    vec![1..=largest, 1..=largest]
}

pub(super) static FORMS: &[Form] = &[
    Form {
        phrasings: &[
            "What is {} + {}?",
            "Compute ${} + {}$.",
            "Find the sum of {} and {}.",
            "Add {} and {}.",
            "What do you get when you add {} to {}?",
            "Evaluate {} plus {}.",
        ],
        ranges,
        solve: |n| solved(n[0] + n[1], addition(n[0], n[1])),
        ..Form::of(Family::Sum)
    },
    Form {
        phrasings: &[
            "What is {} - {}?",
            "Compute ${} - {}$.",
            "Evaluate {} minus {}.",
            "What is left when {} is reduced by {}?",
        ],
        ranges,
        numbers: |p| (p[0] >= p[1]).then(|| p.to_vec()),
        solve: |n| {
            let working = if n[0] >= n[1] {
                subtraction(n[0], n[1])
            } else {
                format!("-({}-{}), {}", n[1], n[0], subtraction(n[1], n[0]))
            };
            solved(n[0] - n[1], working)
        },
        ..Form::of(Family::Sum)
    },
];
