//! Longest-match lexer; text that matches no token ends the input.

use super::table;
use super::token::{Tok, Token};
use aske_algebra::relation::RelationOp;

/// Signs of more than one character, and what is a token only after `^`, without white space between.
const SIGNS: &[(&str, Tok)] = &[
    (r"^{\circle}", Tok::Degree),
    (r"^{\degree}", Tok::Degree),
    (r"^{\circ}", Tok::Degree),
    (r"^{°}", Tok::Degree),
    (r"^\circle", Tok::Degree),
    (r"^\degree", Tok::Degree),
    (r"^\circ", Tok::Degree),
    (r"^°", Tok::Degree),
    (r"^{\\top}", Tok::Transpose),
    (r"^{T}", Tok::Transpose),
    (r"^T", Tok::Transpose),
    ("<->", Tok::Other),
    ("<=>", Tok::Other),
    ("!==", Tok::Relation(RelationOp::NotEqual)),
    ("!=", Tok::Relation(RelationOp::NotEqual)),
    ("==", Tok::Relation(RelationOp::Equal)),
    ("~=", Tok::Near),
    ("<=", Tok::Relation(RelationOp::LessEqual)),
    (">=", Tok::Relation(RelationOp::GreaterEqual)),
];

/// All tokens, or `None` where some part of the text is not a token.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut out = Vec::with_capacity(text.len() / 2 + 2);
    let mut at = 0;
    while at < text.len() {
        let (length, tok) = next(&text[at..])?;
        if tok != Tok::Skip {
            out.push(token(tok, at, at + length));
        }
        at += length;
    }
    out.push(token(Tok::End, at, at));
    Some(out)
}

fn token(tok: Tok, start: usize, end: usize) -> Token {
    let short = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    Token { tok, start: short(start), end: short(end) }
}

fn next(rest: &str) -> Option<(usize, Tok)> {
    let first = rest.chars().next()?;
    match first {
        '\\' => command(&rest[1..]),
        '0'..='9' | '.' => Some(number(rest)),
        '^' | '<' | '>' | '!' | '=' | '~' => SIGNS
            .iter()
            .find(|(text, _)| rest.starts_with(text))
            .map(|(text, tok)| (text.len(), *tok))
            .or_else(|| Some((1, table::sign(first)?))),
        'a'..='z' | 'A'..='Z' => {
            let word = table::word(rest).unwrap_or(0);
            let differential = if first == 'd' { differential(rest).unwrap_or(0) } else { 0 };
            match (word, differential) {
                (word, differential) if word > 1 && word >= differential => Some((word, Tok::Word)),
                (_, differential) if differential > 1 => Some((differential, Tok::Differential)),
                _ => Some((1, table::sign(first)?)),
            }
        }
        // A Greek letter takes one space with it.
        other => {
            let tok = table::sign(other)?;
            let length = other.len_utf8();
            Some((length + usize::from(tok == Tok::Named && rest[length..].starts_with(' ')), tok))
        }
    }
}

fn command(rest: &str) -> Option<(usize, Tok)> {
    let known = table::command(rest);
    let known_length = known.map_or(0, |(length, _)| length);
    if let Some(length) = table::accent(rest)
        && length > known_length
    {
        return Some((length + 1, Tok::Accent));
    }
    if let Some(columns) = rest.strip_prefix("begin{array}{") {
        let letters = columns.bytes().take_while(|c| matches!(c, b'c' | b'l' | b'r')).count();
        return columns[letters..].starts_with('}').then_some((1 + 13 + letters + 1, Tok::ArrayStart));
    }
    known.map(|(length, tok)| (length + 1, tok))
}

/// `dx`, `d x`, `d\theta`.
fn differential(rest: &str) -> Option<usize> {
    let inside = rest[1..].trim_start_matches([' ', '\t', '\r', '\n']);
    let before = rest.len() - inside.len();
    match inside.bytes().next()? {
        c if c.is_ascii_alphabetic() => Some(before + 1),
        b'\\' => {
            let letters = inside[1..].bytes().take_while(u8::is_ascii_alphabetic).count();
            (letters > 0).then_some(before + 1 + letters)
        }
        _ => None,
    }
}

fn number(rest: &str) -> (usize, Tok) {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if length == 0 {
        return (1, Tok::Other);
    }
    let after = &rest[length..];
    let sign = after.chars().next().filter(char::is_ascii_whitespace).map_or(0, char::len_utf8);
    for percent in [r"\%", "%"] {
        if after[sign..].starts_with(percent) {
            return (length + sign + percent.len(), Tok::Percent);
        }
    }
    if let Some(exponent) = after.strip_prefix('E') {
        let signed = exponent.chars().next().filter(|c| matches!(table::sign(*c), Some(Tok::Add | Tok::Sub)));
        let skip = length + 1 + signed.map_or(0, char::len_utf8);
        if digits(skip) > 0 {
            return (skip + digits(skip), Tok::Scientific);
        }
    }
    (length, Tok::Number)
}
