//! Terms of arithmetic sequences.

use super::super::form::{Form, Ranges, Solution, at, solved};
use super::Family;

/// The bounds of the first term, the step and the index of the term.
fn ranges(level: u32) -> Ranges {
    let (first, step, place) = at(
        level,
        &[
            (9, 5, 6),
            (20, 9, 10),
            (50, 12, 20),
            (99, 19, 50),
            (99, 49, 99),
            (999, 99, 999),
            (9999, 999, 9999),
            (99_999, 9999, 99_999),
        ],
    );
    vec![1..=first, 2..=step, 4..=place]
}

fn term(first: i128, step: i128, place: i128) -> Option<Solution> {
    let value = first + (place - 1) * step;
    let grown = (place - 1) * step;
    let op = if grown < 0 { '-' } else { '+' };
    let working =
        format!("{place}-1={0}, {0}*{step}={grown}, {first}{op}{1}={value}", place - 1, grown.abs());
    if place < 1 { None } else { solved(value, working) }
}

pub(super) static FORMS: &[Form] = &[
    Form {
        phrasings: &[
            "An arithmetic sequence begins with {} and grows by {} each step. What is term number {}?",
            "A sequence starts at {} and each term is {} more than the last. Find term number {}.",
            "Let $a_1 = {}$ and $a_{n+1} = a_n + {}$. What is $a_{{}}$?",
        ],
        ranges,
        solve: |n| term(n[0], n[1], n[2]),
        ..Form::of(Family::Sequence)
    },
    Form {
        phrasings: &[
            "What is term number {} of the sequence {}, {}, {}, ...?",
            "Find term number {} of the arithmetic sequence {}, {}, {}, ....",
        ],
        ranges,
        numbers: |p| Some(vec![p[2], p[0], p[0] + p[1], p[0] + 2 * p[1]]),
        parameters: |n| {
            let step = n[2] - n[1];
            (n[3] - n[2] == step).then(|| vec![n[1], step, n[0]])
        },
        solve: |n| {
            let step = n[2] - n[1];
            let even = n[3] - n[2] == step;
            let solved = term(n[1], step, n[0]).filter(|_| even)?;
            Some(Solution { working: format!("{}-{}={step}, {}", n[2], n[1], solved.working), ..solved })
        },
        ..Form::of(Family::Sequence)
    },
];
