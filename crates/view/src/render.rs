//! Texts for the page: split into text and mathematics, and limited in length.

use aske_report::Piece;
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::Cell;

/// Maximum bytes of one text.
const MAX_TEXT: usize = 256 << 10;
/// Bytes of a piece in JSON besides its text, source and MathML.
const PIECE_OVERHEAD: usize = 64;

/// A text, or its beginning.
#[derive(Debug, Serialize)]
pub(crate) struct RenderedText {
    text: Value,
    /// Bytes that are left out at the end.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The bytes that one response may still use for texts.
#[derive(Debug)]
pub(crate) struct TextBudget(Cell<usize>);

impl TextBudget {
    /// Maximum bytes of all texts of one response, MathML included.
    pub(crate) const TOTAL: usize = 6 << 20;

    /// The budget of a new response.
    pub(crate) fn new() -> Self {
        Self(Cell::new(Self::TOTAL))
    }

    /// Takes this many bytes, if they are left.
    fn take(&self, bytes: usize) -> bool {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or(self.0.get()));
        left.is_some()
    }

    /// A text of any length without its mathematics: only the beginning of a long one.
    pub(crate) fn plain(&self, text: &str) -> RenderedText {
        let kept = &text[..text.floor_char_boundary(MAX_TEXT.min(self.0.get()))];
        self.take(kept.len());
        RenderedText { text: Value::String(kept.to_owned()), left_out: text.len() - kept.len() }
    }

    /// Renders a text of any length: only the beginning of a long one, and without MathML if that does not fit.
    pub(crate) fn render(&self, text: &str) -> RenderedText {
        let kept = &text[..text.floor_char_boundary(MAX_TEXT.min(self.0.get()))];
        let pieces = aske_report::pieces(kept);
        let size = pieces.iter().map(length).sum();
        let left_out = text.len() - kept.len();
        let text = if has_math(&pieces) && self.take(size) {
            json!(pieces)
        } else {
            self.take(kept.len());
            Value::String(kept.to_owned())
        };
        RenderedText { text, left_out }
    }
}

fn length(piece: &Piece) -> usize {
    match piece {
        Piece::Text { text } => PIECE_OVERHEAD + text.len(),
        Piece::Math { tex, mathml, .. } => PIECE_OVERHEAD + tex.len() + mathml.len(),
    }
}

/// A text as the page expects it: a string, or a list of pieces of text and mathematics.
fn rendered(text: &str) -> Value {
    let pieces = aske_report::pieces(text);
    if has_math(&pieces) { json!(pieces) } else { Value::String(text.to_owned()) }
}

fn has_math(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Math { .. }))
}

/// The first characters of a text as plain text.
pub(crate) fn excerpt_plain(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The first characters of a text, with an ellipsis if it is longer.
pub(crate) fn excerpt(text: &str, characters: usize) -> Value {
    rendered(&excerpt_plain(text, characters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_character_and_says_so() {
        let text = "é".repeat(MAX_TEXT);
        let long = TextBudget::new().render(&text);
        assert_eq!(long.left_out, MAX_TEXT);
        assert_eq!(excerpt("äöü", 2), "äö…");
        assert_eq!(excerpt("äöü", 3), "äöü");
    }

    #[test]
    fn a_page_of_long_texts_is_bounded() {
        let budget = TextBudget::new();
        let formulas = "$x^2$ ".repeat(MAX_TEXT);
        let texts: Vec<RenderedText> = (0..60).map(|_| budget.render(&formulas)).collect();
        let sent = serde_json::to_string(&texts).unwrap().len();
        assert!(sent < 2 * TextBudget::TOTAL, "{sent}");
        assert!(texts[0].left_out < texts[59].left_out && texts[59].left_out == formulas.len());
        let short = TextBudget::new().render("let $x = 1$");
        assert!(short.text.is_array() && short.left_out == 0, "{short:?}");
    }
}
