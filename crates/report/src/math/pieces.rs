//! Splits a text into text and mathematics.

use super::render::mathml;
use serde::Serialize;

/// Maximum bytes of a formula.
const MAX_FORMULA: usize = 2_000;
/// Maximum formulas rendered in one text; later ones stay text.
const MAX_FORMULAS: usize = 300;
/// Maximum bytes of all formulas of one text.
const MAX_FORMULA_BYTES: usize = 40_000;

/// A part of a text. Concatenating `text` and `tex` restores the whole text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Piece {
    /// Plain text, not escaped.
    Text {
        /// The text.
        text: String,
    },
    /// A formula.
    Math {
        /// The source with its delimiters.
        tex: String,
        /// A checked `<math>` element that is safe to insert into a page.
        mathml: String,
        /// Whether it is displayed on a line of its own.
        display: bool,
    },
}

/// Splits a text into text and mathematics: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`.
///
/// Dollar signs delimit a formula as in Pandoc: no space after the opening one or before the closing one, and no digit
/// after the closing one, so that `$5 or $6` stays text. What cannot be rendered stays text too. Takes linear time.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut given, mut formulas, mut tried) = (0, 0, 0);
    let marks = marks(text);
    let mut at = 0;
    while let [open, close, ..] = marks[at..] {
        at += 1;
        let within = &text[open.end..close.start.max(open.end)];
        if !encloses(text, open, close) || within.len() > MAX_FORMULA || formulas == MAX_FORMULAS {
            continue;
        }
        formulas += 1;
        tried += within.len();
        let display = matches!(open.kind, Kind::Double | Kind::OpenSquare);
        let rendered = if tried > MAX_FORMULA_BYTES { None } else { mathml(within, display) };
        if let Some(mathml) = rendered {
            push(&mut pieces, &text[given..open.start]);
            pieces.push(Piece::Math { tex: text[open.start..close.end].to_owned(), mathml, display });
            given = close.end;
            at += 1;
        }
    }
    push(&mut pieces, &text[given..]);
    pieces
}

fn push(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Text { text: text.to_owned() });
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Single,
    Double,
    OpenRound,
    CloseRound,
    OpenSquare,
    CloseSquare,
    /// An empty line, which ends a formula.
    Break,
}

#[derive(Clone, Copy)]
struct Mark {
    kind: Kind,
    start: usize,
    end: usize,
}

/// All delimiters and empty lines, in order.
fn marks(text: &str) -> Vec<Mark> {
    let bytes = text.as_bytes();
    let mut marks = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let next = bytes.get(at + 1);
        let (kind, length) = match (bytes[at], next) {
            (b'\\', Some(b'(')) => (Some(Kind::OpenRound), 2),
            (b'\\', Some(b')')) => (Some(Kind::CloseRound), 2),
            (b'\\', Some(b'[')) => (Some(Kind::OpenSquare), 2),
            (b'\\', Some(b']')) => (Some(Kind::CloseSquare), 2),
            (b'\\', Some(b'\\' | b'$')) => (None, 2),
            (b'$', Some(b'$')) => (Some(Kind::Double), 2),
            (b'$', _) => (Some(Kind::Single), 1),
            (b'\n', _) => {
                let rest = bytes[at + 1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
                let blank = rest.count();
                let empty = bytes.get(at + 1 + blank) == Some(&b'\n');
                (empty.then_some(Kind::Break), 1 + blank)
            }
            _ => (None, 1),
        };
        marks.extend(kind.map(|kind| Mark { kind, start: at, end: at + length }));
        at += length;
    }
    marks
}

/// Whether two marks delimit a formula.
fn encloses(text: &str, open: Mark, close: Mark) -> bool {
    let within = &text[open.end..close.start];
    match (open.kind, close.kind) {
        (Kind::OpenRound, Kind::CloseRound)
        | (Kind::OpenSquare, Kind::CloseSquare)
        | (Kind::Double, Kind::Double) => !within.trim().is_empty(),
        (Kind::Single, Kind::Single) => {
            let tight = !within.is_empty()
                && !within.starts_with(char::is_whitespace)
                && !within.ends_with(char::is_whitespace);
            let digit = text[close.end..].starts_with(|c: char| c.is_ascii_digit());
            tight && !digit && !prose(within)
        }
        _ => false,
    }
}

