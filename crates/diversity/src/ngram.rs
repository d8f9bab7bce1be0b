//! Feature hashing of character n-grams (n = 1 to 5): no files, and the same vectors on every machine.
//!
//! The text is lower-cased, white space is collapsed, and a space is added at both ends. In n-grams of four and five
//! characters all digits become `0`, so that questions that differ only in their numbers are near each other but not
//! equal.
//!
//! An n-gram is hashed with XXH3 (64 bits, seed 0) over its UTF-8 bytes; the hash modulo 512 is its index and the
//! highest bit its sign, so that collisions cancel out on average (Weinberger et al., 2009). An n-gram that occurs
//! `n` times counts `√n`, which damps common letters; unlike a logarithm, a square root is rounded identically everywhere.

use xxhash_rust::xxh3::xxh3_64;

/// The name of this embedder.
pub(super) const NAME: &str = "ngram";

/// The length of a vector.
pub(super) const DIMENSIONS: usize = 512;

/// The longest n-gram that keeps its digits, and the longest of all.
const WITH_DIGITS: usize = 3;
const MAX_N: usize = 5;

/// Texts are truncated to this many characters.
const MAX_CHARS: usize = 1 << 14;

/// Identifies the vectors: every constant above changes them.
pub(super) fn fingerprint() -> String {
    format!("{NAME}-{WITH_DIGITS}-{MAX_N}-{DIMENSIONS}-v1")
}

/// The unit vector of a text.
#[expect(clippy::cast_possible_truncation, reason = "an index is below 512; vectors are single precision")]
pub(super) fn embed(text: &str) -> Vec<f32> {
    let mut sums = [0.0_f64; DIMENSIONS];
    // Summed in the order of the hashes, so that the result is the same to the last bit.
    for same in ngrams(text).chunk_by(|one, next| one == next) {
        let Some(&hash) = same.first() else { continue };
        let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
        if let Some(sum) = sums.get_mut((hash % DIMENSIONS as u64) as usize) {
            *sum += sign * (same.len() as f64).sqrt();
        }
    }
    let mut length = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
    if length == 0.0 {
        // All n-grams cancelled out, which happens only for texts constructed to do so.
        (sums[0], length) = (1.0, 1.0);
    }
    sums.iter().map(|sum| (sum / length) as f32).collect()
}

/// The hashes of all n-grams, sorted.
fn ngrams(text: &str) -> Vec<u64> {
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    let lower = text.get(..end).unwrap_or_default().to_lowercase();
    let mut plain = String::from(" ");
    for word in lower.split_whitespace() {
        plain.push_str(word);
        plain.push(' ');
    }
    // A digit is one byte, so the character boundaries stay the same.
    let folded: String = plain.chars().map(|one| if one.is_ascii_digit() { '0' } else { one }).collect();
    let bounds: Vec<usize> = plain.char_indices().map(|(at, _)| at).chain([plain.len()]).collect();
    let mut hashes = Vec::new();
    for n in 1..=MAX_N {
        let text = if n <= WITH_DIGITS { &plain } else { &folded };
        let ends = bounds.iter().skip(n);
        let ngrams = bounds.iter().zip(ends).filter_map(|(start, end)| text.get(*start..*end));
        hashes.extend(ngrams.map(|ngram| xxh3_64(ngram.as_bytes())));
    }
    hashes.sort_unstable();
    hashes
}
