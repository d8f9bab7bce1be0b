//! Answers in common wordings: parts with labels, divisibility, remainders, values with names, permutations, a yes or no
//! with its reason.

use super::frame;
use super::kinds::{answer, element};
use super::parser::{Context, Read, ReadError};
use super::split;
use super::token::{Tok, Token};
use crate::answer::{Answer, Clock, Congruence, Relation, RelationOp};
use crate::vocabulary;
use aske_algebra::expr::Expr;
use smol_str::SmolStr;

/// The longest tuple of which all permutations are written out.
const MAX_PERMUTED: usize = 5;

/// Reads an answer in one of these wordings.
pub(crate) fn read(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    if let Some(found) = labelled(tokens, context, level)? {
        return Ok(Some(found));
    }
    if let Some(found) =
        divisible(tokens).or_else(|| explained(tokens)).or_else(|| time(tokens)).or_else(|| numbered(tokens))
    {
        return Ok(Some(found));
    }
    if let Some(found) = remainder(tokens, context, level)? {
        return Ok(Some(found));
    }
    if let Some(found) = named_values(tokens, context, level)? {
        return Ok(Some(found));
    }
    if let Some(found) = permutations(tokens, context, level)? {
        return Ok(Some(found));
    }
    if let Some(found) = sentence(tokens, context, level)? {
        return Ok(Some(found));
    }
    bounds(tokens, context, level)
}

/// `Player 2`, `Quadrant II`: the second player or quadrant.
fn numbered(tokens: &[Token]) -> Option<Answer> {
    if tokens.len() > 3 {
        return None;
    }
    let text = tokens.iter().map(|token| match &token.tok {
        Tok::Num(num) => num.digits.as_ref().map(ToString::to_string),
        Tok::Letter(letter) => Some(letter.to_lowercase().to_string()),
        _ => word(token),
    });
    let text = text.collect::<Option<Vec<_>>>()?.join(" ");
    let (noun, number) = text.strip_prefix("the ").unwrap_or(&text).split_once(' ')?;
    let place = match number {
        "1" | "one" | "i" => "first",
        "2" | "two" | "ii" => "second",
        "3" | "three" | "iii" => "third",
        "4" | "four" | "iv" => "fourth",
        _ => return None,
    };
    matches!(noun, "player" | "quadrant").then(|| Answer::Text(SmolStr::new(format!("{place} {noun}"))))
}

fn word(token: &Token) -> Option<String> {
    match &token.tok {
        Tok::Word(word) | Tok::Text(word) => Some(word.to_lowercase()),
        _ => None,
    }
}

fn is_word(token: &Token, known: &[&str]) -> bool {
    word(token).is_some_and(|word| known.contains(&word.as_str()))
}

/// `(a) 3, (b) 5` and `(1) 3; (2) 5`: the parts in the order of their labels.
fn labelled(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    let Some(kind) = label(tokens, 0).and_then(|(name, _)| Labels::first(&name)) else { return Ok(None) };
    let mut parts: Vec<&[Token]> = Vec::new();
    let (mut at, mut start) = (0, 0);
    while at < tokens.len() {
        let separated =
            at == 0 || tokens[at].spaced || tokens[at - 1].is_op(',') || tokens[at - 1].is_op(';');
        match label(tokens, at).filter(|_| separated) {
            Some((name, length)) if name == kind.name(parts.len() + usize::from(at > 0)) => {
                if at > 0 {
                    parts.push(&tokens[start..at]);
                }
                start = at + length;
                at = start;
            }
            _ => at += 1,
        }
    }
    parts.push(&tokens[start..]);
    let parts: Vec<&[Token]> = parts.into_iter().map(super::delimiters::strip_punctuation).collect();
    // `(1)(3)` and `(1)` are no labels.
    if parts.len() < 2 || parts.iter().any(|part| part.first().is_none_or(|first| !first.spaced)) {
        return Ok(None);
    }
    let parts = parts.into_iter().map(|part| element(part, context, level)).collect::<Read<Vec<_>>>()?;
    Ok(Some(Answer::Tuple(parts)))
}

/// What labels count with.
#[derive(Clone, Copy)]
enum Labels {
    Letters,
    Numbers,
    Roman,
}

impl Labels {
    fn first(name: &str) -> Option<Self> {
        match name {
            "a" => Some(Self::Letters),
            "1" => Some(Self::Numbers),
            "i" => Some(Self::Roman),
            _ => None,
        }
    }