/// Whether it has two consecutive words and no mathematical symbol: `$5 for the book, not 7$`.
fn prose(within: &str) -> bool {
    let word = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_alphabetic() || ",.;".contains(c));
    let mut before = false;
    let mut two = within.split(' ').map(|part| {
        let now = word(part);
        std::mem::replace(&mut before, now) && now
    });
    !within.contains(['\\', '^', '_', '=', '{']) && two.any(|two| two)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(text: &str) -> Vec<(bool, String)> {
        let kind = |piece| match piece {
            Piece::Text { text } => (false, text),
            Piece::Math { tex, .. } => (true, tex),
        };
        pieces(text).into_iter().map(kind).collect()
    }

    fn formulas(text: &str) -> Vec<String> {
        kinds(text).into_iter().filter_map(|(math, tex)| math.then_some(tex)).collect()
    }

    #[test]
    fn every_delimiter_is_found() {
        assert_eq!(formulas(r"Let $x$ be, \(y^2\) or"), ["$x$", r"\(y^2\)"]);
        assert_eq!(formulas("so $$a+b$$ and \\[\\frac12\\]"), ["$$a+b$$", "\\[\\frac12\\]"]);
        let displayed: Vec<bool> = pieces("$$a$$ $b$ \\[c\\] \\(d\\)")
            .iter()
            .filter_map(|piece| if let Piece::Math { display, .. } = piece { Some(*display) } else { None })
            .collect();
        assert_eq!(displayed, [true, false, true, false]);
    }

    #[test]
    fn a_price_is_no_formula() {
        for text in ["It costs $5.", "$5 or $6", "from $5-$10", "5$ and 6$", "$5 for a book, or 7$", r"\$5$"]
        {
            assert_eq!(formulas(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(formulas("A book costs $5; find $x$."), ["$x$"]);
    }

    #[test]
    fn what_cannot_be_rendered_stays_text() {
        for text in ["$\\frac{1}{$", "$}{$", "\\(\\nosuchthing\\)", "$a\n\nb$", "\\[a\\)", "$$ $$"] {
            assert_eq!(kinds(text), [(false, text.to_owned())], "{text}");
        }
        let long = format!("${}$", "x".repeat(MAX_FORMULA + 1));
        assert_eq!(formulas(&long), Vec::<String>::new());
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        let start = std::time::Instant::now();
        for part in
            ["$", "$a ", "$$", "\\(", "\\[a\\]", "$x$ ", "\n \n", "\\", "${", "$\\frac{1}{2}$", "\n   "]
        {
            let text = part.repeat(1_000_000 / part.len());
            let joined: String = kinds(&text).into_iter().map(|(_, text)| text).collect();
            assert_eq!(joined, text);
        }
        // 11 MB in a build for tests: seconds only where a part is looked at again and again.
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }

    #[test]
    fn pieces_have_a_plain_form() {
        let json = serde_json::to_value(pieces("a $x$")).unwrap();
        assert_eq!(json[0], serde_json::json!({"kind": "text", "text": "a "}));
        assert_eq!(json[1]["kind"], "math");
        assert_eq!(json[1]["tex"], "$x$");
        assert_eq!(json[1]["display"], false);
    }

    proptest! {
        #[test]
        fn pieces_give_the_text_back(text in r"[$\\()\[\]{}^_ab1<>& \n\u{202e}é]{0,80}") {
            let joined: String = kinds(&text).into_iter().map(|(_, text)| text).collect();
            prop_assert_eq!(joined, text);
        }

        #[test]
        fn any_text_gives_itself_back(text in any::<String>()) {
            let joined: String = kinds(&text).into_iter().map(|(_, text)| text).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
