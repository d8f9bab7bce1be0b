//! Linear equations in one unknown.

use super::super::form::{Form, Solution, at, solved};
use super::super::value::Value;
use super::super::working::unknown;
use super::Family;

/// The solution above/below, with the steps before the division.
fn divided(above: i128, below: i128, before: &str) -> Option<Solution> {
    let (value, steps) = unknown('x', above, below)?;
    Some(Solution { value, working: format!("{before}, {steps}") })
}

/// Solves `{a}x + {b} = {c}`, or with a minus sign.
fn one_sided(n: &[i128], sign: i128) -> Option<Solution> {
    let moved = n[2] - sign * n[1];
    let op = if sign > 0 { '-' } else { '+' };
    divided(moved, n[0], &format!("{}x={}{op}{}={moved}", n[0], n[2], n[1]))
}

fn two_sided(n: &[i128]) -> Option<Solution> {
    let (left, right) = (n[0] - n[2], n[3] - n[1]);
    let before = format!("{}-{}={left}, {}-{}={right}, {left}x={right}", n[0], n[2], n[3], n[1]);
    divided(right, left, &before)
}

/// The solution of `{a}x + {b} = {c}`, or with a minus sign, if it is an integer.
fn solution(n: &[i128], sign: i128) -> Option<i128> {
    Value::ratio(n[2] - sign * n[1], n[0])?.as_whole()
}

/// Bounds of the coefficient, the constant and x.
fn bounds(level: u32) -> Vec<std::ops::RangeInclusive<i128>> {
    let (a, b, x) = at(
        level,
        &[
            (3, 5, 5),
            (5, 9, 9),
            (9, 20, 12),
            (12, 50, 20),
            (20, 99, 40),
            (99, 999, 200),
            (999, 9999, 2000),
            (9999, 99_999, 20_000),
        ],
    );
    vec![2..=a, 1..=b, 1..=x]
}

pub(super) static FORMS: &[Form] = &[
    Form {
        phrasings: &[
            "Solve x + {} = {}.",
            "Find x if $x + {} = {}$.",
            "Which number x satisfies x + {} = {}?",
        ],
        levels: 1..=3,
        ranges: |level| {
            let largest = at(level, &[9, 50, 500, 0, 0, 0, 0, 0]);
            vec![1..=largest, 1..=largest]
        },
        numbers: |p| Some(vec![p[0], p[0] + p[1]]),
        parameters: |n| Some(vec![n[0], n[1] - n[0]]),
        solve: |n| solved(n[1] - n[0], format!("x={}-{}={}", n[1], n[0], n[1] - n[0])),
        ..Form::of(Family::Linear)
    },
    Form {
        phrasings: &[
            "Solve {}x + {} = {}.",
            "Find x if ${}x + {} = {}$.",
            "Which number x satisfies {}x + {} = {}?",
            "What is x when {}x plus {} equals {}?",
        ],
        ranges: bounds,
        numbers: |p| Some(vec![p[0], p[1], p[0] * p[2] + p[1]]),
        parameters: |n| Some(vec![n[0], n[1], solution(n, 1)?]),
        solve: |n| one_sided(n, 1),
        ..Form::of(Family::Linear)
    },
    Form {
        phrasings: &[
            "Solve {}x - {} = {}.",
            "Find x if ${}x - {} = {}$.",
            "What is x when {}x minus {} equals {}?",
        ],
        ranges: bounds,
        numbers: |p| Some(vec![p[0], p[1], p[0] * p[2] - p[1]]).filter(|n| n[2] >= 0),
        parameters: |n| Some(vec![n[0], n[1], solution(n, -1)?]),
        solve: |n| one_sided(n, -1),
        ..Form::of(Family::Linear)
    },
    Form {
        phrasings: &["Solve {}x + {} = {}x + {}.", "Find x if ${}x + {} = {}x + {}$."],
        levels: 3..=8,
        ranges: |level| {
            let bounds = bounds(level - 1);
            vec![bounds[0].clone(), bounds[1].clone(), bounds[0].clone(), bounds[2].clone()]
        },
        numbers: |p| (p[0] > p[2]).then(|| vec![p[0], p[1], p[2], (p[0] - p[2]) * p[3] + p[1]]),
        parameters: |n| {
            let x = Value::ratio(n[3] - n[1], n[0] - n[2])?.as_whole()?;
            Some(vec![n[0], n[1], n[2], x])
        },
        solve: two_sided,
        ..Form::of(Family::Linear)
    },
];
