//! Brackets: tuples, lists, sets, intervals, matrices, systems; and set operators.

use super::kinds::{answer, both_signs, element};
use super::parser::{Context, Read, ReadError};
use super::split;
use super::token::{Tok, Token};
use super::{domain, matrix};
use crate::answer::{Answer, Interval, Numbers};
use aske_algebra::expr::Expr;
use smol_str::SmolStr;

/// Integers that dots may leave out.
const MAX_LISTED: i64 = 1_000;

/// ∪ ∩ ∖
pub(crate) fn is_set_operator(token: &Token) -> bool {
    matches!(&token.tok, Tok::Cmd(name) if matches!(name.as_str(), "cup" | "cap" | "setminus"))
}

/// `]1,2[`: brackets that open outwards.
pub(crate) fn is_french(tokens: &[Token]) -> bool {
    let outward = |token: &Token, at: usize| {
        // A bracket that closes before anything opened, or opens with nothing behind it.
        token.is_op(']') && (at == 0 || is_set_operator(&tokens[at - 1]))
            || token.is_op('[') && (at + 1 == tokens.len() || is_set_operator(&tokens[at + 1]))
    };
    tokens.len() >= 4 && tokens.iter().enumerate().any(|(at, token)| outward(token, at))
}

/// Sets with operators between them: ∖ last, then ∪, then ∩.
pub(crate) fn set_expression(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    context.fuel.spend(20)?;
    if is_french(tokens) {
        return french(tokens, context, level);
    }
    let by = |name: &'static str| move |t: &Token| t.is_cmd(name);
    let parts = |name: &'static str| -> Option<Vec<&[Token]>> {
        split::find(tokens, by(name)).map(|_| split::at(tokens, by(name)))
    };
    if let Some(parts) = parts("setminus") {
        let mut all = parts.into_iter().map(|part| set_expression(part, context, level + 1));
        let first = all.next().ok_or(ReadError::Syntax)??;
        return all.try_fold(first, |left, right| Ok(Answer::Minus(Box::new(left), Box::new(right?))));
    }
    if let Some(parts) = parts("cup") {
        return parts
            .into_iter()
            .map(|part| set_expression(part, context, level + 1))
            .collect::<Read<_>>()
            .map(Answer::Union);
    }
    if let Some(parts) = parts("cap") {
        return parts
            .into_iter()
            .map(|part| set_expression(part, context, level + 1))
            .collect::<Read<_>>()
            .map(Answer::Intersection);
    }
    answer(tokens, context, level + 1)
}

/// Intervals whose brackets open outwards, and unions of them.
fn french(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    let pieces: Vec<_> = tokens.split(|t| t.is_cmd("cup")).collect();
    let mut intervals = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let [open, inside @ .., close] = piece else { return Err(ReadError::Syntax) };
        let from_closed = match &open.tok {
            Tok::Op('[') => true,
            Tok::Op(']' | '(') => false,
            _ => return Err(ReadError::Syntax),
        };
        let to_closed = match &close.tok {
            Tok::Op(']') => true,
            Tok::Op('[' | ')') => false,
            _ => return Err(ReadError::Syntax),
        };
        let (from, to) = ends(inside, context, level)?;
        intervals.push(Answer::Interval(Box::new(Interval { from, to, from_closed, to_closed })));
    }
    Ok(if intervals.len() == 1 { intervals.remove(0) } else { Answer::Union(intervals) })
}

fn ends(
    inside: &[Token],
    context: Context<'_>,
    level: u32,
) -> Read<(aske_algebra::expr::Expr, aske_algebra::expr::Expr)> {
    let parts = elements(inside);
    let [from, to] = parts.as_slice() else { return Err(ReadError::Syntax) };
    match (answer(from, context, level + 1)?, answer(to, context, level + 1)?) {
        (Answer::Value(from), Answer::Value(to)) => Ok((from, to)),
        _ => Err(ReadError::Syntax),
    }
}

/// The elements between brackets: by semicolons where there are any, else by commas.
fn elements(inside: &[Token]) -> Vec<&[Token]> {
    let mark = if split::find(inside, |t| t.is_op(';')).is_some() { ';' } else { ',' };
    split::at(inside, |t| t.is_op(mark))
}

