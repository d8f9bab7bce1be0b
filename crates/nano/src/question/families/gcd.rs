//! Greatest common divisors.

use super::super::form::{Form, at, solved};
use super::super::value::gcd;
use super::super::working::euclid;
use super::Family;

pub(super) static FORMS: &[Form] = &[Form {
    phrasings: &[
        "What is gcd({}, {})?",
        "Compute $\\gcd({}, {})$.",
        "Find the greatest common divisor of {} and {}.",
        "What is the largest number that divides both {} and {}?",
    ],
    ranges: |level| {
        let largest = at(level, &[12, 30, 80, 200, 500, 9999, 1_000_000, 1_000_000_000]);
        vec![2..=largest, 2..=largest]
    },
    // Most random pairs are coprime: a network trained on them would learn to answer 1.
    numbers: |p| (p[0] != p[1] && gcd(p[0], p[1]) > 1).then(|| p.to_vec()),
    solve: |n| if n[0] == 0 && n[1] == 0 { None } else { solved(gcd(n[0], n[1]), euclid(n[0], n[1])) },
    ..Form::of(Family::Gcd)
}];
