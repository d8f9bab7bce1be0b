//! Declarations of datasets: columns, answers, grading and source.

use crate::DataError;
use aske_chat::plain_parse_error;
use aske_config::{AnswerComparison, OneOrMany, is_valid_name};
use serde::{Deserialize, Serialize};

/// The built-in declarations, in table order; the first four are the paper's suite.
const BUILTIN: [(&str, &str); 7] = [
    ("aime-2022-2024.toml", include_str!("../datasets/aime-2022-2024.toml")),
    ("aime-2025.toml", include_str!("../datasets/aime-2025.toml")),
    ("hmmt-feb-2025.toml", include_str!("../datasets/hmmt-feb-2025.toml")),
    ("imo-answerbench.toml", include_str!("../datasets/imo-answerbench.toml")),
    ("math-500.toml", include_str!("../datasets/math-500.toml")),
    ("olympiadbench.toml", include_str!("../datasets/olympiadbench.toml")),
    ("ladder.toml", include_str!("../datasets/ladder.toml")),
];

/// The number of [`BUILTIN`] datasets in the paper's suite.
const PAPER: usize = 4;

/// The dataset whose problems are built in.
pub(crate) const SHIPPED: &str = "ladder";

/// What a dataset is and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Declaration {
    /// Name in records and on the command line.
    pub name: String,
    /// Name in tables.
    pub title: Option<String>,
    /// Repository on the hub, `OWNER/NAME`.
    pub hub: Option<String>,
    /// Files in order: in the repository, or next to the declaration if there is none. `*` matches any characters but
    /// `/`; of alternatives separated by `|`, the first that exists is used.
    pub files: Vec<String>,
    /// Licence of the data.
    pub licence: Option<String>,
    /// Number of problems in the release.
    pub problems: Option<usize>,
    /// Kind of answers, unless a column says.
    pub answers: AnswerKind,
    /// How answers are graded.
    pub grading: Grading,
    /// The rules of the symbolic comparison.
    pub comparison: AnswerComparison,
    /// Instruction after the problem instead of the default one; empty for none.
    pub instruction: Option<String>,
    /// Columns; of several names, the first that a row has is used.
    pub columns: Columns,
}

/// The kind of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// An integer from 0 to 999.
    Integer,
    /// Anything.
    #[default]
    Free,
}

/// How answers are graded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grading {
    /// The symbolic comparison.
    #[default]
    Rules,
    /// A language model that answers yes or no; the symbolic comparison if there is none.
    Judge,
}

/// Names of columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Columns {
    /// Id of the problem; the row number if no row has one.
    pub id: OneOrMany,
    /// The problem.
    pub problem: OneOrMany,
    /// The reference answer.
    pub answer: OneOrMany,
    /// Difficulty level, an integer.
    pub level: OneOrMany,
    /// `integer` or `free`.
    pub kind: OneOrMany,
}

impl Default for Columns {
    /// The column names of most datasets.
    fn default() -> Self {
        let names = |names: &[&str]| OneOrMany::Many(names.iter().map(|name| (*name).to_owned()).collect());
        Self {
            id: names(&["id", "unique_id", "problem_id", "problem_idx", "Problem ID", "ID"]),
            problem: names(&["problem", "question", "Problem", "Question"]),
            answer: names(&["answer", "final_answer", "Answer", "Short Answer"]),
            level: names(&["level"]),
            kind: names(&[]),
        }
    }
}

impl Declaration {
    /// Parses a declaration; errors refer to `location`.
    pub fn parse(text: &str, location: &str) -> Result<Self, DataError> {
        let declared: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            let hint = "docs/eval.md lists the keys of a declaration";
            DataError::new(format!("{location}:{line}"), plain_parse_error(error.message()), hint)
        })?;
        if declared.name.is_empty() {
            return Err(DataError::new(location, "no name", "name the dataset: name = \"mine\""));
        }
        if !is_valid_name(&declared.name) {
            let what = format!("`{}` is not a valid name", declared.name);
            return Err(DataError::new(location, what, "use letters, digits, `.`, `_` and `-`"));
        }
        if declared.files.is_empty() && declared.name != SHIPPED {
            return Err(DataError::new(location, "no files", "name them: files = [\"problems.jsonl\"]"));
        }
        Ok(declared)
    }

    /// The built-in declarations, in table order.
    pub fn builtin() -> Result<Vec<Self>, DataError> {
        BUILTIN.iter().map(|(file, text)| Self::parse(text, file)).collect()
    }

    /// The paper's suite of 550 problems.
    pub fn paper() -> Result<Vec<Self>, DataError> {
        BUILTIN[..PAPER].iter().map(|(file, text)| Self::parse(text, file)).collect()
    }

    /// The declaration of a plain file: default column names, free answers.
    pub fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Name in tables.
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_suite_has_550_problems_and_its_rules() {
        let paper = Declaration::paper().unwrap();
        assert_eq!(paper.iter().filter_map(|dataset| dataset.problems).sum::<usize>(), 550);
        let judged: Vec<&str> = paper
            .iter()
            .filter(|dataset| dataset.grading == Grading::Judge)
            .map(|dataset| dataset.name.as_str())
            .collect();
        assert_eq!(judged, ["imo-answerbench"]);
        assert!(paper.iter().all(|dataset| dataset.comparison == AnswerComparison::Paper));
        let integers = paper.iter().map(|dataset| dataset.answers == AnswerKind::Integer).collect::<Vec<_>>();
        assert_eq!(integers, [true, true, false, false]);
    }

    #[test]
    fn names_are_unique_and_a_wrong_key_is_named_by_its_line() {
        let mut names: Vec<String> =
            Declaration::builtin().unwrap().into_iter().map(|dataset| dataset.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), BUILTIN.len());
        let error = Declaration::parse("name = \"x\"\nfile = [\"a\"]\n", "my.toml").unwrap_err();
        assert_eq!(error.location, "my.toml:2");
        assert!(error.message.contains("unknown key `file`"), "{error}");
    }
}
