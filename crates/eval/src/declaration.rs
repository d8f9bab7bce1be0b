//! What a dataset is: its columns, its answers, how it is graded, where it comes from.

use crate::DataError;
use aske_answer::Rules;
use aske_config::{OneOrMany, is_valid_name};
use serde::{Deserialize, Serialize};

/// The declarations that ship, in the order of tables; the first four are the paper's suite.
const BUILTIN: [(&str, &str); 7] = [
    ("aime-2022-2024.toml", include_str!("../datasets/aime-2022-2024.toml")),
    ("aime-2025.toml", include_str!("../datasets/aime-2025.toml")),
    ("hmmt-feb-2025.toml", include_str!("../datasets/hmmt-feb-2025.toml")),
    ("imo-answerbench.toml", include_str!("../datasets/imo-answerbench.toml")),
    ("math-500.toml", include_str!("../datasets/math-500.toml")),
    ("olympiadbench.toml", include_str!("../datasets/olympiadbench.toml")),
    ("ladder.toml", include_str!("../datasets/ladder.toml")),
];

/// How many of [`BUILTIN`] are the paper's.
const PAPER: usize = 4;

/// The dataset that ships with its problems.
pub(crate) const SHIPPED: &str = "ladder";

/// A dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// Its name, in records and on the command line.
    pub name: String,
    /// Its name in tables.
    #[serde(default)]
    pub title: Option<String>,
    /// Its repository on the hub, `OWNER/NAME`.
    #[serde(default)]
    pub hub: Option<String>,
    /// Its files, in their order: in the repository, or beside the declaration where there is no repository. A `*`
    /// stands for any characters, and of names with a `|` between them the first that is there counts.
    #[serde(default)]
    pub files: Vec<String>,
    /// Its licence.
    #[serde(default)]
    pub licence: Option<String>,
    /// How many problems the release has.
    #[serde(default)]
    pub problems: Option<usize>,
    /// What its answers are, where no column says.
    #[serde(default)]
    pub answers: Kind,
    /// Who decides whether an answer is right.
    #[serde(default)]
    pub grading: Grading,
    /// The rules of the symbolic comparison.
    #[serde(default)]
    pub comparison: Comparison,
    /// What follows the problem, instead of the usual instruction; empty for nothing.
    #[serde(default)]
    pub instruction: Option<String>,
    /// The columns; of several names the first that a row has counts.
    #[serde(default)]
    pub columns: Columns,
}

/// What answers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Whole numbers from 0 to 999.
    Integer,
    /// Anything.
    #[default]
    Free,
}

/// Who decides whether an answer is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grading {
    /// The symbolic comparison.
    #[default]
    Rules,
    /// A language model that says yes or no; the symbolic comparison where there is none.
    Judge,
}

/// The rules of the symbolic comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// This project's.
    #[default]
    Aske,
    /// The paper's: math-verify's, and its fall-throughs.
    Paper,
}

impl Comparison {
    /// The rules.
    pub fn rules(self) -> Rules {
        match self {
            Self::Aske => Rules::default(),
            Self::Paper => Rules::Paper,
        }
    }
}

/// Names of columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Columns {
    /// The problem's name; its row's number where no row has it.
    pub id: OneOrMany,
    /// The problem.
    pub problem: OneOrMany,
    /// The reference answer.
    pub answer: OneOrMany,
    /// How hard it is, as a whole number.
    pub level: OneOrMany,
    /// `integer` or `free`.
    pub kind: OneOrMany,
}

impl Default for Columns {
    /// The names that most datasets use.
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
    /// Reads a declaration; `place` is its file.
    pub fn parse(text: &str, place: &str) -> Result<Self, DataError> {
        let declared: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            let hint = "docs/eval.md lists the keys of a declaration";
            DataError::at(format!("{place}:{line}"), error.message().to_owned(), hint)
        })?;
        if !is_valid_name(&declared.name) {
            let what = format!("`{}` is not a usable name", declared.name);
            return Err(DataError::at(place, what, "use letters, digits, `.`, `_` and `-`"));
        }
        if declared.files.is_empty() && declared.name != SHIPPED {
            return Err(DataError::at(place, "no files", "name them: files = [\"problems.jsonl\"]"));
        }
        Ok(declared)
    }

    /// Every declaration that ships, in the order of tables.
    pub fn builtin() -> Result<Vec<Self>, DataError> {
        BUILTIN.iter().map(|(file, text)| Self::parse(text, file)).collect()
    }

    /// The paper's suite of 550 problems.
    pub fn paper() -> Result<Vec<Self>, DataError> {
        BUILTIN[..PAPER].iter().map(|(file, text)| Self::parse(text, file)).collect()
    }

    /// The declaration of a plain file: columns of the usual names, free answers.
    pub fn plain(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: None,
            hub: None,
            files: Vec::new(),
            licence: None,
            problems: None,
            answers: Kind::default(),
            grading: Grading::default(),
            comparison: Comparison::default(),
            instruction: None,
            columns: Columns::default(),
        }
    }

    /// Its name in tables.
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
        assert!(paper.iter().all(|dataset| dataset.comparison == Comparison::Paper));
        let integers = paper.iter().map(|dataset| dataset.answers == Kind::Integer).collect::<Vec<_>>();
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
        assert_eq!(error.place, "my.toml:2");
        assert!(error.what.contains("unknown field `file`"), "{error}");
    }
}
