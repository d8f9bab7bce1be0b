//! Extraction of the answer from a reply: the last balanced `\boxed{…}`, otherwise the last word.

use std::ops::Range;

const BOXED: &[u8] = b"\\boxed";

/// The byte ranges of what stands inside each balanced `\boxed{…}`, in order; empty boxes do not count.
///
/// Escaped braces (`\{`, `\}`) are text. A box that never closes is skipped. A box inside a box is part of
/// the outer one. One pass, however the text is nested.
pub fn boxes(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found: Vec<Range<usize>> = Vec::new();
    // For each open brace: where the contents of its box begin, if it opens one.
    let mut open: Vec<Option<usize>> = Vec::new();
    // Whatever stands in front of the first box is outside of it.
    let mut i = text.find("\\boxed").unwrap_or(bytes.len());
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => {
                if let Some(start) = box_start(bytes, i) {
                    open.push(Some(start));
                    i = start;
                } else {
                    // An escaped character is text, but a doubled backslash may stand for the box's own.
                    i += if box_start(bytes, i + 1).is_some() { 1 } else { 2 };
                }
                continue;
            }
            b'{' => open.push(None),
            b'}' => {
                if let Some(Some(start)) = open.pop() {
                    found.truncate(found.partition_point(|inner| inner.start < start));
                    if !text[start..i].trim().is_empty() {
                        found.push(start..i);
                    }
                }
            }
            _ => {}
        }
        i += 1;
    }
    found
}

/// Where the contents begin, if `\boxed` and its brace stand at `at`.
fn box_start(bytes: &[u8], at: usize) -> Option<usize> {
    let mut i = at + BOXED.len();
    if !bytes.get(at..)?.starts_with(BOXED) {
        return None;
    }
    while matches!(bytes.get(i), Some(b' ' | b'\t')) {
        i += 1;
    }
    (bytes.get(i) == Some(&b'{')).then_some(i + 1)
}

/// The contents of the last balanced, non-empty `\boxed{…}`, trimmed.
pub fn last_boxed(text: &str) -> Option<&str> {
    boxes(text).pop().map(|range| text[range].trim())
}

/// The last word that is not punctuation, without the sentence's punctuation around it.
pub fn last_word(text: &str) -> Option<&str> {
    text.split_whitespace().rev().map(strip_sentence).find(|word| word.chars().any(char::is_alphanumeric))
}

/// Drops what belongs to the sentence and not to the word: quotes, emphasis, a closing full stop.
fn strip_sentence(word: &str) -> &str {
    const AROUND: &[char] = &['"', '\'', '`', '*', '_', '“', '”', '‘', '’'];
    const BEHIND: &[char] = &['.', ',', ';', ':', '?', '。', '，'];
    word.trim_matches(AROUND).trim_end_matches(BEHIND).trim_matches(AROUND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_balanced_box_is_the_answer() {
        assert_eq!(last_boxed(r"\boxed{1} then \boxed{2}"), Some("2"));
        assert_eq!(last_boxed(r"\boxed{\frac{1}{2}}"), Some(r"\frac{1}{2}"));
        assert_eq!(last_boxed(r"\boxed{\{1,2\}}"), Some(r"\{1,2\}"));
        assert_eq!(last_boxed(r"\boxed {7}"), Some("7"));
        assert_eq!(last_boxed(r"First \\boxed{3}, no, finally \\boxed{6}"), Some("6"));
    }

    #[test]
    fn an_unclosed_or_empty_box_is_no_answer() {
        assert_eq!(last_boxed(r"\boxed{3} and then \boxed{4"), Some("3"));
        assert_eq!(last_boxed(r"\boxed{3} write it in \boxed{}"), Some("3"));
        assert_eq!(last_boxed(r"\boxed{ \boxed{5} "), Some("5"));
        assert_eq!(last_boxed(r"\boxed 4"), None);
        assert_eq!(last_boxed(""), None);
    }

    #[test]
    fn a_box_inside_a_box_belongs_to_the_outer_one() {
        assert_eq!(last_boxed(r"\boxed{\boxed{5}}"), Some(r"\boxed{5}"));
    }

    #[test]
    fn the_last_word_is_not_punctuation() {
        assert_eq!(last_word("The answer is **42**."), Some("42"));
        assert_eq!(last_word("it is -5 !!! ..."), Some("-5"));
        assert_eq!(last_word("Answer: $x=3$"), Some("$x=3$"));
        assert_eq!(last_word("50%."), Some("50%"));
        assert_eq!(last_word(" ... -- !"), None);
    }

    #[test]
    fn hostile_nesting_stays_linear() {
        let text = "\\boxed{".repeat(20_000);
        assert_eq!(last_boxed(&text), None);
    }

    proptest! {
        #[test]
        fn whatever_is_boxed_last_is_found(before in ".{0,40}", inside in "[a-z0-9+/ ]{0,20}[a-z0-9]", after in "[a-z .]{0,40}") {
            let before = before.replace(['\\', '{', '}'], "");
            let text = format!("{before}\\boxed{{{inside}}}{after}");
            prop_assert_eq!(last_boxed(&text), Some(inside.trim()));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,200}") {
            let _ = (boxes(&text), last_word(&text));
        }
    }
}
