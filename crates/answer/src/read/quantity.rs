//! Values with percent signs, units, currencies and degrees.

use super::functions::map_degrees;
use super::numerals;
use super::parser::{Context, DEGREES, Read, expression};
use super::token::{Tok, Token};
use crate::answer::Answer;
use crate::units::{self, Unit};
use aske_algebra::expr::Expr;

/// Words in one unit.
const MAX_UNIT_TOKENS: usize = 24;

/// An expression with a percent sign, a unit or a currency around it.
pub(crate) fn value(tokens: &[Token], context: Context<'_>) -> Read<Answer> {
    let scaled = numerals::scaled(tokens);
    let tokens = scaled.as_deref().unwrap_or(tokens);
    if let [front @ .., last] = tokens
        && !front.is_empty()
        && (last.is_op('%') || matches!(&last.tok, Tok::Text(word) | Tok::Word(word) if is_percent(word)))
    {
        return expression(front, context).map(Answer::Percent);
    }
    if let [front @ .., Token { tok: Tok::Word(per), .. }, Token { tok: Tok::Word(cent), .. }] = tokens
        && !front.is_empty()
        && per == "per"
        && cent == "cent"
    {
        return expression(front, context).map(Answer::Percent);
    }
    if let Some(angle) = degrees_and_minutes(tokens) {
        return Ok(Answer::Quantity(angle, Unit::degree()));
    }
    if let Some((front, unit)) = temperature(tokens) {
        return expression(front, context).map(|value| Answer::Quantity(value, unit));
    }
    if let [currency, rest @ ..] = tokens
        && let Some(unit) = money(currency)
    {
        let rest = match rest {
            [front @ .., Token { tok: Tok::Text(word) | Tok::Word(word), .. }]
                if units::read(word) == Some(unit.clone()) =>
            {
                front
            }
            _ => rest,
        };
        // `\$5 per hour`
        if let Some((front, per)) =
            trailing_unit(rest).filter(|(_, per)| per.bases.iter().all(|(_, power)| *power < 0))
        {
            return expression(front, context).map(|value| Answer::Quantity(value, unit.times(&per, 1)));
        }
        return expression(rest, context).map(|value| Answer::Quantity(value, unit));
    }
    // `(4 cm)^2`
    if let [open, inside @ .., close, caret, Token { tok: Tok::Num(power), .. }] = tokens
        && open.is_op('(')
        && close.is_op(')')
        && caret.is_op('^')
        && let Some((front, unit)) = trailing_unit(inside)
        && let Some(times @ 2..=3) = power.digits.as_ref().and_then(|digits| digits.parse::<i32>().ok())
    {
        let value = expression(front, context)?.power(Expr::int(times.into()));
        return Ok(Answer::Quantity(value, Unit::none().times(&unit, times)));
    }
    // `5'10''`
    if let [Token { tok: Tok::Num(feet), .. }, foot, Token { tok: Tok::Num(inches), .. }, first, second] =
        tokens
        && [foot, first, second].iter().all(|mark| mark.is_op('\''))
    {
        let inches = Expr::Number(
            feet.value.clone() * aske_algebra::expr::Rational::from(12_u8) + inches.value.clone(),
        );
        return Ok(Answer::Quantity(inches, units::read("inch").unwrap_or_else(Unit::none)));
    }
    // `-\$5`
    if let [minus, currency, rest @ ..] = tokens
        && minus.is_op('-')
        && let Some(unit) = money(currency)
    {
        return expression(rest, context).map(|value| Answer::Quantity(value.negated(), unit));
    }
    if let Some((front, unit)) = trailing_unit(tokens) {
        return Ok(quantity(expression(front, context)?, unit));
    }
    let value = expression(tokens, context)?;
    if let Some(parts) = components(&value) {
        return Ok(Answer::Tuple(parts.into_iter().map(Answer::Value).collect()));
    }
    if has_degrees(&value) {
        return Ok(Answer::Quantity(without_degrees(value), Unit::degree()));
    }
    Ok(Answer::Value(value))
}

pub(crate) fn quantity(value: Expr, unit: Unit) -> Answer {
    if unit.is_none() { Answer::Value(value) } else { Answer::Quantity(without_degrees(value), unit) }
}

