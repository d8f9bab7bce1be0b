//! Filler text, and the counting of words and tokens.

use super::draws::{Draw, Draws};

/// Words without meaning to a parser: no digits, no `#`, no backslash.
const FILLER: [&str; 24] = [
    "first", "we", "look", "at", "both", "numbers", "and", "line", "up", "their", "digits", "from", "the",
    "right", "then", "add", "each", "column", "in", "turn", "while", "carrying", "what", "remains",
];

/// Appends this many filler words, starting at a word drawn from the request.
pub(crate) fn pad(text: &mut String, draws: &Draws, count: usize) {
    let start = usize::try_from(draws.below(Draw::Padding, FILLER.len() as u64)).unwrap_or(0);
    text.reserve(count * 6);
    for word in FILLER.iter().cycle().skip(start).take(count) {
        text.push_str(word);
        text.push(' ');
    }
}

/// The approximate number of tokens: four for three words.
pub(crate) fn tokens(text: &str) -> u64 {
    (text.split_ascii_whitespace().count() as u64 * 4).div_ceil(3)
}

/// Truncates a text to `limit` tokens, at the end of a word.
pub(crate) fn truncate(text: &mut String, limit: u64) {
    let keep = usize::try_from(limit.saturating_mul(3) / 4).unwrap_or(usize::MAX);
    let start = text.as_ptr() as usize;
    let end = keep
        .checked_sub(1)
        .and_then(|last| text.split_ascii_whitespace().nth(last))
        .map_or(0, |word| word.as_ptr() as usize - start + word.len());
    text.truncate(end);
}
