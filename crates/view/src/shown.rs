//! Texts on their way to the page.

use aske_report::Piece;
use serde::Serialize;
use serde_json::{Value, json};

/// Bytes of one text that are sent at most.
const MOST: usize = 256 << 10;

/// A text, whole or bounded.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    text: Value,
    /// Bytes that were left out at the end.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A text as the page takes it: a string, or a list of pieces of text and mathematics.
fn shown(text: &str) -> Value {
    match aske_report::pieces(text).as_slice() {
        [] | [Piece::Text { .. }] => Value::String(text.to_owned()),
        pieces => json!(pieces),
    }
}

/// A text of any length.
pub(crate) fn whole(text: &str) -> Shown {
    let kept = &text[..text.floor_char_boundary(MOST)];
    Shown { text: shown(kept), left_out: text.len() - kept.len() }
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
        let shown = whole(&text);
        assert_eq!(shown.left_out, MOST);
        assert_eq!(beginning("äöü", 2), "äö…");
        assert_eq!(beginning("äöü", 3), "äöü");
    }
}