/// `30^\circ 15'`: degrees and minutes, as degrees.
fn degrees_and_minutes(tokens: &[Token]) -> Option<Expr> {
    let (degrees, minutes) = match tokens {
        [degrees, caret, ring, minutes, prime]
            if caret.is_op('^') && ring.is_cmd("circ") && prime.is_op('\'') =>
        {
            (degrees, minutes)
        }
        [degrees, caret, open, ring, close, minutes, prime]
            if caret.is_op('^')
                && open.is_op('{')
                && ring.is_cmd("circ")
                && close.is_op('}')
                && prime.is_op('\'') =>
        {
            (degrees, minutes)
        }
        _ => return None,
    };
    let (Tok::Num(degrees), Tok::Num(minutes)) = (&degrees.tok, &minutes.tok) else { return None };
    Some(Expr::Number(degrees.value.clone()).plus(Expr::Number(minutes.value.clone()).over(Expr::int(60))))
}

/// `25^\circ C`: what stands before the degrees, and their scale.
fn temperature(tokens: &[Token]) -> Option<(&[Token], Unit)> {
    let [front @ .., scale] = tokens else { return None };
    let unit = match &scale.tok {
        Tok::Letter('C') => units::read("°C"),
        Tok::Letter('F') => units::read("°F"),
        Tok::Text(name) if name == "C" || name == "Celsius" => units::read("°C"),
        Tok::Text(name) if name == "F" || name == "Fahrenheit" => units::read("°F"),
        _ => None,
    }?;
    let front = match front {
        [front @ .., caret, open, ring, close]
            if caret.is_op('^') && open.is_op('{') && ring.is_cmd("circ") && close.is_op('}') =>
        {
            front
        }
        [front @ .., caret, ring] if caret.is_op('^') && ring.is_cmd("circ") => front,
        [front @ .., ring] if ring.is_cmd("circ") => front,
        _ => return None,
    };
    (!front.is_empty()).then_some((front, unit))
}

fn is_percent(word: &str) -> bool {
    matches!(
        word.to_ascii_lowercase().as_str(),
        "percent" | "percentage" | "pct" | "per cent" | "%" | "percents"
    )
}

fn money(token: &Token) -> Option<Unit> {
    match &token.tok {
        Tok::Cmd(name) if name == "dollar" => units::read("dollar"),
        Tok::Cmd(name) if name == "euro" => units::read("euro"),
        Tok::Cmd(name) if name == "pound" => units::read("sterling"),
        Tok::Word(code) | Tok::Text(code) if matches!(code.as_str(), "USD" | "EUR" | "GBP" | "euro") => {
            units::read(code)
        }
        _ => None,
    }
}

/// The words of a unit at the end, as text or as bare words, and what stands before it.
fn trailing_unit(tokens: &[Token]) -> Option<(&[Token], Unit)> {
    // Text that is raised or lowered belongs to what stands before it.
    let free = |at: usize| {
        at == 0
            || !matches!(tokens[at - 1].tok, Tok::Op('^' | '_' | '{'))
            || at > 2 && tokens[at - 1].is_op('{') && tokens[at - 2].is_cmd("frac")
    };
    // `\min` is a unit where nothing follows of which it could be the least.
    let minutes = |at: usize| tokens[at].is_cmd("min") && tokens.get(at + 1).is_none_or(|t| t.is_op('/'));
    // `\sec` behind a number, with nothing behind it, are seconds.
    let seconds = |at: usize| at > 0 && tokens[at].is_cmd("sec") && at + 1 == tokens.len();
    let is_unit = |at: usize| is_unit_word(&tokens[at]) || minutes(at) || seconds(at);
    let mut start = (0..tokens.len()).find(|&at| is_unit(at) && free(at))?;
    // `5 g/cm^3` and `60 \frac{\text{km}}{\text{h}}`: units that begin before the first word.
    let begins = |token: &Token| match &token.tok {
        Tok::Letter(letter) => units::read(letter.encode_utf8(&mut [0; 4])).is_some(),
        Tok::Op('/' | '*') => true,
        _ => false,
    };
    while start > 1 && begins(&tokens[start - 1]) {
        start -= 1;
    }
    if start > 2 && tokens[start - 1].is_op('{') && tokens[start - 2].is_cmd("frac") {
        start -= 2;
    } else if start > 1 && tokens[start - 1].is_cmd("frac") {
        start -= 1;
    }
    if start == 0 || tokens.len() - start > MAX_UNIT_TOKENS {
        return None;
    }
    // The prefix of a micrometre.
    let micro = start > 1 && tokens[start - 1].is_cmd("mu") && matches!(tokens[start - 2].tok, Tok::Num(_));
    let mut text = String::from(if micro { "μ" } else { "" });
    let quotient = tokens[start].is_cmd("frac");
    for (at, token) in tokens.iter().enumerate().skip(start + usize::from(quotient)) {
        // The bar between the two arguments of a fraction.
        if quotient && at > start + 1 && !text.contains('/') && is_second_argument(tokens, at) {
            text.push('/');
        }
        match &token.tok {
            Tok::Text(word) | Tok::Word(word) => {
                text.push_str(if text == "μ" { "" } else { " " });
                text.push_str(word);
            }
            Tok::Cmd(name) if name == "circ" => text.push_str(" degree"),
            Tok::Cmd(name) if name == "dollar" => text.push_str(" dollar"),
            Tok::Cmd(name) if matches!(name.as_str(), "euro" | "min" | "sec") => {
                text.push(' ');
                text.push_str(name);
            }
            Tok::Letter(c) => {
                text.push(' ');
                text.push(*c);
            }
            Tok::Num(num) => text.push_str(num.digits.as_ref()?),
            Tok::Op('{' | '}' | '.') => {}
            Tok::Op(c @ ('/' | '^' | '-')) => text.push(*c),
            Tok::Op('*') => text.push(' '),
            _ => return None,
        }
    }
    units::read(&text).map(|unit| (&tokens[..start - usize::from(micro)], unit))
}

