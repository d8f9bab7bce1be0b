//! Several operations in one expression.

use super::super::form::{Form, Ranges, Solution, at, solved};
use super::Family;

/// Bounds of a term and of a factor.
fn sizes(level: u32) -> (i128, i128) {
    at(level, &[(9, 5), (20, 9), (50, 12), (99, 15), (200, 25), (999, 99), (9999, 999), (99_999, 9999)])
}

fn term_and_product(level: u32) -> Ranges {
    let (term, factor) = sizes(level);
    vec![1..=term, 2..=factor, 2..=factor]
}

fn two_products(level: u32) -> Ranges {
    let (_, factor) = sizes(level - 1);
    vec![2..=factor; 4]
}

fn products(n: &[i128], sign: i128) -> Option<Solution> {
    let (left, right) = (n[0] * n[1], n[2] * n[3]);
    let value = left + sign * right;
    let op = if sign > 0 { '+' } else { '-' };
    solved(value, format!("{}*{}={left}, {}*{}={right}, {left}{op}{right}={value}", n[0], n[1], n[2], n[3]))
}

pub(super) static FORMS: &[Form] = &[
    Form {
        phrasings: &["What is {} + {} * {}?", "Compute ${} + {} \\cdot {}$.", "Evaluate {} + {} * {}."],
        ranges: term_and_product,
        solve: |n| {
            let (times, value) = (n[1] * n[2], n[0] + n[1] * n[2]);
            solved(value, format!("{}*{}={times}, {}+{times}={value}", n[1], n[2], n[0]))
        },
        ..Form::of(Family::Order)
    },
    Form {
        phrasings: &["What is ({} + {}) * {}?", "Compute $({} + {}) \\cdot {}$.", "Evaluate ({} + {}) * {}."],
        ranges: |level| {
            let (_, factor) = sizes(level);
            vec![1..=factor; 3]
        },
        solve: |n| {
            let (sum, value) = (n[0] + n[1], (n[0] + n[1]) * n[2]);
            solved(value, format!("{}+{}={sum}, {sum}*{}={value}", n[0], n[1], n[2]))
        },
        ..Form::of(Family::Order)
    },
    Form {
        phrasings: &["What is {} * {} + {} * {}?", "Compute ${} \\cdot {} + {} \\cdot {}$."],
        levels: 2..=8,
        ranges: two_products,
        solve: |n| products(n, 1),
        ..Form::of(Family::Order)
    },
    Form {
        phrasings: &["What is {} * {} - {} * {}?", "Compute ${} \\cdot {} - {} \\cdot {}$."],
        levels: 2..=8,
        ranges: two_products,
        solve: |n| products(n, -1),
        ..Form::of(Family::Order)
    },
];
