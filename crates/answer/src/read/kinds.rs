//! Which kind of answer the words make: lists, relations, sets, values with what stands behind them.

use super::brackets;
use super::dress::trimmed;
use super::functions::map_degrees;
use super::parser::{Context, DEGREES, Read, Stuck, expression};
use super::split;
use super::token::{Tok, Token};
use crate::answer::{Answer, Clock, Relation, Sign};
use crate::tree::Expr;
use crate::units::{self, Unit};
use smol_str::SmolStr;

/// Lists inside lists, beyond which nothing is read.
const MAX_LEVEL: u32 = 12;
/// Signs in one chain of equations or inequalities.
const MAX_CHAIN: usize = 64;
/// Signs ± that are taken apart.
const MAX_SIGNS: usize = 3;

/// Reads all the words as one answer.
pub(crate) fn answer(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    context.fuel.spend(20 + 6 * tokens.len() as u64)?;
    if level > MAX_LEVEL {
        return Err(Stuck::Bounds);
    }
    let tokens = trimmed(tokens);
    let [first, rest @ ..] = tokens else { return Err(Stuck::Syntax) };
    if first.is_cmd("approx")
        || matches!(&first.tok, Tok::Text(word) | Tok::Word(word) if is_hedge(word)) && !rest.is_empty()
    {
        return answer(rest, context, level + 1);
    }
    if let Some(answer) = choice(tokens, context, level) {
        return Ok(answer);
    }
    if let Some(text) = all_text(tokens) {
        return Ok(text_answer(&text, context, level));
    }
    if let Some(at) = split::find(tokens, |t| t.is_cmd("implies")) {
        return answer(&tokens[at + 1..], context, level + 1);
    }
    if brackets::is_french(tokens) {
        return brackets::set_expression(tokens, context, level);
    }
    if let Some(parts) = connected(tokens, |t| t.is_cmd("or")) {
        return parts
            .into_iter()
            .map(|part| answer(part, context, level + 1))
            .collect::<Read<_>>()
            .map(Answer::Any);
    }
    if let Some(parts) =
        connected(tokens, |t| t.is_op(';')).or_else(|| connected(tokens, |t| t.is_op(',') || t.is_cmd("and")))
    {
        return listed(&parts, context, level);
    }
    if let Some(answer) = relation(tokens, context, level)? {
        return Ok(answer);
    }
    if split::find(tokens, brackets::is_set_operator).is_some() {
        return brackets::set_expression(tokens, context, level);
    }
    if first.is_cmd("dots") && tokens.len() == 1 {
        return Ok(Answer::Dots);
    }
    if let Some(answer) = brackets::bracketed(tokens, context, level)? {
        return Ok(answer);
    }
    if tokens.iter().any(|t| t.is_cmd("pm") || t.is_cmd("mp")) {
        return both_signs(tokens, context, level);
    }
    if let Some(answer) = ratio(tokens, context)? {
        return Ok(answer);
    }
    value(tokens, context)
}

/// The parts between connectives, where there are two or more; an empty part at a doubled connective is skipped.
fn connected(tokens: &[Token], connective: impl Fn(&Token) -> bool) -> Option<Vec<&[Token]>> {
    split::find(tokens, &connective)?;
    let parts: Vec<_> = split::at(tokens, connective).into_iter().filter(|part| !part.is_empty()).collect();
    Some(parts)
}

/// Parts of a list without brackets; a condition on what stands before it is not a part.
fn listed(parts: &[&[Token]], context: Context<'_>, level: u32) -> Read<Answer> {
    if let [one] = parts {
        return answer(one, context, level + 1);
    }
    let mut answers = Vec::with_capacity(parts.len());
    for part in parts {
        // `2\pi k, k\in\mathbb{Z}`: says what k may be.
        if !answers.is_empty()
            && let Some(at) = split::find(part, |t| t.is_cmd("in"))
            && part[at + 1..].iter().all(|t| matches!(&t.tok, Tok::Cmd(name) if is_number_set(name)))
            && at + 1 < part.len()
        {
            continue;
        }
        match answer(part, context, level + 1)? {
            // What ± stands for are answers of their own.
            Answer::Bare(both) if part.iter().any(|t| t.is_cmd("pm")) => answers.extend(both),
            other => answers.push(other),
        }
    }
    Ok(if answers.len() == 1 { answers.remove(0) } else { Answer::Bare(answers) })
}

