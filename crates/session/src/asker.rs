//! Parses an asker's turn.

use crate::{Turn, tags};
use aske_chat::Finish;
use serde::{Deserialize, Serialize};

/// A section that every asker turn must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Private planning.
    Reasoning,
    /// A private candidate with its worked solution.
    Draft,
    /// The question, which is forwarded to the solvers.
    Question,
}

impl Section {
    /// All sections, in the order in which the prompts ask for them.
    pub const ALL: [Self; 3] = [Self::Reasoning, Self::Draft, Self::Question];

    /// Whether a text contains its tag.
    pub fn is_in(self, text: &str) -> bool {
        tags::has(text, self.name())
    }

    /// Its tag, such as `#Question#`.
    pub fn tag(self) -> String {
        format!("#{}#", self.name())
    }

    fn name(self) -> &'static str {
        match self {
            Self::Reasoning => "Reasoning",
            Self::Draft => "Draft",
            Self::Question => "Question",
        }
    }
}

/// Why a turn has no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum TurnError {
    /// The reply was truncated before its question.
    #[error("the reply was truncated before its question")]
    Truncated,
    /// The reply is complete but has no question under its tag.
    #[error("the reply has no question under its tag")]
    Malformed,
}

impl Turn {
    /// Parses an asker's visible reply. The question is what follows the last `#Question#`, trimmed and cut to `words` words.
    pub fn read(visible: &str, finish: Finish, words: usize) -> Self {
        let missing = Section::ALL.into_iter().filter(|section| !section.is_in(visible)).collect();
        let body = tags::after_last(visible, &[Section::Question.name()]).map_or("", |(_, body)| body);
        let question = first_words(body, words);
        // Markdown rules, fences and emphasis alone are not a question.
        if !question.contains(char::is_alphanumeric) {
            let error = if finish == Finish::Length { TurnError::Truncated } else { TurnError::Malformed };
            return Self { question: None, cut: false, error: Some(error), missing, solved: None };
        }
        let cut = question.len() < body.len();
        Self { question: Some(question.to_owned()), cut, error: None, missing, solved: None }
    }
}

/// The first `count` words of the text, the spacing between them as it was.
fn first_words(text: &str, count: usize) -> &str {
    let text = text.trim();
    let mut end = 0;
    for word in text.split_whitespace().take(count) {
        end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = "#Reasoning#\nr\n#Draft#\nd \\boxed{2}\n#Question#\n What is 1 + 1? \n";

    #[test]
    fn only_what_follows_the_last_question_tag_is_forwarded() {
        let asked = Turn::read(FULL, Finish::Stop, 200);
        assert_eq!(asked.question, Some("What is 1 + 1?".into()));
        assert!(asked.missing.is_empty() && !asked.cut);
        let twice = format!("{FULL}#Question#\nAnother?");
        assert_eq!(Turn::read(&twice, Finish::Stop, 200).question, Some("Another?".into()));
    }

    #[test]
    fn a_question_is_cut_to_two_hundred_words() {
        let long = format!("#Question# a  b {}", "w ".repeat(300));
        let asked = Turn::read(&long, Finish::Stop, 200);
        let question = asked.question.unwrap();
        assert_eq!(question.split_whitespace().count(), 200);
        assert!(question.starts_with("a  b w") && asked.cut);
        assert_eq!(asked.missing, [Section::Reasoning, Section::Draft]);
    }

    #[test]
    fn an_empty_question_is_no_question() {
        assert_eq!(Turn::read("#Question#  \n", Finish::Stop, 200).error, Some(TurnError::Malformed));
        assert_eq!(Turn::read("#Question#\n---\n```", Finish::Stop, 200).error, Some(TurnError::Malformed));
        assert_eq!(Turn::read("#Question#", Finish::Length, 200).error, Some(TurnError::Truncated));
        assert_eq!(Turn::read("no tag", Finish::Stop, 200).error, Some(TurnError::Malformed));
    }
}
