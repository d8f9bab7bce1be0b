//! Compares the texts of questions: duplicates, near-duplicates and leaked answers.

use xxhash_rust::xxh3::xxh3_64;

/// Number of minimum hashes of a fingerprint.
pub(crate) const HASHES: usize = 16;
/// Minimum length of an answer whose appearance in the question is a leak: most questions contain a single digit.
const SHORTEST_LEAK: usize = 3;

/// MinHash over the word triples of a question (Broder, 1997): the share of equal hashes estimates the share of triples
/// that two questions have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint(pub(crate) [u32; HASHES]);

impl Fingerprint {
    /// Of a question.
    pub(crate) fn of(question: &str) -> Self {
        let words: Vec<u64> = words(question).map(|word| xxh3_64(word.to_lowercase().as_bytes())).collect();
        let mut minimum = [u32::MAX; HASHES];
        let width = words.len().clamp(1, 3);
        for three in words.windows(width) {
            let three = three.iter().fold(0, |all, word| mixed(all ^ word));
            for (place, least) in (1..).zip(&mut minimum) {
                let hash = u32::try_from(mixed(three ^ mixed(place)) >> 32).unwrap_or(u32::MAX);
                *least = hash.min(*least);
            }
        }
        Self(minimum)
    }

    /// The estimated share of word triples in common.
    pub(crate) fn likeness(&self, other: &Self) -> f64 {
        let equal = self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count();
        equal as f64 / HASHES as f64
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A hash of a question's words, ignoring case, white space and punctuation; never 0.
pub(crate) fn words_hash(question: &str) -> u64 {
    let lower = question.to_lowercase();
    let mut joined = String::with_capacity(lower.len() + 1);
    for word in words(&lower) {
        joined.push(' ');
        joined.push_str(word);
    }
    xxh3_64(joined.as_bytes()) | 1
}

/// The words of a text: letters, digits and mathematical symbols between spaces and punctuation.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part =
        |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '*' | '/' | '^' | '=' | '<' | '>' | '\\');
    text.split(move |c| !part(c)).filter(|word| !word.is_empty())
}

/// Whether the question contains the answer as a separate word, unless the answer is very short.
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
        // `12.5` does not contain `12`: a point before a digit continues the number.
        let continues = next == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit());
        alone(before) && before != Some('.') && alone(next) && !continues
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_the_same_question_whatever_the_layout() {
        assert_eq!(words_hash("What is $12+7$?"), words_hash("what is\n 12+7 ?"));
        assert_ne!(words_hash("What is $12+7$?"), words_hash("What is $12-7$?"));
        assert_eq!(words_hash("Écrire 12+7 ?"), words_hash("écrire\n12+7"));
        assert_eq!(words_hash("Is 3<4, x\\le 5?"), words_hash("is 3<4 x\\LE 5"));
        assert_ne!(words_hash("Is 3<4?"), words_hash("Is 3>4?"));
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