fn is_number_set(name: &str) -> bool {
    matches!(name, "reals" | "integers" | "naturals" | "rationals" | "complexes")
}

/// `(A)`, `A.`, `\text{(A) }5`: an option's letter.
fn choice(tokens: &[Token], context: Context<'_>, level: u32) -> Option<Answer> {
    let letter = |tok: &Tok| match tok {
        Tok::Letter(c @ 'A'..='J') => Some(*c),
        _ => None,
    };
    let rest = |tokens: &[Token]| answer(tokens, context, level + 1).ok().map(Box::new);
    match tokens {
        [open, name, close, behind @ ..] if open.is_op('(') && close.is_op(')') => {
            let letter = letter(&name.tok)?;
            (behind.is_empty() || behind[0].spaced).then(|| Answer::Choice(letter, rest(behind)))
        }
        [name, mark, behind @ ..]
            if mark.is_op(')') || mark.is_op('.') || (mark.is_op(':') && !behind.is_empty()) =>
        {
            Some(Answer::Choice(letter(&name.tok)?, rest(behind)))
        }
        [Token { tok: Tok::Text(text), .. }, behind @ ..] => {
            let (letter, text) = text_choice(text)?;
            let beside = if behind.is_empty() {
                (!text.is_empty()).then(|| Box::new(Answer::Text(SmolStr::new(text))))
            } else {
                rest(behind)
            };
            Some(Answer::Choice(letter, beside))
        }
        _ => None,
    }
}

/// The letter of `(A)`, `(A) five`, `A) five`, `Option A`.
fn text_choice(text: &str) -> Option<(char, &str)> {
    let text = ["Option ", "option ", "Choice ", "choice ", "Answer "]
        .iter()
        .find_map(|p| text.strip_prefix(p))
        .unwrap_or(text);
    let inside = text.strip_prefix('(').unwrap_or(text);
    let letter = inside.chars().next().filter(|c| matches!(c, 'A'..='J'))?;
    let rest = &inside[1..];
    let rest = match rest.chars().next() {
        Some(')') => &rest[1..],
        Some('.' | ':') if inside.len() == text.len() => &rest[1..],
        None if inside.len() == text.len() => rest,
        _ => return None,
    };
    Some((letter, rest.trim()))
}

/// The words, if all of them are words.
fn all_text(tokens: &[Token]) -> Option<String> {
    let mut out = String::new();
    let mut long = false;
    for token in tokens {
        let piece = match &token.tok {
            Tok::Text(text) => {
                long = true;
                text.clone()
            }
            Tok::Word(word) => {
                long |= !super::words::is_product(word, true) || word.chars().count() > 3;
                word.clone()
            }
            Tok::Letter(c) => SmolStr::new(c.encode_utf8(&mut [0; 4])),
            Tok::Op('\'') => SmolStr::new_static("'"),
            Tok::Cmd(name) if name == "or" || name == "and" => name.clone(),
            _ => return None,
        };
        if !out.is_empty() && token.spaced {
            out.push(' ');
        }
        out.push_str(&piece);
    }
    long.then_some(out)
}

/// Text set as text: a formula in disguise, or words.
fn text_answer(text: &str, context: Context<'_>, level: u32) -> Answer {
    if let Some(letters) = several_choices(text) {
        return Answer::Bare(letters.into_iter().map(|letter| Answer::Choice(letter, None)).collect());
    }
    if crate::text::is_all_reals(text) {
        return Answer::Reals;
    }
    let formula = text.contains(|c: char| c.is_ascii_digit() || matches!(c, '=' | '<' | '>' | '+'));
    if formula && level <= 2 {
        let tokens = super::lexer::tokens(text, context.notation, context.met);
        if all_text(&tokens).is_none()
            && let Ok(read) = answer(&tokens, context, level + 1)
        {
            return read;
        }
    }
    Answer::Text(SmolStr::new(text))
}

