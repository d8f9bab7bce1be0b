//! Multiple choice: the answer is an option's letter.

use aske_answer::{Comparison, Method, normalise};

/// The boxed letter, else the last letter that stands alone in the reply.
pub(super) fn read(boxed: Option<&str>, visible: &str) -> Option<String> {
    match boxed {
        Some(boxed) => Some(letter(boxed).map_or_else(|| boxed.to_owned(), String::from)),
        None => visible
            .split_whitespace()
            .rev()
            .find_map(|word| {
                let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
                // A bare "I" or "A" in a sentence is a word of its own.
                let is_word = matches!(word, "I" | "A") && !visible.ends_with(word);
                matches!(bare.as_bytes(), [b'A'..=b'Z']).then_some(bare).filter(|_| !is_word)
            })
            .map(str::to_owned),
    }
}

pub(super) fn compare(gold: &str, pred: &str) -> Comparison {
    let equal = match (letter(gold), letter(pred)) {
        (Some(gold), Some(pred)) => gold == pred,
        _ => false,
    };
    Comparison::decided(equal, Method::Letter)
}

/// `B`, `(b)`, `B) Paris`, `B. Paris`, `B: Paris`, `\text{B}`: the option's letter in capitals.
fn letter(answer: &str) -> Option<char> {
    let plain = normalise(answer);
    let named = plain.get(..7).filter(|word| word.eq_ignore_ascii_case("option "));
    let plain = named.map_or(plain.as_str(), |word| &plain[word.len()..]);
    let mut chars = plain.trim_start_matches(['(', '[', ' ']).chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    match chars.next() {
        None | Some(')' | ']' | '.' | ':' | ',' | ' ' | '-') => Some(letter.to_ascii_uppercase()),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_answer::Verdict;

    #[test]
    fn an_option_is_read_however_it_is_dressed() {
        for dressed in ["B", "(b)", "B) Paris", r"\text{B}", "B. Paris", "Option B"] {
            assert_eq!(read(Some(dressed), ""), Some("B".into()), "{dressed}");
        }
        assert_eq!(read(None, "So A is wrong and the answer is (C)."), Some("C".into()));
        assert_eq!(read(None, "The answer is C, I think."), Some("C".into()));
        assert_eq!(read(None, "It is B. A full proof follows."), Some("B".into()));
        assert_eq!(read(None, "So it must be A"), Some("A".into()));
        assert_eq!(read(None, "no letter here"), None);
        assert_eq!(read(Some("Paris"), ""), Some("Paris".into()));
    }

    #[test]
    fn only_letters_are_equal() {
        assert_eq!(compare("B", "(b) Paris").verdict, Verdict::Equal);
        assert_eq!(compare("B", "C").verdict, Verdict::Different);
        assert_eq!(compare("Paris", "Paris").verdict, Verdict::Different);
    }
}