/// Whether the second argument of a fraction of units begins at a token.
fn is_second_argument(tokens: &[Token], at: usize) -> bool {
    let unit = |token: &Token| matches!(token.tok, Tok::Text(_) | Tok::Word(_) | Tok::Letter(_));
    tokens[at - 1].is_op('}') || unit(&tokens[at - 1]) && (unit(&tokens[at]) || tokens[at].is_op('{'))
}

/// `2 hours 30 minutes`: numbers with units of one kind, added up in the last one's unit.
pub(crate) fn compound(tokens: &[Token], context: Context<'_>) -> Option<Answer> {
    let mut parts = Vec::new();
    let mut rest = tokens;
    while !rest.is_empty() {
        let [Token { tok: Tok::Num(_), .. }, unit, more @ ..] = rest else { return None };
        let unit = match &unit.tok {
            Tok::Text(word) | Tok::Word(word) => units::read(word)?,
            Tok::Letter(letter) => units::read(letter.encode_utf8(&mut [0; 4]))?,
            Tok::Cmd(name) if name == "min" => units::read(name)?,
            _ => return None,
        };
        parts.push((expression(&rest[..1], context).ok()?, unit));
        rest = match more {
            [and, more @ ..] if and.is_cmd("and") || and.is_op(',') => more,
            _ => more,
        };
    }
    let (_, last) = parts.last().filter(|_| parts.len() > 1)?.clone();
    let decreasing = parts.windows(2).all(|pair| pair[0].1.factor > pair[1].1.factor);
    if last.is_none() || !decreasing || parts.iter().any(|(_, unit)| unit.bases != last.bases) {
        return None;
    }
    let scaled = parts.into_iter().map(|(value, unit)| value.times(Expr::Number(unit.factor / &last.factor)));
    Some(Answer::Quantity(Expr::Sum(scaled.collect()), last))
}

fn is_unit_word(token: &Token) -> bool {
    match &token.tok {
        Tok::Text(_) => true,
        Tok::Word(word) => !super::words::is_product(word, token.spaced),
        Tok::Cmd(name) => name == "dollar" || name == "euro",
        _ => false,
    }
}

fn has_degrees(expr: &Expr) -> bool {
    expr.any(&|part| matches!(part, Expr::Apply(name, _) if name == DEGREES))
}

fn without_degrees(expr: Expr) -> Expr {
    map_degrees(expr, &|inside| inside)
}

/// The components of a sum of multiples of unit vectors.
fn components(expr: &Expr) -> Option<Vec<Expr>> {
    fn with(expr: &Expr, chosen: &str) -> Expr {
        match expr {
            Expr::Symbol(name) if name.starts_with("unit_") => Expr::int(i64::from(name == chosen)),
            Expr::Sum(parts) => Expr::Sum(parts.iter().map(|part| with(part, chosen)).collect()),
            Expr::Product(parts) => Expr::Product(parts.iter().map(|part| with(part, chosen)).collect()),
            other => other.clone(),
        }
    }
    let names = ["unit_i", "unit_j", "unit_k"];
    if !names.iter().any(|name| expr.has_symbol(name)) {
        return None;
    }
    let dimensions = if expr.has_symbol("unit_k") { 3 } else { 2 };
    Some(names[..dimensions].iter().map(|name| with(expr, name)).collect())
}
