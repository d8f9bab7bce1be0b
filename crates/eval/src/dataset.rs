//! Problems with their answers, made of rows that have been checked.

use crate::read::{Row, json_lines, read};
use crate::{DataError, Declaration, Kind, prompt};
use aske_config::{OneOrMany, closest, sanitize_name};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The problems that ship.
const LADDER: &str = include_str!("../datasets/ladder.jsonl");

/// The longest name of a problem.
const LONGEST_ID: usize = 200;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its name, unique in the dataset.
    pub id: String,
    /// The problem as the dataset has it.
    pub question: String,
    /// The reference answer.
    pub answer: String,
    /// What the answer is.
    pub kind: Kind,
    /// How hard the dataset says it is.
    pub level: Option<u32>,
}

/// A dataset that has been read.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// What it is.
    pub declaration: Declaration,
    /// Its problems, in order.
    pub problems: Vec<Problem>,
    /// The files it was read from; none for one that ships.
    pub files: Vec<PathBuf>,
}

impl Dataset {
    /// The dataset that ships.
    pub fn shipped(declaration: Declaration) -> Result<Self, DataError> {
        let rows = json_lines(LADDER, "ladder.jsonl")?;
        Self::of(declaration, &rows, Vec::new())
    }

    /// A dataset from its files.
    pub fn read(declaration: Declaration, files: Vec<PathBuf>) -> Result<Self, DataError> {
        let mut rows = Vec::new();
        for file in &files {
            let found = read(file)?;
            if found.is_empty() {
                return Err(DataError::at(
                    file.display().to_string(),
                    "no problems",
                    "the file is empty; name one with a row for each problem",
                ));
            }
            rows.extend(found);
        }
        Self::of(declaration, &rows, files)
    }

    /// A dataset of rows; each must have what the declaration says.
    pub fn of(declaration: Declaration, rows: &[Row], files: Vec<PathBuf>) -> Result<Self, DataError> {
        if rows.is_empty() {
            let hint = "name a file with a row for each problem";
            return Err(DataError::at(declaration.name.clone(), "no problems", hint));
        }
        let mut seen: HashMap<String, &str> = HashMap::new();
        let mut problems = Vec::with_capacity(rows.len());
        // Either every row is named, or none is: a number may be another row's name.
        let named = rows.iter().any(|row| field(row, &declaration.columns.id).is_some());
        for (row, number) in rows.iter().zip(1..) {
            let problem = problem(&declaration, row, (!named).then_some(number))?;
            if let Some(first) = seen.insert(problem.id.clone(), &row.place) {
                return Err(DataError::at(
                    &row.place,
                    format!("duplicate id `{}`, first at {first}", problem.id),
                    "give every problem a name of its own, or declare another `columns.id`",
                ));
            }
            problems.push(problem);
        }
        Ok(Self { declaration, problems, files })
    }

    /// A text that changes whenever problems, answers, instructions or rules do.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        let Declaration { grading, comparison, .. } = &self.declaration;
        add(&format!("{grading:?} {}", comparison.rules().name()));
        for problem in &self.problems {
            add(&problem.id);
            add(&prompt::user(&self.declaration, problem, None));
            add(&problem.answer);
        }
        let hash = hasher.finalize().to_hex();
        format!("{} of {} problems", &hash[..16], self.problems.len())
    }

    /// Where it was found.
    pub fn origin(&self) -> String {
        match self.files.as_slice() {
            [] => "shipped".to_owned(),
            [one] => one.display().to_string(),
            [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
        }
    }
}

/// The problem of a row; `number` names it where no row has a name.
fn problem(declaration: &Declaration, row: &Row, number: Option<usize>) -> Result<Problem, DataError> {
    let columns = &declaration.columns;
    let id = match number {
        Some(number) => number.to_string(),
        None if field(row, &columns.id).is_none() => {
            let hint = "give every problem a name, or none: then rows have their numbers";
            return Err(DataError::at(&row.place, "no id, and other rows have one", hint));
        }
        None => required(row, "id", &columns.id)?,
    };
    if id.chars().count() > LONGEST_ID || id.chars().any(char::is_control) {
        let hint = format!("a name has at most {LONGEST_ID} characters on one line");
        return Err(DataError::at(&row.place, "unusable id", hint));
    }
    let question = required(row, "problem", &columns.problem)?;
    let answer = required(row, "answer", &columns.answer)?;
    let kind = match field(row, &columns.kind).and_then(text).as_deref() {
        None => declaration.answers,
        Some("integer") => Kind::Integer,
        Some("free") => Kind::Free,
        Some(other) => {
            let what = format!("unknown kind `{}`", shortened(other));
            return Err(DataError::at(&row.place, what, "`integer` or `free`"));
        }
    };
    let answer = match kind {
        Kind::Free => answer,
        Kind::Integer => whole(&answer).ok_or_else(|| {
            DataError::at(
                &row.place,
                format!("the answer `{}` is no whole number from 0 to 999", shortened(&answer)),
                "mend the row, or declare `answers = \"free\"`",
            )
        })?,
    };
    let level = field(row, &columns.level).and_then(text).and_then(|level| digits(&level));
    Ok(Problem { id, question, answer, kind, level })
}

/// The number of an answer from 0 to 999, without dollars and a sign for degrees: AIME 2025 II has `336^\circ`.
fn whole(answer: &str) -> Option<String> {
    let bare = answer.trim().trim_matches('$').trim();
    let bare = ["^\\circ", "^{\\circ}", "°"].iter().find_map(|sign| bare.strip_suffix(sign)).unwrap_or(bare);
    let number: u32 = bare.trim().parse().ok()?;
    (number <= 999).then(|| number.to_string())
}

/// The first of these columns that a row has.
fn field<'r>(row: &'r Row, names: &OneOrMany) -> Option<&'r Value> {
    names.to_vec().iter().find_map(|name| row.fields.get(name))
}

/// A text that must be there.
fn required(row: &Row, what: &str, names: &OneOrMany) -> Result<String, DataError> {
    let Some(value) = field(row, names) else {
        let names = names.to_vec();
        let there: Vec<&str> = row.fields.keys().map(String::as_str).collect();
        let likely = names.iter().find_map(|name| closest(name, there.iter().copied()));
        let declare = format!("declare `columns.{what}` in a .toml file");
        let hint = match likely {
            Some(likely) => format!("is it `{likely}`? Then {declare}"),
            None if there.is_empty() => "the row is empty; mend it or take it out".to_owned(),
            None => format!("there are {}; {declare}", shortened(&there.join(", "))),
        };
        let what = format!("no column `{}` for the {what}", names.join("` or `"));
        return Err(DataError::at(&row.place, what, hint));
    };
    match text(value).map(|text| text.trim().to_owned()) {
        Some(text) if !text.is_empty() => Ok(text),
        _ => Err(DataError::at(&row.place, format!("empty {what}"), "mend the row or take it out")),
    }
}

/// A value as a text; several answers are all of them.
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

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(80).collect();
    if text.chars().count() > 80 { format!("{line}…") } else { line }
}

/// The name of a dataset by its file.
pub(crate) fn name_of(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    sanitize_name(&stem, "data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_may_have_dollars_and_degrees() {
        for (text, number) in
            [("7", "7"), ("007", "7"), ("$336^\\circ$", "336"), ("336^{\\circ}", "336"), ("45°", "45")]
        {
            assert_eq!(whole(text).as_deref(), Some(number), "{text}");
        }
        for text in ["1000", "-1", "", "3.5", "\\circ", "12 cm"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
