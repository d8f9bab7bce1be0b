//! Remainders of division.

use super::super::form::{Form, at, solved};
use super::super::working::division;
use super::Family;

pub(super) static FORMS: &[Form] = &[Form {
    phrasings: &[
        "What is {} mod {}?",
        "What is the remainder when {} is divided by {}?",
        "Compute ${} \\bmod {}$.",
        "Divide {} by {}. What is the remainder?",
        "Find the remainder of {} divided by {}.",
    ],
    ranges: |level| {
        let (a, b) = at(
            level,
            &[
                (30, 5),
                (99, 9),
                (999, 9),
                (999, 19),
                (9999, 29),
                (999_999, 99),
                (999_999_999, 999),
                (999_999_999_999, 9999),
            ],
        );
        vec![3..=a, 2..=b]
    },
    numbers: |p| (p[0] > p[1]).then(|| p.to_vec()),
    solve: |n| if n[1] == 0 { None } else { solved(n[0] % n[1], division(n[0], n[1])) },
    ..Form::of(Family::Remainder)
}];
