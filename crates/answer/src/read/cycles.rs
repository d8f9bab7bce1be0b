//! Permutations in cycle notation: `(1 2)(3 4 5)`.

use super::token::{Tok, Token};
use crate::answer::Answer;

/// Reads a product of cycles; one of them moves two numbers or more, with white space between them.
pub(crate) fn read(tokens: &[Token]) -> Option<Answer> {
    let mut cycles: Vec<Vec<u64>> = Vec::new();
    let mut open: Option<Vec<u64>> = None;
    for token in tokens {
        match (&token.tok, &mut open) {
            (Tok::Op('('), None) => open = Some(Vec::new()),
            (Tok::Num(num), Some(cycle)) if cycle.is_empty() || token.spaced => {
                cycle.push(num.digits.as_ref()?.parse().ok()?);
            }
            (Tok::Op(')'), Some(_)) => cycles.extend(open.take()),
            _ => return None,
        }
    }
    let cyclic = open.is_none() && cycles.iter().any(|cycle| cycle.len() > 1);
    let valid = cycles.iter().all(|cycle| {
        let mut seen = cycle.clone();
        seen.sort_unstable();
        seen.dedup();
        !cycle.is_empty() && seen.len() == cycle.len()
    });
    (cyclic && valid).then(|| permutation(cycles))
}

/// Whether two answers are products of cycles without white space, `(12)(13)`, that may be two permutations.
pub(crate) fn are_other_cycles(a: &str, b: &str) -> bool {
    match (compact(a), compact(b)) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    }
}

/// Reads `(12)(13)` as cycles of digits: two or more, none of which repeats a digit.
fn compact(text: &str) -> Option<Answer> {
    let text = super::delimiters::strip_delimiters(text).replace("\\left", "").replace("\\right", "");
    let inside = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let cycles = inside.split(")(").map(|cycle| {
        let digits: Vec<u64> = cycle.chars().map(|c| c.to_digit(10).map(u64::from)).collect::<Option<_>>()?;
        let repeats = (1..digits.len()).any(|at| digits[..at].contains(&digits[at]));
        (digits.len() > 1 && !repeats).then_some(digits)
    });
    let cycles: Vec<Vec<u64>> = cycles.collect::<Option<_>>()?;
    (cycles.len() > 1).then(|| permutation(cycles))
}

fn permutation(mut cycles: Vec<Vec<u64>>) -> Answer {
    // A cycle begins with its least number; one of a single number moves nothing.
    for cycle in &mut cycles {
        let least = (0..cycle.len()).min_by_key(|&at| cycle[at]).unwrap_or_default();
        cycle.rotate_left(least);
    }
    cycles.retain(|cycle| cycle.len() > 1);
    let mut moved: Vec<u64> = cycles.iter().flatten().copied().collect();
    let all = moved.len();
    moved.sort_unstable();
    moved.dedup();
    let disjoint = moved.len() == all;
    if disjoint {
        cycles.sort_unstable();
    }
    Answer::Cycles { cycles, disjoint }
}
