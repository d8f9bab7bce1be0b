//! Splitting tokens at the top level, outside every bracket.

use super::token::{Tok, Token};
use smol_str::{SmolStr, SmolStrBuilder};
use std::fmt::Write;

/// Where the bracket that opens at `open` closes. Brackets count by nesting, whatever their shape, so that
/// a half-open interval closes too.
pub(crate) fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        depth += token.nesting();
        if depth == 0 {
            return Some(at);
        }
        if depth < 0 {
            return None;
        }
    }
    None
}

/// The first token outside every bracket that passes.
pub(crate) fn find(tokens: &[Token], pass: impl Fn(&Token) -> bool) -> Option<usize> {
    // Mostly there is none at all, which is quicker to see than how deep each token stands.
    if !tokens.iter().any(&pass) {
        return None;
    }
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        depth += token.nesting();
        if depth == 0 && pass(token) {
            return Some(at);
        }
    }
    None
}

/// The first token that passes and opens a bracket, where no bracket is open.
pub(crate) fn find_opening(tokens: &[Token], pass: impl Fn(&Token) -> bool) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        if depth == 0 && pass(token) {
            return Some(at);
        }
        depth += token.nesting();
    }
    None
}

/// The parts between the tokens outside every bracket that pass.
pub(crate) fn at(tokens: &[Token], pass: impl Fn(&Token) -> bool) -> Vec<&[Token]> {
    let mut depth = 0;
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        depth += token.nesting();
        if depth == 0 && pass(token) {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts
}

/// The tokens written out again, run together: a name for what is not read further.
pub(crate) fn spell(tokens: &[Token]) -> SmolStr {
    let mut out = SmolStrBuilder::new();
    for token in tokens {
        // Writing into memory does not fail.
        let _ = match &token.tok {
            Tok::Num(num) => match &num.digits {
                Some(digits) => write!(out, "{digits}"),
                None => write!(out, "{}", num.value),
            },
            Tok::Letter(c) | Tok::Op(c) => write!(out, "{c}"),
            Tok::Word(word) | Tok::Text(word) => write!(out, "{word}"),
            Tok::Cmd(name) => write!(out, "\\{name}"),
            Tok::SetOpen => write!(out, "\\{{"),
            Tok::SetClose => write!(out, "\\}}"),
            Tok::Row => write!(out, "\\\\"),
            Tok::TooLong => write!(out, "?"),
        };
    }
    out.finish()
}
