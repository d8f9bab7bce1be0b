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
    if !cyclic || !valid {
        return None;
    }
    // A cycle begins with its least number; one of a single number moves nothing.
    for cycle in &mut cycles {
        let least = (0..cycle.len()).min_by_key(|&at| cycle[at])?;
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
    Some(Answer::Cycles { cycles, disjoint })
}
