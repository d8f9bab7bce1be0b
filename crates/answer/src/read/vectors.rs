//! Sums of multiples of tuples: `(1, 2) + t(3, 4)`, `t(1, 2, 3)`.

use super::parser::{Context, Read, expression};
use super::split;
use super::token::{Tok, Token};
use crate::answer::Answer;
use aske_algebra::expr::Expr;

/// Reads a sum of tuples of expressions with factors before them.
pub(crate) fn read(tokens: &[Token], context: Context<'_>) -> Read<Option<Answer>> {
    let mut total: Option<Vec<Expr>> = None;
    let mut rest = tokens;
    while !rest.is_empty() {
        let (negative, behind) = match rest {
            [sign, behind @ ..] if sign.is_op('-') => (true, behind),
            [sign, behind @ ..] if sign.is_op('+') => (false, behind),
            _ if total.is_none() => (false, rest),
            _ => return Ok(None),
        };
        let Some(open) = split::find_opening(behind, |t| t.is_op('(')) else { return Ok(None) };
        let Some(close) = split::closing(behind, open).filter(|&close| behind[close].is_op(')')) else {
            return Ok(None);
        };
        let (factor, inside) = (&behind[..open], &behind[open + 1..close]);
        let entries = split::at(inside, |t| t.is_op(','));
        if entries.len() < 2 || entries.iter().any(|entry| entry.is_empty()) || !is_factor(factor) {
            return Ok(None);
        }
        let factor = if factor.is_empty() { Expr::int(1) } else { expression(factor, context)? };
        let factor = if negative { factor.negated() } else { factor };
        let entries =
            entries.into_iter().map(|entry| expression(entry, context)).collect::<Read<Vec<_>>>()?;
        let scaled = entries.into_iter().map(|entry| factor.clone().times(entry));
        total = Some(match total {
            None => scaled.collect(),
            Some(known) if known.len() == scaled.len() => {
                known.into_iter().zip(scaled).map(|(a, b)| a.plus(b)).collect()
            }
            Some(_) => return Ok(None),
        });
        rest = &behind[close + 1..];
    }
    Ok(total.map(|entries| Answer::Tuple(entries.into_iter().map(Answer::Value).collect())))
}

/// Whether what stands before a tuple is a number or a parameter, and not the name of a function or a point.
fn is_factor(tokens: &[Token]) -> bool {
    tokens.iter().all(|token| match &token.tok {
        Tok::Num(_) | Tok::Op('/' | '{' | '}' | '*') => true,
        Tok::Letter(c) => matches!(c, 'k' | 'm' | 'r' | 's' | 't' | 'c' | 'a' | 'b'),
        Tok::Cmd(name) => matches!(name.as_str(), "frac" | "sqrt" | "lambda" | "mu"),
        _ => false,
    })
}
