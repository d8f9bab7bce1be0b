//! Parses an asker's turn.

use crate::tags;
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
    /// What is forwarded.
    Question,
}

impl Section {
    /// All three, in the order asked for.
    pub const ALL: [Self; 3] = [Self::Reasoning, Self::Draft, Self::Question];

    /// Whether a text contains its tag.
    pub fn is_in(self, text: &str) -> bool {
        tags::has(text, self.name())
    }

    /// Its tag, such as `#Question#`.
    pub fn tag(self) -> String {
        let name = match self {
            Self::Reasoning => "Reasoning",
            Self::Draft => "Draft",
            Self::Question => "Question",
        };
        format!("#{name}#")
    }

    fn name(self) -> &'static str {
        match self {
            Self::Reasoning => "reasoning",
            Self::Draft => "draft",
            Self::Question => "question",
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

/// A parsed asker turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedTurn {
    /// The question, or why there is none.
    pub(crate) question: Result<String, TurnError>,
    /// The question was longer than allowed and was cut.
    pub(crate) cut: bool,
    /// The required sections that are not there.
    pub(crate) missing: Vec<Section>,
}

/// The question is what follows the last `#Question#`, trimmed and cut to `words` words.
pub(crate) fn read(visible: &str, finish: Finish, words: usize) -> ParsedTurn {
    let missing = Section::ALL.into_iter().filter(|section| !section.is_in(visible)).collect();
    let body = tags::after_last(visible, &[Section::Question.name()]).map_or("", |(_, body)| body);
    let question = first_words(body, words);
    // Markdown rules, fences and emphasis alone are not a question.
    if !question.contains(char::is_alphanumeric) {
        let error = if finish == Finish::Length { TurnError::Truncated } else { TurnError::Malformed };
        return ParsedTurn { question: Err(error), cut: false, missing };
    }
    ParsedTurn { question: Ok(question.to_owned()), cut: question.len() < body.len(), missing }
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
        let asked = read(FULL, Finish::Stop, 200);
        assert_eq!(asked.question, Ok("What is 1 + 1?".into()));
        assert!(asked.missing.is_empty() && !asked.cut);
        let twice = format!("{FULL}#Question#\nAnother?");
        assert_eq!(read(&twice, Finish::Stop, 200).question, Ok("Another?".into()));
    }

    #[test]
    fn a_question_is_cut_to_two_hundred_words() {
        let long = format!("#Question# a  b {}", "w ".repeat(300));
        let asked = read(&long, Finish::Stop, 200);
        let question = asked.question.unwrap();
        assert_eq!(question.split_whitespace().count(), 200);
        assert!(question.starts_with("a  b w") && asked.cut);
        assert_eq!(asked.missing, [Section::Reasoning, Section::Draft]);
    }

    #[test]
    fn an_empty_question_is_no_question() {
        assert_eq!(read("#Question#  \n", Finish::Stop, 200).question, Err(TurnError::Malformed));
        assert_eq!(read("#Question#\n---\n```", Finish::Stop, 200).question, Err(TurnError::Malformed));
        assert_eq!(read("#Question#", Finish::Length, 200).question, Err(TurnError::Truncated));
        assert_eq!(read("no tag", Finish::Stop, 200).question, Err(TurnError::Malformed));
    }
}
