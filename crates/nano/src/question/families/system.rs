//! Two linear equations in two unknowns.

use super::super::form::{Form, Ranges, Solution, at};
use super::super::value::Value;
use super::super::working;
use super::Family;

/// The bounds of the coefficients and of the solutions.
fn ranges(level: u32) -> Ranges {
    let (factor, solution) =
        at(level, &[(1, 9), (2, 5), (4, 6), (6, 9), (9, 12), (30, 50), (99, 500), (999, 5000)]);
    let mut ranges = vec![1..=factor; 4];
    ranges.extend([1..=solution, 1..=solution]);
    ranges
}

/// From the coefficients a, b, d, e and the solution to the numbers shown.
fn numbers(p: &[i128]) -> Option<Vec<i128>> {
    let line = |one: i128, two: i128| one * p[4] + two * p[5];
    (p[0] * p[3] != p[1] * p[2]).then(|| vec![p[0], p[1], line(p[0], p[1]), p[2], p[3], line(p[2], p[3])])
}

fn parameters(n: &[i128]) -> Option<Vec<i128>> {
    let below = n[0] * n[4] - n[1] * n[3];
    let x = Value::ratio(n[2] * n[4] - n[1] * n[5], below)?.as_whole()?;
    let y = Value::ratio(n[0] * n[5] - n[2] * n[3], below)?.as_whole()?;
    Some(vec![n[0], n[1], n[3], n[4], x, y])
}

/// Cramer's rule: the determinant of the coefficients, the one of the unknown, and their quotient.
fn cramer(n: &[i128], unknown: char) -> Option<Solution> {
    let (one, two) = (n[0] * n[4], n[1] * n[3]);
    let below = one - two;
    let own = if unknown == 'x' { [n[2], n[4], n[1], n[5]] } else { [n[0], n[5], n[2], n[3]] };
    let (three, four) = (own[0] * own[1], own[2] * own[3]);
    let above = three - four;
    let (value, steps) = working::unknown(unknown, above, below)?;
    let below_steps = format!("{}*{}-{}*{}={one}-{two}={below}", n[0], n[4], n[1], n[3]);
    let above_steps = format!("{}*{}-{}*{}={three}-{four}={above}", own[0], own[1], own[2], own[3]);
    Some(Solution { value, working: format!("{below_steps}, {above_steps}, {steps}") })
}

/// The sum and the difference of the two unknowns.
fn sum_and_difference(p: &[i128]) -> Option<Vec<i128>> {
    (p[0] >= p[1]).then(|| vec![p[0] + p[1], p[0] - p[1]])
}

fn larger(n: &[i128]) -> Option<Solution> {
    let total = n[0] + n[1];
    let value = Value::ratio(total, 2)?;
    Some(Solution { value, working: format!("2x={}+{}={total}, x={total}/2={value}", n[0], n[1]) })
}

pub(super) static FORMS: &[Form] = &[
    Form {
        phrasings: &[
            "If x + y = {} and x - y = {}, what is x?",
            "Find x if $x + y = {}$ and $x - y = {}$.",
            "Two numbers have the sum {} and the difference {}. What is the larger one?",
        ],
        levels: 1..=4,
        ranges: |level| {
            let largest = at(level, &[9, 25, 99, 400, 0, 0, 0, 0]);
            vec![1..=largest, 1..=largest]
        },
        numbers: sum_and_difference,
        parameters: |n| {
            let whole = (n[0] + n[1]) % 2 == 0;
            whole.then(|| vec![i128::midpoint(n[0], n[1]), (n[0] - n[1]) / 2])
        },
        solve: larger,
        ..Form::of(Family::System)
    },
    Form {
        phrasings: &[
            "If {}x + {}y = {} and {}x + {}y = {}, what is x?",
            "Find x if ${}x + {}y = {}$ and ${}x + {}y = {}$.",
        ],
        levels: 2..=8,
        ranges,
        numbers,
        parameters,
        solve: |n| cramer(n, 'x'),
        ..Form::of(Family::System)
    },
    Form {
        phrasings: &[
            "If {}x + {}y = {} and {}x + {}y = {}, what is y?",
            "Find y if ${}x + {}y = {}$ and ${}x + {}y = {}$.",
        ],
        levels: 2..=8,
        ranges,
        numbers,
        parameters,
        solve: |n| cramer(n, 'y'),
        ..Form::of(Family::System)
    },
];
