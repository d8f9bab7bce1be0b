//! Escapes texts that a model wrote.

use crate::math::{Piece, pieces};
use maud::{Markup, PreEscaped, html};
use std::borrow::Cow;

/// Invisible characters that can change how a text is displayed or hide a part of it.
pub(crate) fn hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
        || matches!(c, '\u{fdd0}'..='\u{fdef}')
        || u32::from(c) & 0xfffe == 0xfffe
}

/// A text with hidden characters shown as code points.
pub(crate) fn plain(text: &str) -> Markup {
    html! {
        @for run in text.split_inclusive(hidden) {
            @match run.chars().next_back().filter(|c| hidden(*c)) {
                Some(last) => {
                    (run[..run.len() - last.len_utf8()])
                    span.hidden { (format!("U+{:04X}", u32::from(last))) }
                }
                None => (run),
            }
        }
    }
}

/// A text with its mathematics. A displayed formula takes the place of the line breaks around it.
pub(crate) fn rich(text: &str) -> Markup {
    let pieces = pieces(text);
    let displayed = |index: Option<usize>| {
        let piece = index.and_then(|index| pieces.get(index));
        matches!(piece, Some(Piece::Math { display: true, .. }))
    };
    html! {
        @for (index, piece) in pieces.iter().enumerate() {
            @match piece {
                Piece::Text { text } => {
                    @let text = if displayed(index.checked_sub(1)) { text.trim_start_matches('\n') } else { text };
                    @let text = if displayed(Some(index + 1)) { text.trim_end_matches('\n') } else { text };
                    (plain(text))
                }
                // Checked: only allowed elements and attributes.
                Piece::Math { mathml, .. } => (PreEscaped(mathml)),
            }
        }
    }
}

/// A short answer, as a formula if it can be rendered as one.
pub(crate) fn answer(text: &str) -> Markup {
    let formula = text.contains(['\\', '^', '_']) && !text.contains('$');
    let pieces = if formula { pieces(&format!("\\({text}\\)")) } else { Vec::new() };
    html! {
        @match pieces.as_slice() {
            // Checked, as above.
            [Piece::Math { mathml, .. }] => span title=(visible(text)) { (PreEscaped(mathml)) },
            _ => (plain(text)),
        }
    }
}

/// The first characters of a text, and the number of the remaining ones.
pub(crate) fn cut(text: &str, limit: usize) -> (&str, usize) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => (&text[..end], text[end..].chars().count()),
        None => (text, 0),
    }
}

/// A text with hidden characters replaced, for places that cannot contain markup.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if text.contains(hidden) { text.replace(hidden, "\u{fffd}").into() } else { text.into() }
}

/// A name for a figure or a table: shortened, on one line.
pub fn label(name: &str, limit: usize) -> String {
    let (shown, more) = cut(name, limit);
    let shown = visible(shown).replace(['\n', '\t', '\r'], " ");
    if more == 0 { shown } else { format!("{shown}…") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_spelled_out() {
        let shown = plain("a\u{202e}b<\u{0}").into_string();
        assert_eq!(shown, "a<span class=\"hidden\">U+202E</span>b&lt;<span class=\"hidden\">U+0000</span>");
        assert_eq!(plain("a\nb\tc").into_string(), "a\nb\tc");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("ééé", 2), ("éé", 1));
        assert_eq!(cut("éé", 2), ("éé", 0));
        assert_eq!(label("a\u{202e}b\n", 9), "a\u{fffd}b ");
        assert_eq!(label("abcdef", 3), "abc…");
    }

    #[test]
    fn an_answer_is_a_formula_where_it_is_one() {
        let half = answer(r"\frac{1}{2}").into_string();
        assert!(half.starts_with(r#"<span title="\frac{1}{2}"><math"#), "{half}");
        for text in ["42", r"\nosuchthing", r"$x$", r"a\) b \(c", "<b>"] {
            assert!(!answer(text).into_string().contains("<math"), "{text}");
        }
    }

    #[test]
    fn mathematics_is_shown_between_escaped_text() {
        let shown = rich("<b>$x<y$</b> <script>").into_string();
        assert!(shown.starts_with("&lt;b&gt;<math display=\"inline\">"), "{shown}");
        assert!(shown.ends_with("</math>&lt;/b&gt; &lt;script&gt;"), "{shown}");
    }
}
