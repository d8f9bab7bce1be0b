//! Texts on their way to the page.

use aske_report::Piece;
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::Cell;

/// Bytes of one text that are sent at most.
const MOST: usize = 256 << 10;
/// Bytes of one formula beside its source and its mathematics.
const FRAME: usize = 64;

/// A text, whole or bounded.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    text: Value,
    /// Bytes that were left out at the end.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What is left of a page's length.
#[derive(Debug)]
pub(crate) struct Room(Cell<usize>);

impl Room {
    /// Bytes of all texts of one page together, mathematics included.
    pub(crate) const PAGE: usize = 6 << 20;

    /// The room of a new page.
    pub(crate) fn new() -> Self {
        Self(Cell::new(Self::PAGE))
    }

    /// Takes so much, if there is as much.
    fn take(&self, bytes: usize) -> bool {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or(self.0.get()));
        left.is_some()
    }

    /// A text of any length: its beginning where it is long, and without its mathematics where they are.
    pub(crate) fn whole(&self, text: &str) -> Shown {
        let kept = &text[..text.floor_char_boundary(MOST.min(self.0.get()))];
        let pieces = aske_report::pieces(kept);
        let size = pieces.iter().map(length).sum();
        let text_of = match pieces.as_slice() {
            [] | [Piece::Text { .. }] => None,
            pieces => self.take(size).then(|| json!(pieces)),
        };
        let left_out = text.len() - kept.len();
        let text = text_of.unwrap_or_else(|| {
            self.take(kept.len());
            Value::String(kept.to_owned())
        });
        Shown { text, left_out }
    }
}

fn length(piece: &Piece) -> usize {
    match piece {
        Piece::Text { text } => FRAME + text.len(),
        Piece::Math { tex, mathml, .. } => FRAME + tex.len() + mathml.len(),
    }
}

/// A text as the page takes it: a string, or a list of pieces of text and mathematics.
fn shown(text: &str) -> Value {
    match aske_report::pieces(text).as_slice() {
        [] | [Piece::Text { .. }] => Value::String(text.to_owned()),
        pieces => json!(pieces),
    }
}

/// The beginning of a text: so many characters, and an ellipsis where there are more.
pub(crate) fn beginning(text: &str, characters: usize) -> Value {
    match text.char_indices().nth(characters) {
        None => shown(text),
        Some((end, _)) => shown(&format!("{}…", &text[..end])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_character_and_says_so() {
        let text = "é".repeat(MOST);
        let shown = Room::new().whole(&text);
        assert_eq!(shown.left_out, MOST);
        assert_eq!(beginning("äöü", 2), "äö…");
        assert_eq!(beginning("äöü", 3), "äöü");
    }

    #[test]
    fn a_page_of_long_texts_is_bounded() {
        let room = Room::new();
        let formulas = "$x^2$ ".repeat(MOST);
        let texts: Vec<Shown> = (0..60).map(|_| room.whole(&formulas)).collect();
        let sent = serde_json::to_string(&texts).unwrap().len();
        assert!(sent < 2 * Room::PAGE, "{sent}");
        assert!(texts[0].left_out < texts[59].left_out && texts[59].left_out == formulas.len());
        let short = Room::new().whole("let $x = 1$");
        assert!(short.text.is_array() && short.left_out == 0, "{short:?}");
    }
}
