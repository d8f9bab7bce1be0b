//! Phrases around an answer: words that introduce it, bounds in words, glosses and labels in brackets.

use super::kinds::{answer, sign};
use super::parser::{Context, Read};
use super::token::{Tok, Token};
use super::{domain, logic, numerals, split};
use crate::answer::{Answer, Numbers, Relation, RelationOp};
use crate::vocabulary;
use aske_algebra::expr::{Expr, Symbol};

/// What stands behind the words that do not change an answer.
pub(crate) fn without_hedge(tokens: &[Token], level: u32) -> Option<&[Token]> {
    let mut text = String::new();
    let mut found = None;
    for (at, token) in tokens.iter().enumerate().take(5) {
        let word = match &token.tok {
            Tok::Text(word) | Tok::Word(word) => word.to_lowercase(),
            Tok::Cmd(name) if name == "and" => name.to_string(),
            Tok::Letter('a' | 'A') => "a".to_owned(),
            _ => break,
        };
        text.extend(word.trim_end_matches([':', '.', ',']).chars().filter(|c| *c != ' '));
        if vocabulary::is_hedge(&text) || level == 0 && vocabulary::is_lead_in(&text) {
            found = Some(at + 1);
        }
    }
    let rest = &tokens[found?..];
    let rest = match rest {
        [colon, rest @ ..] if colon.is_op(':') => rest,
        _ => rest,
    };
    // `only if` is a condition.
    let condition = matches!(rest.first().map(|t| &t.tok), Some(Tok::Word(word)) if word == "if");
    (!rest.is_empty() && !condition).then_some(rest)
}

/// The most words of a trailer.
const TRAILER_WORDS: usize = 4;

/// Answers in special wording: sets in words, parity, transposes, a minus sign in words, marks behind an answer.
pub(crate) fn special(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    let worded =
        |token: &Token| matches!(token.tok, Tok::Word(_) | Tok::Text(_)) || token.is_cmd("checkmark");
    if !tokens.iter().any(worded) {
        let found = domain::subset(tokens).or_else(|| logic::read(tokens));
        if found.is_some() {
            return Ok(found);
        }
        return match transposed(tokens, context, level)? {
            None => mapping(tokens, context, level),
            found => Ok(found),
        };
    }
    let found = domain::parity(tokens).or_else(|| domain::subset(tokens)).or_else(|| logic::read(tokens));
    if let Some(found) = found.or_else(|| ordinal(tokens).filter(|_| level == 0)) {
        return Ok(Some(found));
    }
    if let Some(found) = domain::in_words(tokens, context, level)? {
        return Ok(Some(found));
    }
    if let Some(found) = transposed(tokens, context, level)? {
        return Ok(Some(found));
    }
    if let Some(found) = mapping(tokens, context, level)? {
        return Ok(Some(found));
    }
    if let Some(tokens) = with_base(tokens) {
        return answer(&tokens, context, level + 1).map(Some);
    }
    if let Some(list) = in_order(tokens)
        && let Answer::Bare(parts) | Answer::Tuple(parts) = answer(list, context, level + 1)?
    {
        return Ok(Some(Answer::Tuple(parts)));
    }
    let with = |op: char, at: usize| {
        let mut tokens = tokens.to_vec();
        tokens[at].tok = Tok::Op(op);
        answer(&tokens, context, level + 1).map(Some)
    };
    match tokens {
        // `minus 7`
        [Token { tok: Tok::Word(word) | Tok::Text(word), .. }, Token { tok: Tok::Num(_), .. }, ..]
            if word.eq_ignore_ascii_case("minus") || word.eq_ignore_ascii_case("negative") =>
        {
            with('-', 0)
        }
        // `x is 5`
        [
            Token { tok: Tok::Letter(_), .. },
            Token { tok: Tok::Word(word) | Tok::Text(word), .. },
            value,
            ..,
        ] if matches!(word.as_str(), "is" | "equals")
            && !matches!(value.tok, Tok::Word(_) | Tok::Text(_) | Tok::Op('=')) =>
        {
            with('=', 1)
        }
        // `x is at most 5`
        [
            name @ Token { tok: Tok::Letter(_), .. },
            Token { tok: Tok::Word(word) | Tok::Text(word), .. },
            rest @ ..,
        ] if word == "is" => {
            let Some(Answer::Relation(mut bound)) = bound(rest, context, level)? else { return Ok(None) };
            bound.sides[0] = answer(std::slice::from_ref(name), context, level + 1)?;
            Ok(Some(Answer::Relation(bound)))
        }
        // `5 or more`
        [value, or, Token { tok: Tok::Word(word) | Tok::Text(word), .. }]
            if or.is_cmd("or") && matches!(word.as_str(), "more" | "less" | "fewer") =>
        {
            let op = if word == "more" { RelationOp::GreaterEqual } else { RelationOp::LessEqual };
            let value = answer(std::slice::from_ref(value), context, level + 1)?;
            let unnamed = Answer::Value(Expr::symbol(crate::answer::UNNAMED));
            Ok(Some(Answer::Relation(Relation { sides: vec![unnamed, value], signs: vec![op] })))
        }
        [front @ .., last] if !front.is_empty() && last.is_cmd("checkmark") => {
            answer(front, context, level + 1).map(Some)
        }
        _ => match without_trailer(tokens) {
            Some(front) => answer(front, context, level + 1).map(Some),
            None => Ok(None),
        },
    }
}