    fn name(self, at: usize) -> String {
        const ROMAN: [&str; 8] = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii"];
        match self {
            Self::Letters => char::from(b'a' + u8::try_from(at.min(25)).unwrap_or(25)).to_string(),
            Self::Numbers => (at + 1).to_string(),
            Self::Roman => ROMAN.get(at).copied().unwrap_or_default().to_owned(),
        }
    }
}

/// The label that begins here, and how many tokens it takes: `(a)`, `a)`.
fn label(tokens: &[Token], at: usize) -> Option<(String, usize)> {
    let name = |token: &Token| match &token.tok {
        Tok::Letter(c) if c.is_lowercase() => Some(c.to_string()),
        Tok::Word(word) if word.chars().all(|c| matches!(c, 'i' | 'v')) => Some(word.to_string()),
        Tok::Num(num) => num.digits.as_ref().map(ToString::to_string),
        _ => None,
    };
    match &tokens[at..] {
        [open, label, close, ..] if open.is_op('(') && close.is_op(')') => Some((name(label)?, 3)),
        [label, close, ..] if close.is_op(')') && !matches!(label.tok, Tok::Num(_)) => {
            Some((name(label)?, 2))
        }
        _ => None,
    }
}

/// `n is divisible by 3`, `3 \mid n`, `4 divides n`, `n is a multiple of 4`: a residue of zero.
fn divisible(tokens: &[Token]) -> Option<Answer> {
    let number = |token: &Token| match &token.tok {
        Tok::Num(num) if num.digits.is_some() => Some(Expr::Number(num.value.clone())),
        _ => None,
    };
    let (left, modulus) = match tokens {
        [modulus, sign, letter] if sign.is_cmd("mid") || is_word(sign, &["divides"]) => (letter, modulus),
        [letter, is, divisible, by, modulus]
            if is_word(is, &["is"]) && is_word(divisible, &["divisible"]) && is_word(by, &["by"]) =>
        {
            (letter, modulus)
        }
        [letter, is, a, multiple, of, modulus]
            if is_word(is, &["is"])
                && a.tok == Tok::Letter('a')
                && is_word(multiple, &["multiple"])
                && is_word(of, &["of"]) =>
        {
            (letter, modulus)
        }
        // `all multiples of 6`
        [all @ .., multiples, of, modulus]
            if (all.is_empty() || all.len() == 1 && is_word(&all[0], &["all", "the"]))
                && is_word(multiples, &["multiples"])
                && is_word(of, &["of"]) =>
        {
            let (residues, modulus) = (vec![Expr::int(0)], number(modulus)?);
            return Some(Answer::Congruence(Box::new(Congruence { left: None, residues, modulus })));
        }
        _ => return None,
    };
    let Tok::Letter(letter) = left.tok else { return None };
    let left = Some(Expr::symbol(letter.encode_utf8(&mut [0; 4])));
    let modulus = number(modulus)?;
    Some(Answer::Congruence(Box::new(Congruence { left, residues: vec![Expr::int(0)], modulus })))
}

/// What `Yes` and `No` with a reason are recorded as, which they are compared by.
pub(crate) const YES: char = '✓';
pub(crate) const NO: char = '✗';

/// `No, such a number does not exist`: the word, and its reason. A reason with a condition is none.
fn explained(tokens: &[Token]) -> Option<Answer> {
    let [first, comma, rest @ ..] = tokens else { return None };
    if !comma.is_op(',') || rest.is_empty() {
        return None;
    }
    let said = match word(first)?.as_str() {
        "yes" => YES,
        "no" => NO,
        _ => return None,
    };
    let mut reason = String::new();
    for token in rest {
        let piece = match &token.tok {
            Tok::Word(word) | Tok::Text(word) => word.to_lowercase(),
            Tok::Letter(c) => c.to_string(),
            _ => return None,
        };
        for word in piece.split_whitespace() {
            let denies = matches!(word, "not" | "no" | "never" | "none" | "cannot") && said == NO;
            if vocabulary::is_modifier(word) && !denies
                || matches!(word, "yes" | "only" | "when" | "and" | "or")
            {
                return None;
            }
        }
        reason.push(' ');
        reason.push_str(&piece);
    }
    Some(Answer::Choice(said, Some(Box::new(Answer::Text(SmolStr::new(reason.trim()))))))
}

