//! Sentences of a reply, and the formulas in them.

use std::ops::Range;

/// A sentence or a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sentence<'t> {
    /// Without the mark of a list or a heading before it.
    pub(super) text: &'t str,
    /// Whether it ends as sentences and formulas do, or a line follows it.
    pub(super) is_complete: bool,
}

/// The last sentences of a text, in order.
pub(super) fn split(text: &str, most: usize) -> Vec<Sentence<'_>> {
    let formulas = formulas(text);
    let mut out = Vec::new();
    let (mut from, mut next) = (0, 0);
    let mut push = |range: Range<usize>, is_complete: bool| {
        let text = without_mark(&text[range]);
        if text.chars().any(|c| c.is_alphanumeric() || "$?∞∅√".contains(c)) {
            out.push(Sentence { text, is_complete });
        }
    };
    let letters = text.char_indices();
    for (at, c) in letters {
        while formulas.get(next).is_some_and(|formula: &Range<usize>| formula.end <= at) {
            next += 1;
        }
        if formulas.get(next).is_some_and(|formula| formula.contains(&at)) {
            continue;
        }
        let end = at + c.len_utf8();
        if c == '\n' || ends_sentence(text, at, c) {
            push(from..end, true);
            from = end;
        }
    }
    let rest = text[from..].trim_end();
    let complete = rest.ends_with(|c: char| !c.is_alphanumeric() && c != ',' && c != '$')
        || formulas.last().is_some_and(|f| f.end == from + rest.len());
    push(from..text.len(), complete);
    out.split_off(out.len().saturating_sub(most))
}

fn ends_sentence(text: &str, at: usize, c: char) -> bool {
    if matches!(c, '。' | '！' | '？') {
        return true;
    }
    if !matches!(c, '.' | '!' | '?') {
        return false;
    }
    let rest = text[at + 1..].trim_start_matches(['*', '_', '"', '\'', ')', '”', '`']);
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return false;
    }
    let word = text[..at].rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    // A number in a list, an abbreviation, or dots that go on.
    let marker =
        word.chars().all(|c| c.is_ascii_digit()) && line_start(text, at - word.len()) && !word.is_empty();
    let goes_on = c == '.' && rest.trim_start().starts_with(|c: char| c.is_lowercase() || c == '=');
    let abbreviation =
        matches!(word.trim_start_matches('('), "i.e" | "e.g" | "approx" | "cf" | "vs" | "no" | "eq" | "dr");
    !(marker && !rest.trim().is_empty() || goes_on || (c == '.' && abbreviation && !rest.trim().is_empty()))
}

fn line_start(text: &str, at: usize) -> bool {
    text[..at].trim_end_matches([' ', '\t', '*']).chars().next_back().is_none_or(|c| c == '\n')
}

/// Without the mark of a list, a quotation, a heading or a table before it.
fn without_mark(text: &str) -> &str {
    let text = text.trim().trim_start_matches(['#', '>', '|', '•']).trim_start();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0
        && let Some(rest) = text[digits..].strip_prefix(['.', ')'])
        && rest.starts_with(char::is_whitespace)
    {
        return rest.trim_start();
    }
    text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")).unwrap_or(text).trim_start()
}

/// The formulas of a text with their delimiters, in order. A dollar sign before a number may be money: it opens a
/// formula only if the next one on its line closes it.
pub(super) fn formulas(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    // Delimiters that are known to occur no more.
    let mut spent: Vec<&str> = Vec::new();
    while let Some(found) = text[at..].find(['$', '\\']) {
        let start = at + found;
        let rest = &text[start..];
        let close = if rest.starts_with("$$") {
            Some(("$$", 2))
        } else if rest.starts_with("\\[") {
            Some(("\\]", 2))
        } else if rest.starts_with("\\(") {
            Some(("\\)", 2))
        } else if rest.starts_with("\\begin{") {
            Some(("\\end{", 7))
        } else {
            None
        };
        let end = match close {
            Some((close, _)) if spent.contains(&close) => None,
            Some((close, skip)) => {
                let end = rest[skip..].find(close).map(|end| start + skip + end + close.len());
                if end.is_none() {
                    spent.push(close);
                }
                end.map(|end| {
                    if close == "\\end{" {
                        end + text[end..].find('}').map_or(0, |brace| brace + 1)
                    } else {
                        end
                    }
                })
            }
            None if rest.starts_with('$') => inline_end(text, start),
            None => None,
        };
        match end {
            Some(end) => {
                out.push(start..end);
                at = end;
            }
            // An escaped character is skipped with its backslash.
            None if rest.starts_with('\\') => {
                at = start + 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
            }
            None => at = start + 1,
        }
    }
    out
}

/// The end of the formula that a dollar sign opens.
fn inline_end(text: &str, start: usize) -> Option<usize> {
    let inside = &text[start + 1..];
    let mut from = 0;
    loop {
        let at = from + inside[from..].find(['$', '\n'])?;
        if inside.as_bytes()[at] == b'\n' {
            return None;
        }
        if inside[..at].ends_with('\\') {
            from = at + 1;
            continue;
        }
        let content = &inside[..at];
        let money =
            content.starts_with(|c: char| c.is_ascii_digit()) && content.split_whitespace().any(is_prose);
        let spaced = content.ends_with(' ') && !content.starts_with(' ');
        let before_digit = inside[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        return (!content.trim().is_empty() && !money && !spaced && !before_digit)
            .then_some(start + 1 + at + 1);
    }
}

/// A word of prose: several letters and no command.
fn is_prose(word: &str) -> bool {
    word.len() > 3 && word.chars().all(|c| c.is_alphabetic() || ",.;:".contains(c))
}