/// Words that say that the order of a list counts, behind it and before it.
const IN_ORDER: &[&str] = &[
    "respectively",
    "in order",
    "in that order",
    "in this order",
    "in the given order",
    "from left to right",
];
const SEQUENCES: &[&str] =
    &["the sequence", "the sequence is", "sequence", "order", "the order", "the order is", "in order"];
/// The most words of these.
const ORDER_WORDS: usize = 4;

/// The list in `2 and 3, respectively`, `1, 3, 2 (in this order)`, `the sequence 1, 3, 2`.
fn in_order(tokens: &[Token]) -> Option<&[Token]> {
    let matching = |tokens: &[Token], known: &[&str]| {
        !tokens.is_empty()
            && tokens.len() <= ORDER_WORDS
            && words(tokens).is_some_and(|words| known.contains(&words.trim_end_matches(['.', ':'])))
    };
    let bare = match tokens {
        [front @ .., close] if close.is_op(')') => front,
        _ => tokens,
    };
    let first = bare.len().saturating_sub(ORDER_WORDS).max(1);
    if let Some(at) = (first..bare.len()).find(|&at| matching(&bare[at..], IN_ORDER)) {
        let mut front = &bare[..at];
        // The bracket around the words, if they are in one, and the comma before them.
        if bare.len() < tokens.len() {
            let [rest @ .., open] = front else { return None };
            front = open.is_op('(').then_some(rest)?;
        }
        while let [rest @ .., last] = front
            && (last.is_op(',') || last.is_op(';'))
        {
            front = rest;
        }
        return (!front.is_empty()).then_some(front);
    }
    let at = (1..=ORDER_WORDS.min(tokens.len())).rev().find(|&at| matching(&tokens[..at], SEQUENCES))?;
    let rest = match &tokens[at..] {
        [colon, rest @ ..] if colon.is_op(':') => rest,
        rest => rest,
    };
    (!rest.is_empty()).then_some(rest)
}

/// The words in lower case, if all of the tokens are words.
fn words(tokens: &[Token]) -> Option<String> {
    let words = tokens.iter().map(|token| match &token.tok {
        Tok::Word(word) | Tok::Text(word) => Some(word.to_lowercase()),
        _ => None,
    });
    words.collect::<Option<Vec<_>>>().map(|words| words.join(" "))
}

/// `3rd`, `5^{\text{th}}`, `third`: a place in an order.
fn ordinal(tokens: &[Token]) -> Option<Answer> {
    let tokens = match tokens {
        [Token { tok: Tok::Word(the) | Tok::Text(the), .. }, rest @ ..] if the == "the" => rest,
        _ => tokens,
    };
    let is_suffix = |token: &Token| matches!(&token.tok, Tok::Word(word) | Tok::Text(word) if matches!(word.as_str(), "st" | "nd" | "rd" | "th"));
    let number = match tokens {
        [Token { tok: Tok::Num(num), .. }, suffix] if is_suffix(suffix) && !suffix.spaced => {
            num.digits.clone()?
        }
        [Token { tok: Tok::Num(num), .. }, caret, suffix] if caret.is_op('^') && is_suffix(suffix) => {
            num.digits.clone()?
        }
        [Token { tok: Tok::Num(num), .. }, caret, open, suffix, close]
            if caret.is_op('^') && open.is_op('{') && is_suffix(suffix) && close.is_op('}') =>
        {
            num.digits.clone()?
        }
        [Token { tok: Tok::Word(word) | Tok::Text(word), .. }] => {
            let digits = word.trim_end_matches(char::is_alphabetic);
            let written = matches!(&word[digits.len()..], "st" | "nd" | "rd" | "th") && !digits.is_empty();
            if written { digits.into() } else { numerals::ordinal(&word.to_lowercase())?.to_string().into() }
        }
        _ => return None,
    };
    Some(Answer::Text(format!("place {number}").into()))
}