/// One pair of brackets around all the tokens, or a command that is a set of its own.
pub(crate) fn bracketed(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    if let Some(numbers) = domain::numbers(tokens) {
        return Ok(Some(Answer::Numbers(numbers)));
    }
    let [first, .., last] = tokens else {
        return Ok(match tokens {
            [one] if one.is_cmd("emptyset") => Some(Answer::Set(Vec::new())),
            _ => None,
        });
    };
    // `|\begin{matrix}…|` is a determinant.
    if let [open, begin, Token { tok: Tok::Text(name), .. }, .., close] = tokens
        && open.is_op('|')
        && close.is_op('|')
        && begin.is_cmd("begin")
        && matches!(name.as_str(), "matrix" | "array")
    {
        let det = Token { tok: Tok::Cmd(SmolStr::new_static("det")), spaced: false };
        let inside: Vec<Token> =
            std::iter::once(det).chain(tokens[1..tokens.len() - 1].iter().cloned()).collect();
        return matrix::environment(&inside, context, level);
    }
    if split::find_opening(tokens, |t| t.is_cmd("begin")).is_some()
        || first.tok == Tok::SetOpen && tokens[1].is_cmd("begin") && last.tok != Tok::SetClose
    {
        return matrix::environment(tokens, context, level);
    }
    if split::closing(tokens, 0) != Some(tokens.len() - 1) {
        return Ok(None);
    }
    let inside = &tokens[1..tokens.len() - 1];
    let all = |parts: Vec<&[Token]>| {
        parts.into_iter().map(|part| element(part, context, level)).collect::<Read<Vec<_>>>()
    };
    let parts = elements(inside);
    Ok(Some(match (&first.tok, &last.tok) {
        (Tok::SetOpen, Tok::SetClose) => return set(inside, context, level).map(Some),
        (Tok::Op('{'), Tok::Op('}')) => match parts.len() {
            // Braces of LaTeX only group, unless there is a list in them.
            1 if inside.iter().any(|t| t.is_cmd("over") || t.is_cmd("choose")) => return Ok(None),
            1 => answer(inside, context, level + 1)?,
            _ => set(inside, context, level)?,
        },
        (Tok::Op('(' | '['), _)
            if parts.len() > 1 && inside.iter().any(|t| t.is_cmd("pm") || t.is_cmd("mp")) =>
        {
            both_signs(tokens, context, level)?
        }
        (Tok::Op('('), Tok::Op(')')) | (Tok::Cmd(_), Tok::Cmd(_)) if parts.len() > 1 => {
            Answer::Tuple(all(parts)?)
        }
        (Tok::Op('['), Tok::Op(']')) if parts.len() > 1 => Answer::List(all(parts)?),
        (Tok::Op('('), Tok::Op(']')) | (Tok::Op('['), Tok::Op(')')) if parts.len() == 2 => {
            let (from, to) = ends(inside, context, level)?;
            let interval = Interval { from, to, from_closed: first.is_op('['), to_closed: last.is_op(']') };
            Answer::Interval(Box::new(interval))
        }
        // Brackets that only group.
        (Tok::Op('('), Tok::Op(')')) | (Tok::Op('['), Tok::Op(']')) if !inside.is_empty() => {
            match answer(inside, context, level + 1)? {
                Answer::Value(_) => return Ok(None),
                other => other,
            }
        }
        _ => return Ok(None),
    }))
}

/// What stands between set braces: elements, or a variable and its condition.
fn set(inside: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    if inside.is_empty() {
        return Ok(Answer::Set(Vec::new()));
    }
    let bar = |t: &Token| t.is_cmd("mid") || t.is_op('|') || t.is_op(':');
    // `\{n\pi : n \in \mathbb{Z}\}`
    if let Some(at) = split::find(inside, bar).filter(|&at| at > 1)
        && !inside[1].is_cmd("in")
        && let Some(condition) = domain::condition(&inside[at + 1..])
    {
        let value = answer(&inside[..at], context, level + 1)?;
        return Ok(Answer::Family(Box::new(value), vec![condition]));
    }
    if let Some(at) = split::find(inside, bar)
        && let [variable, rest @ ..] = &inside[..at]
        && let Tok::Letter(letter) = variable.tok
        && (rest.is_empty() || rest[0].is_cmd("in"))
    {
        let name = SmolStr::new(letter.encode_utf8(&mut [0; 4]));
        let condition = Box::new(answer(&inside[at + 1..], context, level + 1)?);
        return Ok(match rest {
            [] => Answer::Where(name, Numbers::Reals, condition),
            [_, set @ ..] => {
                if let Some(numbers) = domain::numbers(set) {
                    Answer::Where(name, numbers, condition)
                } else {
                    let within = answer(set, context, level + 1)?;
                    Answer::Intersection(vec![within, Answer::Where(name, Numbers::Reals, condition)])
                }
            }
        });
    }
    let mut found = Vec::new();
    for part in elements(inside) {
        context.fuel.spend(20)?;
        match element(part, context, level)? {
            Answer::Bare(both) if part.iter().any(|t| t.is_cmd("pm")) => found.extend(both),
            other => found.push(other),
        }
    }
    Ok(Answer::Set(without_dots(found)))
}

/// Integers that dots leave out, written out: `1, 2, \\ldots, 6`.
pub(crate) fn without_dots(parts: Vec<Answer>) -> Vec<Answer> {
    let integer = |part: Option<&Answer>| match part {
        Some(Answer::Value(Expr::Number(value))) if value.is_int() => i64::try_from(value.floor()).ok(),
        _ => None,
    };
    let Some(dots) = parts.iter().position(|part| *part == Answer::Dots).filter(|dots| *dots > 1) else {
        return parts;
    };
    let ends = (integer(parts.get(dots - 2)), integer(parts.get(dots - 1)), integer(parts.get(dots + 1)));
    let (Some(before), Some(from), Some(to)) = ends else { return parts };
    let even = (1..dots).all(|at| {
        let gap = integer(parts.get(at)).zip(integer(parts.get(at - 1))).map(|(b, a)| b.saturating_sub(a));
        gap == Some(from.saturating_sub(before))
    });
    let step = from.saturating_sub(before);
    let count = if step == 0 { 0 } else { to.saturating_sub(from) / step };
    if !even || !(1..=MAX_LISTED).contains(&count) || from + step * count != to {
        return parts;
    }
    let between = (1..count).map(|k| Answer::Value(Expr::int(from + step * k)));
    parts[..dots].iter().cloned().chain(between).chain(parts[dots + 1..].iter().cloned()).collect()
}
