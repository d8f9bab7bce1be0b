//! Sets of numbers by name, and conditions that say what a letter may be: `n\in\mathbb{Z}`, `k \in \mathbb{N}`.

use super::split;
use super::token::{Tok, Token};
use crate::answer::Numbers;
use aske_algebra::expr::Symbol;
use smol_str::SmolStr;

/// The set of numbers that some words name.
pub(crate) fn numbers(tokens: &[Token]) -> Option<Numbers> {
    let (name, marks) = match tokens {
        [Token { tok: Tok::Cmd(name), .. }, marks @ ..] => (name.as_str(), marks),
        _ => return None,
    };
    let set = match name {
        "reals" => Numbers::Reals,
        "integers" => Numbers::Integers,
        "naturals" => Numbers::Naturals,
        "rationals" => Numbers::Rationals,
        "complexes" => Numbers::Complexes,
        _ => return None,
    };
    let mark = match marks {
        [] => return Some(set),
        [script, mark] | [script, Token { tok: Tok::Op('{'), .. }, mark, Token { tok: Tok::Op('}'), .. }]
            if script.is_op('^') || script.is_op('_') =>
        {
            mark
        }
        _ => return None,
    };
    match (set, &mark.tok) {
        (Numbers::Integers, Tok::Op('+')) | (Numbers::Naturals, Tok::Op('+' | '*')) => {
            Some(Numbers::Positive)
        }
        (Numbers::Naturals, Tok::Num(num)) if num.digits.as_deref() == Some("0") => Some(Numbers::FromZero),
        _ => None,
    }
}

/// `k \in \mathbb{Z}`: the letter and what it may be.
pub(crate) fn condition(tokens: &[Token]) -> Option<(Symbol, Numbers)> {
    let at = split::find(tokens, |t| t.is_cmd("in"))?;
    let letter = match &tokens[..at] {
        [Token { tok: Tok::Letter(c), .. }] => SmolStr::new(c.encode_utf8(&mut [0; 4])),
        _ => return None,
    };
    Some((letter, numbers(&tokens[at + 1..])?))
}