/// `31 in base 8`, `31 (base 8)`: the number with its base as a subscript.
fn with_base(tokens: &[Token]) -> Option<Vec<Token>> {
    let words: Vec<&Token> = tokens.iter().filter(|t| !t.is_op('(') && !t.is_op(')')).collect();
    let is_word = |token: &Token, expected: &[&str]| matches!(&token.tok, Tok::Word(word) | Tok::Text(word) if expected.contains(&word.as_str()));
    let (number, base) = match words.as_slice() {
        [number, word, base] if is_word(word, &["base", "in base"]) => (*number, *base),
        [number, preposition, word, base] if is_word(preposition, &["in"]) && is_word(word, &["base"]) => {
            (*number, *base)
        }
        _ => return None,
    };
    let op = |op: char| Token { tok: Tok::Op(op), spaced: false };
    matches!((&number.tok, &base.tok), (Tok::Num(_), Tok::Num(_)))
        .then(|| vec![number.clone(), op('_'), op('{'), base.clone(), op('}')])
}

/// `x \mapsto x^2`, `f: x \mapsto x^2`: the definition of a function.
fn mapping(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    let Some(at) = split::find(tokens, |t| t.is_cmd("mapsto")) else { return Ok(None) };
    let (name, arguments) = match &tokens[..at] {
        [Token { tok: Tok::Letter(name), .. }, colon, rest @ ..] if colon.is_op(':') => (*name, rest),
        rest => ('f', rest),
    };
    let variable = |token: &Token| match token.tok {
        Tok::Letter(letter) => Some(Expr::symbol(letter.encode_utf8(&mut [0; 4]))),
        _ => None,
    };
    let arguments = match arguments {
        [open, inside @ .., close] if open.is_op('(') && close.is_op(')') => {
            inside.iter().filter(|t| !t.is_op(',')).map(variable).collect()
        }
        [one] => variable(one).map(|one| vec![one]),
        _ => None,
    };
    let Some(arguments) = arguments else { return Ok(None) };
    let defined = Expr::Apply(Symbol::new(name.encode_utf8(&mut [0; 4])), arguments);
    let sides = vec![Answer::Value(defined), answer(&tokens[at + 1..], context, level + 1)?];
    Ok(Some(Answer::Relation(Relation { sides, signs: vec![RelationOp::Equal] })))
}

/// What stands before words that do not change an answer.
fn without_trailer(tokens: &[Token]) -> Option<&[Token]> {
    let is_trailer = |tokens: &[Token]| {
        tokens.len() <= TRAILER_WORDS
            && words(tokens).is_some_and(|words| {
                vocabulary::is_trailer(&words.trim_matches(['(', '.', ')']).replace(' ', ""))
            })
    };
    if let [.., close] = tokens
        && close.is_op(')')
        && let Some(open) = tokens.iter().rposition(|t| t.is_op('(')).filter(|&open| open > 0)
    {
        return is_trailer(&tokens[open + 1..tokens.len() - 1]).then_some(&tokens[..open]);
    }
    let first = tokens.len().saturating_sub(TRAILER_WORDS).max(1);
    (first..tokens.len()).find(|&at| is_trailer(&tokens[at..])).map(|at| &tokens[..at])
}

/// `(1,2,3)^T`, `\begin{pmatrix}1&2\end{pmatrix}^{\top}`.
fn transposed(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    let is_mark = |token: &Token| token.tok == Tok::Letter('T');
    let front = match tokens {
        [front @ .., caret, mark] if caret.is_op('^') && is_mark(mark) => front,
        [front @ .., caret, open, mark, close]
            if caret.is_op('^') && open.is_op('{') && is_mark(mark) && close.is_op('}') =>
        {
            front
        }
        _ => return Ok(None),
    };
    let whole = matches!(front.first(), Some(first) if first.nesting() > 0)
        && (split::closing(front, 0) == Some(front.len() - 1) || front[front.len() - 2].is_cmd("end"));
    if !whole {
        return Ok(None);
    }
    Ok(match answer(front, context, level + 1)? {
        Answer::Tuple(entries) | Answer::List(entries) => {
            Some(Answer::Matrix(entries.into_iter().map(|entry| vec![entry]).collect()))
        }
        Answer::Matrix(rows) => Some(Answer::Matrix(
            (0..rows[0].len()).map(|column| rows.iter().map(|row| row[column].clone()).collect()).collect(),
        )),
        _ => None,
    })
}

