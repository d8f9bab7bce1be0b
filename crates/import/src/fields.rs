//! Where the fields of a session are found in a rollout.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// A field that `--map` can locate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The asker.
    Asker,
    /// The name of Model 1.
    One,
    /// The name of Model 2.
    Two,
    /// The index among the samples of the pair, from 0.
    Sample,
    /// Model 1's answer to the final question, or the reply with it.
    AnswerOne,
    /// Model 2's.
    AnswerTwo,
    /// The cross-check answer, or a list of them.
    Check,
    /// The outcome: its name, or the calibration reward of the paper.
    Outcome,
    /// Whether Model 1 and Model 2 are right: a list of two booleans.
    Right,
}

/// Every field in order, its name in `--map`, and the names that are searched unless it is mapped.
const FIELDS: [(Field, &str, &[&str]); 9] = [
    (Field::Asker, "asker", &["asker"]),
    (Field::One, "one", &["boundary_a", "model_1", "solver_1"]),
    (Field::Two, "two", &["boundary_b", "model_2", "solver_2"]),
    (Field::Sample, "sample", &["sample", "sample_idx"]),
    (Field::AnswerOne, "answer_one", &["boundary_a_final_answer", "final_answer_1"]),
    (Field::AnswerTwo, "answer_two", &["boundary_b_final_answer", "final_answer_2"]),
    (Field::Check, "check", &["cross_check_answers", "cross_check_answer"]),
    (Field::Outcome, "outcome", &["outcome", "calibration_reward"]),
    (Field::Right, "right", &["right"]),
];

impl Field {
    /// Its name in `--map`.
    pub fn as_str(self) -> &'static str {
        FIELDS[self as usize].1
    }
}

/// Prefixes of the default names: the rollout's info, its task, its metrics, the line itself.
const PREFIXES: [&str; 5] = ["info.", "task.data.info.", "task.data.", "metrics.", ""];

/// A mapping `field=path.to.value` given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    key: Field,
    path: String,
}

/// An invalid mapping.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a mapping; write KEY=PATH such as outcome=info.verdict, where KEY is one of {keys}",
    keys = FIELDS.map(|(_, name, _)| name).join(", "))]
pub struct MappingError(String);

impl FromStr for Mapping {
    type Err = MappingError;
    fn from_str(text: &str) -> Result<Self, MappingError> {
        let bad = || MappingError(text.to_owned());
        let (key, path) = text.split_once('=').ok_or_else(bad)?;
        let (key, ..) = FIELDS.into_iter().find(|(_, name, _)| *name == key.trim()).ok_or_else(bad)?;
        let path = path.trim().to_owned();
        if path.split('.').any(str::is_empty) { Err(bad()) } else { Ok(Self { key, path }) }
    }
}

/// The paths at which each field is searched, in order.
#[derive(Clone, Debug)]
pub struct FieldMap {
    paths: BTreeMap<Field, Vec<String>>,
    named: BTreeSet<Field>,
}

impl Default for FieldMap {
    fn default() -> Self {
        let paths = |names: &[&str]| {
            names.iter().flat_map(|name| PREFIXES.map(|place| format!("{place}{name}"))).collect()
        };
        let paths = FIELDS.into_iter().map(|(key, _, names)| (key, paths(names)));
        Self { paths: paths.collect(), named: BTreeSet::new() }
    }
}

impl FieldMap {
    /// Adds a path for a field; the first one replaces the default paths.
    pub fn set(&mut self, mapping: Mapping) {
        let paths = self.paths.entry(mapping.key).or_default();
        if self.named.insert(mapping.key) {
            paths.clear();
        }
        paths.push(mapping.path);
    }

    /// The paths of a field.
    pub fn paths(&self, key: Field) -> &[String] {
        self.paths.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The mapped fields that this rollout does not have.
    pub(crate) fn absent(&self, fields: &Value) -> BTreeSet<Field> {
        let there = |key: &Field| self.paths(*key).iter().any(|path| at(fields, path).is_some());
        self.named.iter().copied().filter(|key| !there(key)).collect()
    }

    /// The first value at a field's paths that `read` can read.
    pub(crate) fn find<T>(
        &self,
        fields: &Value,
        key: Field,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        self.paths(key).iter().find_map(|path| read(at(fields, path)?))
    }
}

/// The value at a path; a number is an index into a list.
fn at<'v>(fields: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(fields, |value, step| match value {
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

/// The data that our own environment stores in a rollout.
pub(crate) fn aske_data(fields: &Value) -> Option<&Value> {
    at(fields, "info.aske.record").and(at(fields, "info.aske"))
}

/// A non-empty name.
pub(crate) fn name(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_is_found_under_its_usual_names_or_where_the_user_says() {
        let fields = json!({"info": {"outcome": "a", "deep": [{"er": "b"}]}, "metrics": {"outcome": "c"}});
        let mut map = FieldMap::default();
        let found = |map: &FieldMap| map.find(&fields, Field::Outcome, name);
        assert_eq!(found(&map).as_deref(), Some("a"));
        map.set("outcome=info.deep.0.er".parse().unwrap());
        assert_eq!(found(&map).as_deref(), Some("b"));
        map.set("outcome=metrics.outcome".parse().unwrap());
        assert_eq!((found(&map).as_deref(), map.paths(Field::Outcome).len()), (Some("b"), 2));
    }

    #[test]
    fn a_mapping_of_nothing_says_what_could_be_mapped() {
        for bad in ["outcome", "verdict=info.x", "outcome=", "outcome=info..x"] {
            let error = bad.parse::<Mapping>().unwrap_err().to_string();
            assert!(error.contains("asker, one, two, sample, answer_one"), "{error}");
        }
    }
}