/// `half past 4`, `quarter to five`.
fn time(tokens: &[Token]) -> Option<Answer> {
    let tokens = match tokens {
        [a, rest @ ..] if a.tok == Tok::Letter('a') => rest,
        _ => tokens,
    };
    let [fraction, side, hour] = tokens else { return None };
    let minutes = match word(fraction)?.as_str() {
        "half" => 30,
        "quarter" => 15,
        _ => return None,
    };
    let hour: u32 = if let Tok::Num(num) = &hour.tok {
        num.digits.as_ref()?.parse().ok()?
    } else {
        let (value, rest) = super::numerals::leading(&word(hour)?)?;
        match value {
            Expr::Number(value) if rest.is_empty() => u32::try_from(value.floor()).ok()?,
            _ => return None,
        }
    };
    let minutes = match &side.tok {
        Tok::Word(past) | Tok::Text(past) if past == "past" => hour * 60 + minutes,
        // `to` is the sign of a ratio.
        Tok::Op(':') if minutes == 15 => (hour * 60 + 720 - 15 - 60) % 720 + 60,
        _ => return None,
    };
    (1..=12).contains(&hour).then(|| Answer::Ratio(Vec::new(), Some(Clock { minutes, has_meridiem: false })))
}

fn named(name: &str, value: Answer) -> Answer {
    let sides = vec![Answer::Text(SmolStr::new(name)), value];
    Answer::Relation(Relation { sides, signs: vec![RelationOp::Equal] })
}

/// `5 remainder 2`, `5 R 2`.
fn remainder(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    let number = |token: &Token| matches!(token.tok, Tok::Num(_));
    let found = match tokens {
        [quotient, sign, remainder] if number(quotient) && number(remainder) => {
            let letter = matches!(sign.tok, Tok::Letter('R' | 'r')) || is_word(sign, &["r", "remainder"]);
            letter.then_some((&tokens[..1], &tokens[2..]))
        }
        _ => split::find(tokens, |t| is_word(t, &["remainder"]))
            .filter(|&at| at > 0 && at + 1 < tokens.len())
            .map(|at| (&tokens[..at], &tokens[at + 1..])),
    };
    let Some((quotient, remainder)) = found else { return Ok(None) };
    // `quotient 5, remainder 2` names both.
    if quotient.iter().chain(remainder).any(|token| word(token).is_some() || token.is_op(',')) {
        return Ok(None);
    }
    let read = |tokens| answer(tokens, context, level + 1);
    Ok(Some(Answer::All(vec![named("quotient", read(quotient)?), named("remainder", read(remainder)?)])))
}

/// `maximum 5, minimum 1`: values with the names of quantities, all of them different.
fn named_values(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    let parts = split::at(tokens, |t| t.is_op(',') || t.is_op(';') || t.is_cmd("and"));
    let parts: Vec<&[Token]> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.len() < 2 || parts.len() > 6 {
        return Ok(None);
    }
    let Some(found) = parts.iter().map(|part| named_value(part)).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    if (1..found.len()).any(|at| found[..at].iter().any(|(name, _)| *name == found[at].0)) {
        return Ok(None);
    }
    let rows = found.into_iter().map(|(name, value)| Ok(named(&name, answer(value, context, level + 1)?)));
    rows.collect::<Read<Vec<_>>>().map(|rows| Some(Answer::All(rows)))
}

/// The name of a quantity and the value behind it.
fn named_value(part: &[Token]) -> Option<(String, &[Token])> {
    let (mut name, mut at) = match part {
        [Token { tok: Tok::Letter(axis @ ('x' | 'y')), .. }, dash, intercept, ..]
            if dash.is_op('-') && is_word(intercept, &["intercept"]) =>
        {
            (format!("{axis}-intercept"), 3)
        }
        [max, ..] if max.is_cmd("max") => ("maximum".to_owned(), 1),
        [min, ..] if min.is_cmd("min") => ("minimum".to_owned(), 1),
        _ => (String::new(), 0),
    };
    while let Some(word) = part.get(at).and_then(word) {
        at += 1;
        if matches!(word.as_str(), "is" | "of" | "the" | "at" | "value") {
            continue;
        }
        name.push_str(if name.is_empty() { "" } else { " " });
        name.push_str(&word);
    }
    let value = match &part[at..] {
        [sign, rest @ ..] if sign.is_op(':') || sign.is_op('=') => rest,
        rest => rest,
    };
    let known = name.ends_with("-intercept") || name.split(' ').all(vocabulary::is_quantity);
    (known && !name.is_empty() && !value.is_empty()).then_some((name, value))
}

