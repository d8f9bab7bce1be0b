//! Choosing, arranging, counting multiples.

use super::super::form::{Form, Solution, at, solved};
use super::super::working::{chain, quotient};
use super::Family;

/// The product of these factors; `None` on overflow.
fn multiplied(factors: &[i128]) -> Option<i128> {
    factors.iter().try_fold(1_i128, |total, factor| total.checked_mul(*factor))
}

/// n choose k; if k is more than half of n, by choosing those that are left out.
fn choices(n: i128, k: i128) -> Option<Solution> {
    if !(0..=n).contains(&k) || k > 20 {
        return None;
    }
    if 2 * k > n {
        let left = choices(n, n - k)?;
        return Some(Solution { working: format!("{n}-{k}={}, {}", n - k, left.working), ..left });
    }
    let above: Vec<i128> = (0..k).map(|i| n - i).collect();
    let below: Vec<i128> = (1..=k).rev().collect();
    let (top, bottom) = (multiplied(&above)?, multiplied(&below)?);
    let value = top / bottom;
    let steps = [chain(&above), chain(&below), format!("{top}/{bottom}={value}")];
    solved(value, steps.into_iter().filter(|step| !step.is_empty()).collect::<Vec<_>>().join(", "))
}

fn arrangements(n: i128) -> Option<Solution> {
    if !(0..=25).contains(&n) {
        return None;
    }
    let factors: Vec<i128> = (1..=n).collect();
    let value = multiplied(&factors)?;
    solved(value, if n < 2 { "1".to_owned() } else { chain(&factors) })
}

pub(super) static FORMS: &[Form] = &[
    Form {
        phrasings: &[
            "From {} people, how many groups of {} can be chosen?",
            "Compute $\\binom{{}}{{}}$.",
            "From {} books, in how many ways can you choose {}?",
            "A set has {} elements. How many subsets of size {} does it have?",
        ],
        ranges: |level| {
            let (n, k) = at(level, &[(5, 2), (7, 2), (8, 3), (10, 3), (12, 4), (20, 6), (30, 8), (40, 12)]);
            vec![3..=n, 2..=k]
        },
        numbers: |p| (p[1] < p[0]).then(|| p.to_vec()),
        solve: |n| choices(n[0], n[1]),
        ..Form::of(Family::Count)
    },
    Form {
        phrasings: &[
            "In how many orders can {} people stand in a line?",
            "Compute ${}!$.",
            "In how many ways can {} books be put on a shelf?",
        ],
        ranges: |level| vec![2..=at(level, &[3, 4, 5, 6, 7, 10, 14, 20])],
        solve: |n| arrangements(n[0]),
        ..Form::of(Family::Count)
    },
    Form {
        phrasings: &[
            "How many multiples of {} are there from 1 to {}?",
            "How many numbers divisible by {} are there from 1 to {}?",
            "Count the multiples of {} that are at most {}.",
        ],
        ranges: |level| {
            let (d, n) = at(
                level,
                &[
                    (5, 30),
                    (9, 99),
                    (9, 400),
                    (19, 999),
                    (29, 2999),
                    (99, 99_999),
                    (999, 9_999_999),
                    (9999, 999_999_999),
                ],
            );
            vec![2..=d, 3..=n]
        },
        numbers: |p| (p[0] < p[1]).then(|| p.to_vec()),
        solve: |n| if n[0] == 0 { None } else { solved(n[1] / n[0], quotient(n[1], n[0])) },
        ..Form::of(Family::Count)
    },
];
