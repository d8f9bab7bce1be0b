//! Sums of arithmetic sequences.

use super::super::form::{Form, Solution, at, solved};
use super::super::working::product;
use super::Family;

/// Half of the number of terms times the sum of the first and the last.
fn sum(first: i128, step: i128, terms: i128) -> Option<Solution> {
    if terms < 1 {
        return None;
    }
    let grown = (terms - 1) * step;
    let last = first + grown;
    let (ends, twice) = (first + last, (first + last) * terms);
    let working = format!(
        "{}*{step}={grown}, {first}+{grown}={last}, {first}+{last}={ends}, {}, {twice}/2={}",
        terms - 1,
        product(terms, ends),
        twice / 2
    );
    solved(twice / 2, working)
}

pub(super) static FORMS: &[Form] = &[
    Form {
        phrasings: &[
            "What is the sum of the whole numbers from 1 to {}?",
            "Compute $1 + 2 + \\dots + {}$.",
            "Find $\\sum_{k=1}^{{}} k$.",
            "Add all whole numbers from 1 to {}.",
        ],
        ranges: |level| vec![3..=at(level, &[10, 20, 40, 99, 200, 2000, 20_000, 200_000])],
        solve: |n| {
            let twice = n[0] * (n[0] + 1);
            solved(twice / 2, format!("{}, {twice}/2={}", product(n[0], n[0] + 1), twice / 2))
        },
        ..Form::of(Family::Series)
    },
    Form {
        phrasings: &[
            "An arithmetic sequence begins with {} and grows by {} each step. What is the sum of its first {} terms?",
            "Find the sum of {} + {}k for k from 0 to {} - 1.",
        ],
        levels: 2..=8,
        ranges: |level| {
            let (first, step, terms) = at(
                level,
                &[
                    (5, 4, 4),
                    (5, 5, 5),
                    (9, 9, 8),
                    (20, 9, 12),
                    (30, 12, 20),
                    (99, 99, 99),
                    (999, 99, 999),
                    (9999, 999, 9999),
                ],
            );
            vec![1..=first, 1..=step, 3..=terms]
        },
        solve: |n| sum(n[0], n[1], n[2]),
        ..Form::of(Family::Series)
    },
];
