//! Questions as texts: which are the same, which are alike, which give their answer away.

use xxhash_rust::xxh3::xxh3_64;

/// Minimum hashes that stand for a question's words in order.
const HASHES: usize = 16;
/// Shortest answer whose appearance in the question is no chance: a single digit stands in most questions.
const SHORTEST_LEAK: usize = 3;

/// What is remembered of a question to find others like it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// A hash of its words, without case, space and punctuation; 0 where there is no question.
    pub words: u64,
    /// MinHash over its words in threes (Broder, 1997): the share of equal places estimates how many of them two
    /// questions have in common.
    pub minimum: [u32; HASHES],
}

impl Fingerprint {
    /// Of a question.
    pub fn of(question: &str) -> Self {
        let words = hashes(question);
        let mut minimum = [u32::MAX; HASHES];
        let width = words.len().clamp(1, 3);
        for three in words.windows(width) {
            let three = three.iter().fold(0, |all, word| mixed(all ^ word));
            for (place, least) in (1..).zip(&mut minimum) {
                let hash = u32::try_from(mixed(three ^ mixed(place)) >> 32).unwrap_or(u32::MAX);
                *least = hash.min(*least);
            }
        }
        Self { words: joined(&words), minimum }
    }

    /// The estimated share of word triples in common.
    pub fn likeness(&self, other: &Self) -> f64 {
        let equal = self.minimum.iter().zip(&other.minimum).filter(|(a, b)| a == b).count();
        equal as f64 / HASHES as f64
    }
}

/// Whether two questions have the same words; most differ in the first few.
pub(crate) fn same_words(one: &str, two: &str) -> bool {
    let (mut one, mut two) = (words(one), words(two));
    loop {
        match (one.next(), two.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a.eq_ignore_ascii_case(b) || a.to_lowercase() == b.to_lowercase() => {}
            _ => return false,
        }
    }
}

fn hashes(question: &str) -> Vec<u64> {
    words(question).map(|word| xxh3_64(word.to_lowercase().as_bytes())).collect()
}

/// Never 0.
fn joined(words: &[u64]) -> u64 {
    words.iter().fold(1, |all, word| mixed(all ^ word)) | 1
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Words and numbers; signs of mathematics count, punctuation does not.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part =
        |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '*' | '/' | '^' | '=' | '<' | '>' | '\\');
    text.split(move |c| !part(c)).filter(|word| !word.is_empty())
}

/// Whether an answer of some length stands in the question as a word of its own.
pub(crate) fn leaks(question: &str, answer: &str) -> bool {
    let answer = answer.trim();
    if answer.chars().count() < SHORTEST_LEAK {
        return false;
    }
    let alone = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    question.match_indices(answer).any(|(at, found)| {
        let before = question[..at].chars().next_back();
        let mut after = question[at + found.len()..].chars();
        let next = after.next();
        // `12.5` is no `12`: a point before a digit goes on with the number.
        let goes_on = next == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit());
        alone(before) && before != Some('.') && alone(next) && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_the_same_question_whatever_the_layout() {
        let a = Fingerprint::of("What is $12+7$?");
        assert_eq!(a.words, Fingerprint::of("what is\n 12+7 ?").words);
        assert_ne!(a.words, Fingerprint::of("What is $12-7$?").words);
    }

    #[test]
    fn likeness_follows_the_triples_in_common() {
        let text = "A train leaves at noon and travels at 60 miles an hour for 3 hours before it stops; how far is it?";
        let a = Fingerprint::of(text);
        assert!(a.likeness(&Fingerprint::of(&text.replace("60", "70"))) > 0.5);
        assert!(a.likeness(&Fingerprint::of("Find the smallest prime above one hundred and forty.")) < 0.2);
    }

    #[test]
    fn an_answer_leaks_only_as_a_word_of_its_own() {
        assert!(leaks("Show that the sum is 144.", "144"));
        assert!(!leaks("What is 1440 / 10?", "144"));
        assert!(!leaks("What is 144.5 - 0.5?", "144"));
        assert!(!leaks("Add 7 and 5.", "5"), "a short number stands in many questions");
    }
}
