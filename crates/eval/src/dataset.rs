//! Datasets: problems with their answers, built from checked rows.

use crate::read::{RawRow, json_lines, read};
use crate::{AnswerKind, DataError, Declaration, prompt};
use aske_config::{AnswerComparison, OneOrMany, closest, sanitize_name};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The problems of the built-in dataset.
const LADDER: &str = include_str!("../datasets/ladder.jsonl");

/// Maximum characters of a problem's id.
const MAX_ID_CHARS: usize = 200;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Unique in the dataset.
    pub id: String,
    /// The problem statement.
    pub question: String,
    /// The reference answer.
    pub answer: String,
    /// The kind of answer.
    pub kind: AnswerKind,
    /// Difficulty level, if the dataset has levels.
    pub level: Option<u32>,
}

/// A dataset that has been read.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// What it is.
    pub declaration: Declaration,
    /// Its problems, in order.
    pub problems: Vec<Problem>,
    /// The files it was read from; empty for the built-in one.
    pub files: Vec<PathBuf>,
}

impl Dataset {
    /// The built-in dataset.
    pub fn shipped(declaration: Declaration) -> Result<Self, DataError> {
        let rows = json_lines(LADDER, "ladder.jsonl")?;
        Self::from_rows(declaration, &rows, Vec::new())
    }

    /// A dataset from its files.
    pub fn read(declaration: Declaration, files: Vec<PathBuf>) -> Result<Self, DataError> {
        let mut rows = Vec::new();
        for file in &files {
            let found = read(file)?;
            if found.is_empty() {
                return Err(DataError::new(
                    file.display().to_string(),
                    "no problems",
                    "the file is empty; name one with a row per problem",
                ));
            }
            rows.extend(found);
        }
        Self::from_rows(declaration, &rows, files)
    }

    /// A dataset from rows, each of which must match the declaration.
    pub fn from_rows(
        declaration: Declaration,
        rows: &[RawRow],
        files: Vec<PathBuf>,
    ) -> Result<Self, DataError> {
        if rows.is_empty() {
            let hint = "name a file with a row per problem";
            return Err(DataError::new(declaration.name.clone(), "no problems", hint));
        }
        let mut seen: HashMap<String, &str> = HashMap::new();
        let mut problems = Vec::with_capacity(rows.len());
        // Either all rows have an id or none: a row number could be the id of another row.
        let has_ids = rows.iter().any(|row| field(row, &declaration.columns.id).is_some());
        for (row, number) in rows.iter().zip(1..) {
            let problem = problem(&declaration, row, (!has_ids).then_some(number))?;
            if let Some(first) = seen.insert(problem.id.clone(), &row.location) {
                return Err(DataError::new(
                    &row.location,
                    format!("duplicate id `{}`, first at {first}", problem.id),
                    "give every problem a unique id, or declare another `columns.id`",
                ));
            }
            problems.push(problem);
        }
        Ok(Self { declaration, problems, files })
    }

    /// A hash of the problems, answers, instructions and rules.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        let Declaration { grading, comparison, .. } = &self.declaration;
        // The names under which earlier versions stored the comparisons; each record names the version that graded it.
        let comparison = match comparison {
            AnswerComparison::Aske => "aske-2",
            AnswerComparison::Paper => "paper-2",
        };
        add(&format!("{grading:?} {comparison}"));
        for problem in &self.problems {
            add(&problem.id);
            add(&prompt::user(&self.declaration, problem, None));
            add(&problem.answer);
        }
        let hash = hasher.finalize().to_hex();
        format!("{} of {} problems", &hash[..16], self.problems.len())
    }

    /// Where it was read from, for display.
    pub fn origin(&self) -> String {
        match self.files.as_slice() {
            [] => "shipped".to_owned(),
            [one] => one.display().to_string(),
            [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
        }
    }
}

