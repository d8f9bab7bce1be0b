//! Opaque answers: notation that is not understood, equal only to itself.

use super::token::{Tok, Token};
use super::words;
use crate::answer::{Answer, Opaque};
use smol_str::SmolStr;

/// Some tokens of notation as an opaque answer.
pub(crate) fn read(tokens: &[Token]) -> Answer {
    let mut pieces = pieces(tokens);
    // `B \supset A` is `A \subset B`.
    if let [a, relation, b] = pieces.as_mut_slice()
        && let Some(end) = relation.strip_prefix("\\sup").filter(|end| end.starts_with("set"))
    {
        *relation = SmolStr::new(format!("\\sub{end}"));
        std::mem::swap(a, b);
    }
    let spelling = pieces.join(" ").into();
    pieces.sort_unstable();
    Answer::Opaque(Opaque { spelling, bag: pieces.join(" ").into() })
}

/// Some tokens of notation as they are spelled, whatever notation they were written in.
pub(crate) fn spelling(tokens: &[Token]) -> String {
    pieces(tokens).join(" ")
}

fn pieces(tokens: &[Token]) -> Vec<SmolStr> {
    // Braces around one token do nothing.
    let opens = |at: usize| matches!(tokens.get(at..at + 3), Some([open, _, close]) if open.is_op('{') && close.is_op('}'));
    let idle = |at: usize| opens(at) || at >= 2 && opens(at - 2);
    let words = tokens.iter().enumerate().filter(|(at, _)| !idle(*at));
    words.map(|(_, token)| piece(token)).filter(|piece| !piece.is_empty()).collect()
}

/// One token as it is spelled, whatever notation it was written in.
fn piece(token: &Token) -> SmolStr {
    match &token.tok {
        // `3 cm by 4 cm`
        Tok::Word(word) | Tok::Text(word) if word == "by" => SmolStr::new_static("*"),
        Tok::Word(word) | Tok::Text(word) => SmolStr::new(crate::text::words(word)),
        Tok::Letter(c) => words::folded(c.encode_utf8(&mut [0; 4])),
        Tok::Cmd(name) if name == "mid" => SmolStr::new_static("|"),
        _ => super::split::spell(std::slice::from_ref(token)),
    }
}
