//! Products.

use super::super::form::{Form, at, same, solved};
use super::super::working::product;
use super::Family;

pub(super) static FORMS: &[Form] = &[Form {
    family: Family::Product,
    phrasings: &[
        "What is {} * {}?",
        "Compute ${} \\times {}$.",
        "Evaluate ${} \\cdot {}$.",
        "Find the product of {} and {}.",
        "What is {} times {}?",
        "Multiply {} by {}.",
    ],
    levels: 1..=8,
    ranges: |level| {
        let (a, b) = at(level, &[(1, 1), (2, 1), (3, 1), (2, 2), (4, 1), (3, 3), (5, 4), (7, 6)]);
        vec![2..=10_i128.pow(a) - 1, 2..=10_i128.pow(b) - 1]
    },
    numbers: same,
    parameters: same,
    solve: |n| solved(n[0] * n[1], product(n[0], n[1])),
    expression: |n| format!("{} \\cdot {}", n[0], n[1]),
}];
