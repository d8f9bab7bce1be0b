//! A word or a short phrase.

use aske_answer::{Comparison, Method, normalise};

/// The boxed phrase, else the last line.
pub(super) fn read(boxed: Option<&str>, visible: &str) -> Option<String> {
    boxed.or_else(|| visible.lines().map(str::trim).rfind(|line| !line.is_empty())).map(str::to_owned)
}

/// The same words, case, punctuation and leading articles apart.
pub(super) fn compare(gold: &str, pred: &str) -> Comparison {
    let (gold, pred) = (normalise(gold).to_lowercase(), normalise(pred).to_lowercase());
    let (gold, pred) = (words(&gold), words(&pred));
    Comparison::decided(!gold.is_empty() && gold == pred, Method::Text)
}

/// The words of a phrase; `+` and `#` belong to a word, as in C++ and C#. An article is dropped only before
/// another word, since `A` may be the answer.
fn words(phrase: &str) -> Vec<&str> {
    let mut words: Vec<&str> = phrase
        .split(|c: char| !c.is_alphanumeric() && c != '+' && c != '#')
        .filter(|word| !word.is_empty())
        .collect();
    while words.len() > 1 && matches!(words[0], "a" | "an" | "the") {
        words.remove(0);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_answer::Verdict;

    #[test]
    fn phrases_match_without_case_punctuation_and_articles() {
        assert_eq!(compare("The Great Gatsby", r"\text{great gatsby.}").verdict, Verdict::Equal);
        assert_eq!(compare("Paris", "London").verdict, Verdict::Different);
        assert_eq!(compare("A", "a").verdict, Verdict::Equal);
        assert_eq!(compare("C++", r"C\#").verdict, Verdict::Different);
        assert_eq!(compare("...", "!!!").verdict, Verdict::Different);
        assert_eq!(read(None, "Let me see.\nMount Everest\n"), Some("Mount Everest".into()));
    }
}
