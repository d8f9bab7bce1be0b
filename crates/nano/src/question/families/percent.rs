//! Percentages.

use super::super::form::{Form, Ranges, Solution, at};
use super::super::value::Value;
use super::super::working::{product, reduced};
use super::Family;

/// The bounds of the percentage and of the amount.
fn ranges(level: u32) -> Ranges {
    let (percent, amount) = at(
        level,
        &[
            (50, 60),
            (90, 200),
            (99, 400),
            (99, 1000),
            (99, 4000),
            (99, 99_999),
            (999, 999_999),
            (999, 9_999_999),
        ],
    );
    vec![1..=percent, 10..=amount]
}

/// Percentages whose value is an integer.
fn whole(p: &[i128]) -> Option<Vec<i128>> {
    (p[0] * p[1] % 100 == 0).then(|| p.to_vec())
}

fn share(percent: i128, amount: i128) -> Option<Solution> {
    let times = percent * amount;
    let value = Value::ratio(times, 100)?;
    let working = format!("{}, {}", product(percent, amount), reduced(times, 100));
    Some(Solution { value, working })
}

/// The amount increased or reduced by a percentage.
fn changed(percent: i128, amount: i128, sign: i128) -> Option<Solution> {
    let part = share(percent, amount)?;
    let (whole, times) = (100 * amount, percent * amount);
    let changed = whole + sign * times;
    let value = Value::ratio(changed, 100)?;
    let op = if sign > 0 { '+' } else { '-' };
    let working = if part.value.as_whole().is_some() {
        format!("{}, {amount}{op}{}={value}", part.working, part.value)
    } else {
        format!("{}, {whole}{op}{times}={changed}, {}", product(percent, amount), reduced(changed, 100))
    };
    Some(Solution { value, working })
}

pub(super) static FORMS: &[Form] = &[
    Form {
        phrasings: &[
            "What is {}% of {}?",
            "Compute ${}\\%$ of ${}$.",
            "Find {} percent of {}.",
            "How much is {}% of {}?",
        ],
        ranges,
        numbers: whole,
        solve: |n| share(n[0], n[1]),
        ..Form::of(Family::Percent)
    },
    Form {
        phrasings: &["What is {} increased by {}%?", "A price of {} rises by {}%. What is the new price?"],
        levels: 2..=8,
        ranges: |level| ranges(level - 1).into_iter().rev().collect(),
        numbers: |p| whole(p),
        solve: |n| changed(n[1], n[0], 1),
        ..Form::of(Family::Percent)
    },
    Form {
        phrasings: &["What is {} reduced by {}%?", "A price of {} falls by {}%. What is the new price?"],
        levels: 2..=8,
        ranges: |level| ranges(level - 1).into_iter().rev().collect(),
        numbers: |p| whole(p),
        solve: |n| changed(n[1], n[0], -1),
        ..Form::of(Family::Percent)
    },
];