/// `(A) and (C)`: letters of several options.
fn several_choices(text: &str) -> Option<Vec<char>> {
    let parts = text.replace(" and ", ",").replace(" or ", ",");
    let letters: Vec<char> = parts
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .map(|part| text_choice(part.trim()).filter(|(_, rest)| rest.is_empty()).map(|(letter, _)| letter))
        .collect::<Option<_>>()?;
    (letters.len() > 1).then_some(letters)
}

/// Words before a number that do not change it.
fn is_hedge(word: &str) -> bool {
    matches!(
        word.to_ascii_lowercase().trim_end_matches([':', '.', ',']),
        "about"
            | "approximately"
            | "approx"
            | "roughly"
            | "around"
            | "exactly"
            | "the answer is"
            | "answer"
            | "is"
    )
}

fn sign(token: &Token) -> Option<Sign> {
    Some(match &token.tok {
        Tok::Op('=') => Sign::Equal,
        Tok::Op('<') => Sign::Less,
        Tok::Op('>') => Sign::More,
        Tok::Cmd(name) => match name.as_str() {
            "le" => Sign::AtMost,
            "ge" => Sign::AtLeast,
            "ne" => Sign::Unequal,
            "approx" => Sign::Near,
            "in" => Sign::In,
            "notin" => Sign::NotIn,
            _ => return None,
        },
        _ => return None,
    })
}

/// Sides with signs between them.
fn relation(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    if split::find(tokens, |t| sign(t).is_some()).is_none() {
        return Ok(None);
    }
    let mut signs = Vec::new();
    let mut depth = 0;
    for token in tokens {
        depth += token.nesting();
        if depth == 0 {
            signs.extend(sign(token));
        }
    }
    if signs.len() > MAX_CHAIN {
        return Err(Stuck::Bounds);
    }
    let mut sides = Vec::with_capacity(signs.len() + 1);
    for side in split::at(tokens, |t| sign(t).is_some()) {
        context.fuel.spend(50)?;
        sides.push(match side {
            [] => return Err(Stuck::Syntax),
            // What is named need not be understood: `P(A|B) = 1/2`.
            _ if sides.is_empty() && signs.iter().all(|sign| *sign == Sign::Equal) => {
                answer(side, context, level + 1).or_else(|stuck| match (stuck, &side[0].tok) {
                    (Stuck::Bounds, _) | (_, Tok::Num(_)) => Err(stuck),
                    _ => Ok(Answer::Text(split::spell(side))),
                })?
            }
            _ => answer(side, context, level + 1)?,
        });
    }
    Ok(Some(Answer::Relation(Relation { sides, signs })))
}

/// Both values of every ±; where ∓ stands too, all signs turn together.
pub(crate) fn both_signs(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    let marks: Vec<usize> =
        (0..tokens.len()).filter(|&at| tokens[at].is_cmd("pm") || tokens[at].is_cmd("mp")).collect();
    let together = tokens.iter().any(|t| t.is_cmd("mp"));
    if marks.len() > MAX_SIGNS && !together {
        return Err(Stuck::Bounds);
    }
    let variants = if together { 2 } else { 1_usize << marks.len() };
    let mut answers = Vec::new();
    for variant in 0..variants {
        let mut tokens = tokens.to_vec();
        for (index, &at) in marks.iter().enumerate() {
            let bit = if together { variant } else { variant >> index & 1 };
            let minus = (bit == 1) != tokens[at].is_cmd("mp");
            tokens[at].tok = Tok::Op(if minus { '-' } else { '+' });
        }
        answers.push(answer(&tokens, context, level + 1)?);
    }
    Ok(Answer::Bare(answers))
}

