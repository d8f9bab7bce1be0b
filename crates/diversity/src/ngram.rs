//! Vectors from runs of one to five characters: no files, no meaning, the same on every machine.
//!
//! The text is lower-cased, white space becomes single spaces, and one stands at either end. Every run of one to
//! three characters counts as it is written, every run of four or five with all digits read as `0`. Two questions
//! that differ only in their numbers then share all long runs and are near each other, but not the same.
//!
//! A run is hashed with XXH3 (64 bits, seed 0) over its UTF-8 bytes; the hash modulo 512 is its place and the
//! highest bit its sign, so that runs that meet cancel out on average instead of making all texts alike. A run
//! that stands `n` times counts `√n`, so that common letters do not drown the rest: a root is rounded the same
//! way everywhere, a logarithm is not.

use xxhash_rust::xxh3::xxh3_64;

/// What this embedder is called.
pub(super) const NAME: &str = "ngram";

/// How many numbers a vector has.
pub(super) const DIMENSIONS: usize = 512;

/// The longest run of characters as they are written, and the longest of all.
const WRITTEN: usize = 3;
const LONGEST: usize = 5;

/// Characters of a text that are read: far more than a question has.
const MOST: usize = 1 << 14;

/// Everything above changes the vectors; so would another version.
pub(super) fn fingerprint() -> String {
    format!("{NAME}-{WRITTEN}-{LONGEST}-{DIMENSIONS}-v1")
}

/// The vector of a text, of length one.
#[expect(clippy::cast_possible_truncation, reason = "a place is below 512; vectors are single precision")]
pub(super) fn embed(text: &str) -> Vec<f32> {
    let mut sums = [0.0_f64; DIMENSIONS];
    // In the order of the hashes: the sums are then the same to the last bit.
    for same in runs(text).chunk_by(|one, next| one == next) {
        let Some(&hash) = same.first() else { continue };
        let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
        if let Some(sum) = sums.get_mut((hash % DIMENSIONS as u64) as usize) {
            *sum += sign * (same.len() as f64).sqrt();
        }
    }
    let mut length = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
    if length == 0.0 {
        // All runs cancelled out, which only a text made for it does.
        (sums[0], length) = (1.0, 1.0);
    }
    sums.iter().map(|sum| (sum / length) as f32).collect()
}

/// The hashes of all runs, sorted.
fn runs(text: &str) -> Vec<u64> {
    let end = text.char_indices().nth(MOST).map_or(text.len(), |(at, _)| at);
    let lower = text.get(..end).unwrap_or_default().to_lowercase();
    let mut plain = String::from(" ");
    for word in lower.split_whitespace() {
        plain.push_str(word);
        plain.push(' ');
    }
    // Digits are one byte each, so every character stays where it is.
    let folded: String = plain.chars().map(|one| if one.is_ascii_digit() { '0' } else { one }).collect();
    let bounds: Vec<usize> = plain.char_indices().map(|(at, _)| at).chain([plain.len()]).collect();
    let mut hashes = Vec::new();
    for run in 1..=LONGEST {
        let text = if run <= WRITTEN { &plain } else { &folded };
        let ends = bounds.iter().skip(run);
        let each = bounds.iter().zip(ends).filter_map(|(from, to)| text.get(*from..*to));
        hashes.extend(each.map(|run| xxh3_64(run.as_bytes())));
    }
    hashes.sort_unstable();
    hashes
}