/// `n\pi\ (n\in\mathbb{Z})`: what stands before the bracket, and the condition in it.
pub(crate) fn bracketed_condition(tokens: &[Token]) -> Option<(&[Token], (Symbol, Numbers))> {
    let open = tokens.iter().rposition(|t| t.is_op('(')).filter(|&open| open > 0)?;
    if split::closing(tokens, open) != Some(tokens.len() - 1) {
        return None;
    }
    Some((&tokens[..open], domain::condition(&tokens[open + 1..tokens.len() - 1])?))
}

/// `(a) 5 (b) 6`: several answers with their labels.
pub(crate) fn is_labelled(tokens: &[Token]) -> bool {
    let label = |at: usize| {
        matches!(&tokens[at..], [open, Token { tok: Tok::Letter(_) | Tok::Num(_) | Tok::Word(_), .. }, close, next, ..]
            if open.is_op('(') && close.is_op(')') && !next.is_op('(') && next.spaced)
    };
    tokens.len() > 6 && label(0) && (3..tokens.len()).any(|at| tokens[at].spaced && label(at))
}

/// `\frac12 (0.5)`: a number and, after white space, the same number in brackets.
pub(crate) fn gloss(tokens: &[Token], context: Context<'_>, level: u32) -> Option<Answer> {
    let open = tokens.iter().rposition(|t| t.is_op('(')).filter(|&open| open > 0 && tokens[open].spaced)?;
    if split::closing(tokens, open) != Some(tokens.len() - 1) {
        return None;
    }
    let (front, inside) = (&tokens[..open], &tokens[open + 1..tokens.len() - 1]);
    let ends = front
        .last()
        .is_some_and(|t| matches!(t.tok, Tok::Num(_) | Tok::Op('}' | ')' | '%')) || t.is_cmd("pi"));
    if !ends || inside.is_empty() {
        return None;
    }
    let number = |tokens: &[Token]| match answer(tokens, context, level + 1) {
        Ok(answer @ (Answer::Value(_) | Answer::Percent(_))) => Some(answer),
        _ => None,
    };
    let closed = |answer: &Answer| match answer {
        Answer::Value(value) | Answer::Percent(value) => aske_algebra::exact::free_symbols(value).is_empty(),
        _ => false,
    };
    match (number(front), number(inside)) {
        (Some(front), Some(inside)) if closed(&front) && closed(&inside) => {
            Some(Answer::Gloss(Box::new(front), Box::new(inside)))
        }
        _ => None,
    }
}

/// `at least 6`, `\le 5`: an inequality that does not name what it speaks of.
pub(crate) fn bound(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    const PHRASES: &[(&str, RelationOp)] = &[
        ("at least", RelationOp::GreaterEqual),
        ("no less than", RelationOp::GreaterEqual),
        ("not less than", RelationOp::GreaterEqual),
        ("at most", RelationOp::LessEqual),
        ("no more than", RelationOp::LessEqual),
        ("not more than", RelationOp::LessEqual),
        ("more than", RelationOp::Greater),
        ("greater than", RelationOp::Greater),
        ("less than", RelationOp::Less),
        ("fewer than", RelationOp::Less),
    ];
    let mut found = tokens.first().and_then(sign).filter(|sign| sign.is_order()).map(|sign| (sign, 1));
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate().take(3) {
        let (Tok::Text(word) | Tok::Word(word)) = &token.tok else { break };
        text.push_str(if text.is_empty() { "" } else { " " });
        text.push_str(&word.to_lowercase());
        if let Some((_, sign)) = PHRASES.iter().find(|(phrase, _)| *phrase == text) {
            found = Some((*sign, at + 1));
        }
    }
    let Some((sign, taken)) = found.filter(|(_, taken)| *taken < tokens.len()) else { return Ok(None) };
    let value = answer(&tokens[taken..], context, level + 1)?;
    let unnamed = Answer::Value(Expr::symbol(crate::answer::UNNAMED));
    Ok(matches!(value, Answer::Value(_))
        .then(|| Answer::Relation(Relation { sides: vec![unnamed, value], signs: vec![sign] })))
}