/// `3:4`, `12:30 PM`.
fn ratio(tokens: &[Token], context: Context<'_>) -> Read<Option<Answer>> {
    if split::find(tokens, |t| t.is_op(':')).is_none() {
        return Ok(None);
    }
    let half = tokens.iter().position(|t| meridiem(&t.tok).is_some());
    let (numbers, afternoon) = match half {
        Some(at) => (&tokens[..at], meridiem(&tokens[at].tok)),
        None => (tokens, None),
    };
    let parts = split::at(numbers, |t| t.is_op(':'));
    let clock = clock(&parts, afternoon);
    if afternoon.is_some() {
        return Ok(clock.map(|clock| Answer::Ratio(Vec::new(), Some(clock))));
    }
    let values = parts.into_iter().map(|part| expression(part, context)).collect::<Read<Vec<_>>>()?;
    Ok(Some(Answer::Ratio(values, clock)))
}

/// `am` or `pm` in any dress: true for the afternoon.
fn meridiem(tok: &Tok) -> Option<bool> {
    let (Tok::Text(word) | Tok::Word(word)) = tok else { return None };
    match word.to_ascii_lowercase().replace(['.', ' '], "").as_str() {
        "am" => Some(false),
        "pm" => Some(true),
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
    Some(Clock { minutes: hours * 60 + minutes, told: afternoon.is_some() })
}

/// An expression with a percent sign, a unit or a currency around it.
fn value(tokens: &[Token], context: Context<'_>) -> Read<Answer> {
    if let [front @ .., last] = tokens
        && !front.is_empty()
        && (last.is_op('%') || matches!(&last.tok, Tok::Text(word) | Tok::Word(word) if is_percent(word)))
    {
        return expression(front, context).map(Answer::Percent);
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
        return expression(rest, context).map(|value| Answer::Quantity(value, unit));
    }
    // `-\$5`
    if let [minus, currency, rest @ ..] = tokens
        && minus.is_op('-')
        && let Some(unit) = money(currency)
    {
        return expression(rest, context).map(|value| Answer::Quantity(value.negated(), unit));
    }
    if let Some(total) = compound(tokens, context) {
        return Ok(total);
    }
    if let Some((front, unit)) = trailing_unit(tokens) {
        let value = expression(front, context)?;
        return Ok(if unit.is_none() {
            Answer::Value(value)
        } else {
            Answer::Quantity(without_degrees(value), unit)
        });
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
        _ => None,
    }
}

/// The words of a unit at the end, as text or as bare words, and what stands before it.
fn trailing_unit(tokens: &[Token]) -> Option<(&[Token], Unit)> {
    // Text that is raised or lowered belongs to what stands before it.
    let free = |at: usize| at == 0 || !matches!(tokens[at - 1].tok, Tok::Op('^' | '_' | '{'));
    let start = (0..tokens.len()).find(|&at| is_unit_word(&tokens[at]) && free(at))?;
    if start == 0 {
        return None;
    }
    let mut text = String::new();
    for token in &tokens[start..] {
        match &token.tok {
            Tok::Text(word) | Tok::Word(word) => {
                text.push(' ');
                text.push_str(word);
            }
            Tok::Cmd(name) if name == "circ" => text.push_str(" degree"),
            Tok::Cmd(name) if name == "dollar" => text.push_str(" dollar"),
            Tok::Cmd(name) if name == "euro" || name == "min" => {
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
    units::read(&text).map(|unit| (&tokens[..start], unit))
}

/// `2 hours 30 minutes`: numbers with units of one kind, added up in the last one's unit.
fn compound(tokens: &[Token], context: Context<'_>) -> Option<Answer> {
    let mut parts = Vec::new();
    let mut rest = tokens;
    while !rest.is_empty() {
        let [Token { tok: Tok::Num(_), .. }, Token { tok: Tok::Text(word) | Tok::Word(word), .. }, more @ ..] =
            rest
        else {
            return None;
        };
        parts.push((expression(&rest[..1], context).ok()?, units::read(word)?));
        rest = more;
    }
    let (_, last) = parts.last().filter(|_| parts.len() > 1)?.clone();
    if last.is_none() || parts.iter().any(|(_, unit)| unit.bases != last.bases) {
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
