//! Removal of delimiters, boxes, emphasis and closing punctuation around an answer.

use super::token::{Tok, Token};

/// Nested delimiters that are removed.
const MAX_LAYERS: usize = 8;

/// The answer without delimiters, boxes and emphasis around it.
pub(crate) fn strip_delimiters(text: &str) -> &str {
    let mut text = text.trim();
    for _ in 0..MAX_LAYERS {
        let before = text;
        for (open, close) in [
            ("**", "**"),
            ("$$", "$$"),
            ("\\[", "\\]"),
            ("\\(", "\\)"),
            ("`", "`"),
            ("$", "$"),
            ("*", "*"),
            ("'", "'"),
            ("<b>", "</b>"),
            ("<answer>", "</answer>"),
        ] {
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
        for lead in
            ["**Answer:**", "**Answer**:", "**Final answer:**", "**Final Answer:**", "####", "### ", "## "]
        {
            text = text.strip_prefix(lead).map_or(text, str::trim_start);
        }
        for end in ["\\blacksquare", "\\square", "\\qed", "∎", "■", "□"] {
            text = text.strip_suffix(end).map_or(text, str::trim_end);
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

/// The tokens without the closing punctuation.
pub(crate) fn strip_punctuation(mut tokens: &[Token]) -> &[Token] {
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