/// `(1, 1, 2) and its permutations`: all of them.
fn permutations(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    let Some(at) = tokens.iter().rposition(|t| t.is_cmd("and")) else { return Ok(None) };
    let said: Vec<String> = tokens[at + 1..].iter().filter_map(word).collect();
    let mut said: Vec<&str> = said.iter().flat_map(|words| words.split(' ')).collect();
    said.retain(|word| !matches!(*word, "all" | "its" | "the" | "their" | "other" | "of" | "it" | "them"));
    if tokens.len() - at - 1 > 4 || !matches!(said.as_slice(), ["permutations"] | ["permutations", "thereof"])
    {
        return Ok(None);
    }
    let tuples = match answer(&tokens[..at], context, level + 1)? {
        Answer::Tuple(parts) if parts.iter().all(|part| matches!(part, Answer::Tuple(_))) => parts,
        tuple @ Answer::Tuple(_) => vec![tuple],
        Answer::Bare(parts) if parts.iter().all(|part| matches!(part, Answer::Tuple(_))) => parts,
        _ => return Ok(None),
    };
    let mut all: Vec<Answer> = Vec::new();
    for tuple in tuples {
        let Answer::Tuple(parts) = tuple else { return Ok(None) };
        if parts.len() > MAX_PERMUTED {
            return Ok(None);
        }
        permute(&parts, &mut Vec::new(), &mut vec![false; parts.len()], &mut all);
    }
    Ok(Some(Answer::Set(all)))
}

fn permute(parts: &[Answer], chosen: &mut Vec<Answer>, used: &mut Vec<bool>, all: &mut Vec<Answer>) {
    if chosen.len() == parts.len() {
        let tuple = Answer::Tuple(chosen.clone());
        if !all.contains(&tuple) {
            all.push(tuple);
        }
        return;
    }
    for at in 0..parts.len() {
        if !used[at] {
            used[at] = true;
            chosen.push(parts[at].clone());
            permute(parts, chosen, used, all);
            chosen.pop();
            used[at] = false;
        }
    }
}

/// `The possible values are 1 and 3`, `The probability is 3/5`: a sentence that gives a value, under the name of its
/// quantity if it has one.
fn sentence(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    let words = frame::words(tokens);
    let tokens = words.as_deref().unwrap_or(tokens);
    // `max = 5`
    if let [sign, equal, value @ ..] = tokens
        && equal.is_op('=')
        && !value.is_empty()
        && let Some((name, _)) = named_value(&[sign.clone(), sign.clone()])
    {
        return Ok(Some(named(&name, answer(value, context, level + 1)?)));
    }
    let Some((subject, rest)) = frame::subject(tokens) else { return Ok(None) };
    let quantity = !subject.is_empty() && subject.split(' ').all(vocabulary::is_quantity);
    let value = match answer(rest, context, level + 1) {
        Err(ReadError::Syntax) => return Ok(None),
        value => value?,
    };
    Ok(match value {
        Answer::Value(_) | Answer::Percent(_) | Answer::Quantity(..) if quantity => {
            Some(named(&subject, value))
        }
        Answer::Bare(parts)
            if parts.iter().any(|part| matches!(part, Answer::Text(_) | Answer::Opaque(_))) =>
        {
            None
        }
        Answer::Text(_) => None,
        value => Some(value),
    })
}

/// `all x in [0, 2]`, `x is between 1 and 3, inclusive`.
fn bounds(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    let read = |tokens| answer(tokens, context, level + 1);
    match tokens {
        [all, letter @ Token { tok: Tok::Letter(_), .. }, within, set @ ..]
            if is_word(all, &["all"]) && is_word(within, &["in"]) && !set.is_empty() =>
        {
            let sides = vec![read(std::slice::from_ref(letter))?, read(set)?];
            Ok(Some(Answer::Relation(Relation { sides, signs: vec![RelationOp::In] })))
        }
        [letter @ Token { tok: Tok::Letter(_), .. }, is, between, rest @ .., inclusive]
            if is_word(is, &["is"])
                && is_word(between, &["between"])
                && is_word(inclusive, &["inclusive", "(inclusive)"]) =>
        {
            let rest = super::delimiters::strip_punctuation(rest);
            let Some(at) = split::find(rest, |t| t.is_cmd("and")) else { return Ok(None) };
            let sides = vec![read(&rest[..at])?, read(std::slice::from_ref(letter))?, read(&rest[at + 1..])?];
            let signs = vec![RelationOp::LessEqual, RelationOp::LessEqual];
            Ok(Some(Answer::Relation(Relation { sides, signs })))
        }
        _ => Ok(None),
    }
}
