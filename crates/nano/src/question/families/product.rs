//! Products.

use super::super::form::{Form, at, solved};
use super::super::working::product;
use super::Family;

pub(super) static FORMS: &[Form] = &[Form {
    phrasings: &[
        "What is {} * {}?",
        "Compute ${} \\times {}$.",
        "Evaluate ${} \\cdot {}$.",
        "Find the product of {} and {}.",
        "What is {} times {}?",
        "Multiply {} by {}.",
    ],
    ranges: |level| {
        let (a, b) = at(level, &[(1, 1), (2, 1), (3, 1), (2, 2), (4, 1), (3, 3), (5, 4), (7, 6)]);
        vec![2..=10_i128.pow(a) - 1, 2..=10_i128.pow(b) - 1]
    },
    solve: |n| solved(n[0] * n[1], product(n[0], n[1])),
    ..Form::of(Family::Product)
}];
