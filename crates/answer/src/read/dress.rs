//! What only dresses an answer: delimiters, boxes, emphasis, the sentence's punctuation.

use super::token::{Tok, Token};

/// Layers of dress that are taken off.
const MAX_LAYERS: usize = 8;

/// The answer without the marks around it that carry no meaning.
pub(crate) fn undress(text: &str) -> &str {
    let mut text = text.trim();
    for _ in 0..MAX_LAYERS {
        let before = text;
        for (open, close) in
            [("**", "**"), ("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("`", "`"), ("$", "$")]
        {
            if text.len() > open.len() + close.len()
                && let Some(inside) = text.strip_prefix(open).and_then(|t| t.strip_suffix(close))
                && !inside.contains(open)
            {
                text = inside.trim();
            }
        }
        for open in ["\\boxed{", "\\fbox{", "\\text{\\boxed{"] {
            if let Some(inside) = text.strip_prefix(open).and_then(|t| t.strip_suffix('}'))
                && balanced(inside)
            {
                text = inside.trim();
            }
        }
        if text == before {
            break;
        }
    }
    text
}

fn balanced(text: &str) -> bool {
    let mut depth = 0_i32;
    for b in text.bytes() {
        depth += i32::from(b == b'{') - i32::from(b == b'}');
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// The words without the punctuation that ends the sentence they stand in.
pub(crate) fn trimmed(mut tokens: &[Token]) -> &[Token] {
    while let [rest @ .., last] = tokens
        && matches!(last.tok, Tok::Op('.' | ',' | ';' | '?') | Tok::Row)
    {
        tokens = rest;
    }
    while let [first, rest @ ..] = tokens
        && matches!(first.tok, Tok::Op(',' | ';' | ':') | Tok::Row)
    {
        tokens = rest;
    }
    tokens
}
