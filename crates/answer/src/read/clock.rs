//! Ratios and times of day: `3:4`, `12:30 PM`, `noon`.

use super::parser::{Context, Read, ReadError, expression};
use super::split;
use super::token::{Num, Tok, Token};
use crate::answer::{Answer, Clock};

/// `6 PM`, `noon`.
pub(crate) fn hour(tokens: &[Token]) -> Option<Clock> {
    let at = |minutes: u32| Some(Clock { minutes, has_meridiem: true });
    match tokens {
        [Token { tok: Tok::Text(word) | Tok::Word(word), .. }] => match word.to_ascii_lowercase().as_str() {
            "noon" => at(12 * 60),
            "midnight" => at(0),
            _ => None,
        },
        [Token { tok: Tok::Num(num), .. }, half] => {
            let hours = num.digits.as_ref()?.parse::<u32>().ok().filter(|hours| (1..=12).contains(hours))?;
            at((hours % 12 + if meridiem(&half.tok)? { 12 } else { 0 }) * 60)
        }
        _ => None,
    }
}

/// `3:4`, `12:30 PM`.
pub(crate) fn ratio(tokens: &[Token], context: Context<'_>) -> Read<Option<Answer>> {
    if split::find(tokens, |t| t.is_op(':')).is_none() {
        return Ok(None);
    }
    let half = tokens.iter().position(|t| meridiem(&t.tok).is_some());
    let (numbers, afternoon) = match half {
        // What follows may be another day, place or time.
        Some(at) if at + 1 < tokens.len() => return Err(ReadError::Syntax),
        Some(at) => (&tokens[..at], meridiem(&tokens[at].tok)),
        None => (tokens, None),
    };
    let parts = split::at(numbers, |t| t.is_op(':'));
    let clock = clock(&parts, afternoon);
    if afternoon.is_some() {
        return Ok(clock.map(|clock| Answer::Ratio(Vec::new(), Some(clock))));
    }
    // `3:04` is a time or a duration, and not the ratio of 3 to 4.
    if parts.iter().any(|part| matches!(part, [Token { tok: Tok::Num(num), .. }] if is_padded(num))) {
        let clock = clock.ok_or(ReadError::Syntax)?;
        return Ok(Some(Answer::Ratio(Vec::new(), Some(clock))));
    }
    let values = parts.into_iter().map(|part| expression(part, context)).collect::<Read<Vec<_>>>()?;
    Ok(Some(Answer::Ratio(values, clock)))
}

/// Whether a number is written with a leading zero: `04`, `00`.
fn is_padded(num: &Num) -> bool {
    num.digits.as_ref().is_some_and(|digits| digits.len() > 1 && digits.starts_with('0'))
}

/// `am` or `pm` in any spelling: true for the afternoon.
fn meridiem(tok: &Tok) -> Option<bool> {
    let (Tok::Text(word) | Tok::Word(word)) = tok else { return None };
    match word.to_ascii_lowercase().replace(['.', ' '], "").as_str() {
        "am" | "midnight" => Some(false),
        "pm" | "noon" => Some(true),
        _ => None,
    }
}

fn clock(parts: &[&[Token]], afternoon: Option<bool>) -> Option<Clock> {
    let number = |part: &[Token]| match part {
        [Token { tok: Tok::Num(num), .. }] => {
            let digits = num.digits.as_ref()?;
            Some((digits.parse::<u32>().ok()?, digits.len()))
        }
        _ => None,
    };
    let [hours, minutes, ..] = parts else { return None };
    let ((hours, _), (minutes, width)) = (number(hours)?, number(minutes)?);
    if width != 2 || minutes > 59 || hours > 24 || parts.len() > 2 {
        return None;
    }
    let hours = match afternoon {
        Some(true) => hours % 12 + 12,
        Some(false) => hours % 12,
        None => hours,
    };
    Some(Clock { minutes: hours * 60 + minutes, has_meridiem: afternoon.is_some() })
}
