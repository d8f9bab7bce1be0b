//! A word or a short phrase.

use aske_answer::{Comparison, Method, normalise};

/// The boxed phrase, else the last line.
pub(super) fn read(boxed: Option<&str>, visible: &str) -> Option<String> {
    boxed.or_else(|| visible.lines().map(str::trim).rfind(|line| !line.is_empty())).map(str::to_owned)
}

/// The same words, case, punctuation and articles apart.
pub(super) fn compare(gold: &str, pred: &str) -> Comparison {
    let (gold, pred) = (words(gold), words(pred));
    Comparison::decided(!gold.is_empty() && gold == pred, Method::Text)
}

fn words(answer: &str) -> Vec<String> {
    normalise(answer)
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !matches!(*word, "" | "a" | "an" | "the"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_answer::Verdict;

    #[test]
    fn phrases_match_without_case_punctuation_and_articles() {
        assert_eq!(compare("The Great Gatsby", r"\text{great gatsby.}").verdict, Verdict::Equal);
        assert_eq!(compare("Paris", "London").verdict, Verdict::Different);
        assert_eq!(compare("...", "!!!").verdict, Verdict::Different);
        assert_eq!(read(None, "Let me see.\nMount Everest\n"), Some("Mount Everest".into()));
    }
}
