//! Congruences: `x \equiv 3 \pmod 7`, `x = 3 mod 7`, `3 (mod 7)`.

use super::delimiters::strip_punctuation;
use super::parser::{Context, Read, ReadError, expression};
use super::split;
use super::token::{Tok, Token};
use crate::answer::{Answer, Congruence};
use aske_algebra::expr::Expr;

/// The largest modulus to which residues are listed.
const MAX_MODULUS: i64 = 60;

/// Reads a congruence, where all the tokens are one.
pub(crate) fn read(tokens: &[Token], context: Context<'_>) -> Read<Option<Answer>> {
    let is_sign = |t: &Token| t.is_cmd("equiv") || t.is_op('=');
    let signs = tokens.iter().filter(|t| is_sign(t)).count();
    let Some((front, modulus)) = modulus(tokens, signs > 0) else { return Ok(None) };
    if signs > 1 || tokens.iter().filter(|t| t.is_cmd("pmod") || t.is_cmd("mod")).count() > 1 {
        return Ok(None);
    }
    let (left, right) = match split::find(front, is_sign) {
        Some(at) => (Some(&front[..at]), &front[at + 1..]),
        None => (None, front),
    };
    // `n \not\equiv 2 \pmod 4`: all other residues.
    let (left, denied) = match left {
        Some([left @ .., not]) if not.is_cmd("not") => (Some(left), true),
        left => (left, false),
    };
    let left = left.map(|left| expression(left, context)).transpose()?;
    let list = |t: &Token| t.is_op(',') || t.is_cmd("or") || t.is_cmd("and");
    let mut residues = Vec::new();
    for part in split::at(strip_punctuation(right), list).into_iter().filter(|part| !part.is_empty()) {
        match part {
            [sign, rest @ ..] if sign.is_cmd("pm") => {
                let one = expression(rest, context)?;
                residues.extend([one.clone(), one.negated()]);
            }
            _ => residues.push(expression(part, context)?),
        }
    }
    if residues.is_empty() {
        return Err(ReadError::Syntax);
    }
    let modulus = expression(modulus, context)?;
    if denied {
        let whole = |expr: &Expr| match expr {
            Expr::Number(value) if value.is_int() => i64::try_from(value.floor()).ok(),
            _ => None,
        };
        let size =
            whole(&modulus).filter(|size| (1..=MAX_MODULUS).contains(size)).ok_or(ReadError::Syntax)?;
        let excluded = residues.iter().map(whole).collect::<Option<Vec<_>>>().ok_or(ReadError::Syntax)?;
        let others = (0..size).filter(|one| excluded.iter().all(|other| (one - other) % size != 0));
        residues = others.map(Expr::int).collect();
    }
    Ok(Some(Answer::Congruence(Box::new(Congruence { left, residues, modulus }))))
}

/// What stands before the modulus, and the modulus.
fn modulus(tokens: &[Token], related: bool) -> Option<(&[Token], &[Token])> {
    if let Some(at) = split::find(tokens, |t| t.is_cmd("pmod")) {
        return behind(tokens, at);
    }
    // `(mod 7)` at the end.
    if let [front @ .., close] = tokens
        && close.is_op(')')
        && let Some(at) = front.iter().rposition(|t| t.is_op('('))
        && front.get(at + 1).is_some_and(|t| t.is_cmd("mod"))
        && at > 0
    {
        let inside = &front[at + 2..];
        return (!inside.is_empty()).then_some((&tokens[..at], inside));
    }
    let at = split::find(tokens, |t| t.is_cmd("mod")).filter(|_| related)?;
    behind(tokens, at)
}

fn behind(tokens: &[Token], at: usize) -> Option<(&[Token], &[Token])> {
    let modulus = match &tokens[at + 1..] {
        [open, inside @ .., close] if open.is_op('{') && close.is_op('}') => inside,
        [open, inside @ .., close] if open.is_op('(') && close.is_op(')') => inside,
        rest => rest,
    };
    let modulus = match modulus {
        [Token { tok: Tok::Cmd(name), .. }, rest @ ..] if name == "mod" => rest,
        other => other,
    };
    (at > 0 && !modulus.is_empty()).then(|| (strip_punctuation(&tokens[..at]), modulus))
}
