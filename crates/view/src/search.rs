//! Case-insensitive search.

use memchr::memchr2_iter;

/// The text to search for.
#[derive(Debug)]
pub(crate) struct Needle {
    lower: String,
}

impl Needle {
    pub(crate) fn new(text: &str) -> Self {
        Self { lower: text.to_lowercase() }
    }

    /// Whether the text contains it.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let needle = self.lower.as_bytes();
        let Some(first) = needle.first() else { return true };
        if !self.lower.is_ascii() {
            return text.to_lowercase().contains(&self.lower);
        }
        let text = text.as_bytes();
        let Some(last) = text.len().checked_sub(needle.len()) else { return false };
        memchr2_iter(*first, first.to_ascii_uppercase(), &text[..=last])
            .any(|at| text[at..at + needle.len()].eq_ignore_ascii_case(needle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_matter_and_ends_count() {
        let found = |needle: &str, text: &str| Needle::new(needle).is_in(text);
        assert!(found("TRAIN", "a train") && found("", "x") && found("é", "É") && found("x", "X"));
        assert!(!found("trains", "a train") && !found("a", "") && !found("ab", "a"));
    }
}
