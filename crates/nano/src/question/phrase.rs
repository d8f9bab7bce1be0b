//! Phrasings: templates that are filled in and matched.

/// Maximum number of digits: keeps all intermediate results within 128 bits.
const MAX_DIGITS: usize = 12;

/// Fills in the gaps of a phrasing.
pub(super) fn fill(phrasing: &str, numbers: &[i128]) -> String {
    let mut parts = phrasing.split("{}");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (part, number) in parts.zip(numbers) {
        text.push_str(&number.to_string());
        text.push_str(part);
    }
    text
}

/// The numbers in the gaps, if the text matches this phrasing. Both must be normalized by [`plain`].
pub(super) fn gaps(phrasing: &str, text: &str) -> Option<Vec<i128>> {
    let mut parts = phrasing.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut numbers = Vec::new();
    for part in parts {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if end == 0 || end > MAX_DIGITS {
            return None;
        }
        numbers.push(rest[..end].parse().ok()?);
        rest = rest[end..].strip_prefix(part)?;
    }
    rest.is_empty().then_some(numbers)
}

/// Normalizes case, spaces, dollar signs and final punctuation.
pub(super) fn plain(text: &str) -> String {
    let text = text.trim().trim_end_matches(['.', '?', ' ', '$']);
    let mut plain = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_whitespace() {
            gap = true;
        } else if c != '$' {
            // Keep adjacent numbers apart.
            if gap && c.is_ascii_digit() && plain.ends_with(|before: char| before.is_ascii_digit()) {
                plain.push(' ');
            }
            gap = false;
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_is_found_again() {
        let phrasing = "What is ${} + {}$?";
        let text = fill(phrasing, &[12, 7]);
        assert_eq!(text, "What is $12 + 7$?");
        assert_eq!(gaps(&plain(phrasing), &plain(&text)), Some(vec![12, 7]));
        assert_eq!(gaps(&plain(phrasing), &plain("what is  12+7")), Some(vec![12, 7]));
        for other in
            ["what is 12 - 7", "what is 12 +", "what is 12 + 7 + 1", "what is 1 2 + 7", "", "what is 12 + x"]
        {
            assert_eq!(gaps(&plain(phrasing), &plain(other)), None, "{other}");
        }
    }
}