/// The problem of a row; `number` is its id if no row has one.
fn problem(declaration: &Declaration, row: &RawRow, number: Option<usize>) -> Result<Problem, DataError> {
    let columns = &declaration.columns;
    let id = match number {
        Some(number) => number.to_string(),
        None if field(row, &columns.id).is_none() => {
            let hint = "give every problem an id, or none to number them";
            return Err(DataError::new(&row.location, "no id, and other rows have one", hint));
        }
        None => required(row, "id", &columns.id)?,
    };
    if id.chars().count() > MAX_ID_CHARS || id.chars().any(char::is_control) {
        let hint = format!("an id has at most {MAX_ID_CHARS} characters on one line");
        return Err(DataError::new(&row.location, "invalid id", hint));
    }
    let question = required(row, "problem", &columns.problem)?;
    let answer = required(row, "answer", &columns.answer)?;
    let kind = match field(row, &columns.kind).and_then(text).as_deref() {
        None => declaration.answers,
        Some("integer") => AnswerKind::Integer,
        Some("free") => AnswerKind::Free,
        Some(other) => {
            let what = format!("unknown kind `{}`", truncated(other));
            return Err(DataError::new(&row.location, what, "use `integer` or `free`"));
        }
    };
    let answer = match kind {
        AnswerKind::Free => answer,
        AnswerKind::Integer => integer(&answer).ok_or_else(|| {
            DataError::new(
                &row.location,
                format!("the answer `{}` is not an integer from 0 to 999", truncated(&answer)),
                "fix the row, or declare `answers = \"free\"`",
            )
        })?,
    };
    let level = field(row, &columns.level).and_then(text).and_then(|level| digits(&level));
    Ok(Problem { id, question, answer, kind, level })
}

/// Parses an integer from 0 to 999 without dollar and degree signs: AIME 2025 II has `336^\circ`.
fn integer(answer: &str) -> Option<String> {
    let bare = answer.trim().trim_matches('$').trim();
    let bare = ["^\\circ", "^{\\circ}", "°"].iter().find_map(|sign| bare.strip_suffix(sign)).unwrap_or(bare);
    let number: u32 = bare.trim().parse().ok()?;
    (number <= 999).then(|| number.to_string())
}

/// The value of the first of these columns that a row has.
fn field<'r>(row: &'r RawRow, names: &OneOrMany) -> Option<&'r Value> {
    names.to_vec().iter().find_map(|name| row.fields.get(name))
}

/// The text of a required column.
fn required(row: &RawRow, what: &str, names: &OneOrMany) -> Result<String, DataError> {
    let Some(value) = field(row, names) else {
        let names = names.to_vec();
        let there: Vec<&str> = row.fields.keys().map(String::as_str).collect();
        let likely = names.iter().find_map(|name| closest(name, there.iter().copied()));
        let declare = format!("declare `columns.{what}` in a .toml file");
        let hint = match likely {
            Some(likely) => format!("is it `{likely}`? Then {declare}"),
            None if there.is_empty() => "the row is empty; fix or remove it".to_owned(),
            None => format!("there are {}; {declare}", truncated(&there.join(", "))),
        };
        let what = format!("no column `{}` for the {what}", names.join("` or `"));
        return Err(DataError::new(&row.location, what, hint));
    };
    match text(value).map(|text| text.trim().to_owned()) {
        Some(text) if !text.is_empty() => Ok(text),
        _ => Err(DataError::new(&row.location, format!("empty {what}"), "fix or remove the row")),
    }
}

/// A value as text; lists are joined by commas.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(values) => {
            let texts: Vec<String> = values.iter().filter_map(text).collect();
            (!texts.is_empty()).then(|| texts.join(", "))
        }
        _ => None,
    }
}

/// The number in `3` or `Level 3`.
fn digits(level: &str) -> Option<u32> {
    level.trim_start_matches(|c: char| !c.is_ascii_digit()).trim().parse().ok()
}

/// The start of a text, on one line.
fn truncated(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(80).collect();
    if text.chars().count() > 80 { format!("{line}…") } else { line }
}

/// The name of a dataset, from its file name.
pub(crate) fn name_of(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    sanitize_name(&stem, "data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_may_have_dollars_and_degrees() {
        for (text, number) in
            [("7", "7"), ("007", "7"), ("$336^\\circ$", "336"), ("336^{\\circ}", "336"), ("45°", "45")]
        {
            assert_eq!(integer(text).as_deref(), Some(number), "{text}");
        }
        for text in ["1000", "-1", "", "3.5", "\\circ", "12 cm"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }
}
