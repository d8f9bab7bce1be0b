//! Where in a rollout's fields the rest of a session is found.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// What may stand in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// Who asked.
    Asker,
    /// Who Model 1 was.
    One,
    /// Who Model 2 was.
    Two,
    /// Which of the pair's samples it is, counted from 0.
    Sample,
    /// Model 1's answer to the final question, or the reply that gives it.
    AnswerOne,
    /// Model 2's.
    AnswerTwo,
    /// The cross-check answer, or a list of them.
    Check,
    /// The outcome: its name, or the calibration reward of the paper.
    Outcome,
    /// Whether Model 1 and Model 2 were right: a list of two truth values.
    Right,
}

impl Key {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Asker,
        Self::One,
        Self::Two,
        Self::Sample,
        Self::AnswerOne,
        Self::AnswerTwo,
        Self::Check,
        Self::Outcome,
        Self::Right,
    ];

    /// Its name in `--map`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asker => "asker",
            Self::One => "one",
            Self::Two => "two",
            Self::Sample => "sample",
            Self::AnswerOne => "answer_one",
            Self::AnswerTwo => "answer_two",
            Self::Check => "check",
            Self::Outcome => "outcome",
            Self::Right => "right",
        }
    }

    /// Names under which it is looked for where nothing else is said.
    fn usual(self) -> &'static [&'static str] {
        match self {
            Self::Asker => &["asker"],
            Self::One => &["boundary_a", "model_1", "solver_1"],
            Self::Two => &["boundary_b", "model_2", "solver_2"],
            Self::Sample => &["sample", "sample_idx"],
            Self::AnswerOne => &["boundary_a_final_answer", "final_answer_1"],
            Self::AnswerTwo => &["boundary_b_final_answer", "final_answer_2"],
            Self::Check => &["cross_check_answers", "cross_check_answer"],
            Self::Outcome => &["outcome", "calibration_reward"],
            Self::Right => &["right"],
        }
    }
}

/// Where the usual names are looked for: the rollout's own notes, its task, its metrics, its line.
const PLACES: [&str; 5] = ["info.", "task.data.info.", "task.data.", "metrics.", ""];

/// One field that the user has named, written `key=path.to.field`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    key: Key,
    path: String,
}

/// A text that maps nothing.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` maps nothing; write KEY=PATH such as outcome=info.verdict, where KEY is one of {keys}",
    keys = Key::ALL.map(Key::as_str).join(", "))]
pub struct BadMapping(String);

impl FromStr for Mapping {
    type Err = BadMapping;
    fn from_str(text: &str) -> Result<Self, BadMapping> {
        let bad = || BadMapping(text.to_owned());
        let (key, path) = text.split_once('=').ok_or_else(bad)?;
        let key = Key::ALL.into_iter().find(|known| known.as_str() == key.trim()).ok_or_else(bad)?;
        let path = path.trim().to_owned();
        if path.split('.').any(str::is_empty) { Err(bad()) } else { Ok(Self { key, path }) }
    }
}

/// Where each key is looked for; the first path that is there counts.
#[derive(Clone, Debug)]
pub struct Map {
    paths: BTreeMap<Key, Vec<String>>,
    named: BTreeSet<Key>,
}

impl Default for Map {
    fn default() -> Self {
        let paths = |key: Key| {
            let named = key.usual().iter();
            named.flat_map(|name| PLACES.map(|place| format!("{place}{name}"))).collect()
        };
        Self { paths: Key::ALL.into_iter().map(|key| (key, paths(key))).collect(), named: BTreeSet::new() }
    }
}

impl Map {
    /// Looks for a key where the user says, and nowhere else but where the user says too.
    pub fn set(&mut self, mapping: Mapping) {
        let paths = self.paths.entry(mapping.key).or_default();
        if self.named.insert(mapping.key) {
            paths.clear();
        }
        paths.push(mapping.path);
    }

    /// The paths of a key.
    pub fn paths(&self, key: Key) -> &[String] {
        self.paths.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The keys that the user has named and that are nowhere among these fields.
    pub(crate) fn absent(&self, fields: &Value) -> BTreeSet<Key> {
        let there = |key: &Key| self.paths(*key).iter().any(|path| at(fields, path).is_some());
        self.named.iter().copied().filter(|key| !there(key)).collect()
    }

    /// The first of a key's fields that `read` can read.
    pub(crate) fn find<T>(&self, fields: &Value, key: Key, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        self.paths(key).iter().find_map(|path| read(at(fields, path)?))
    }
}

/// The field at a path; a number is a place in a list.
fn at<'v>(fields: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(fields, |value, step| match value {
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

/// What our own environment has written down.
pub(crate) fn ours(fields: &Value) -> Option<&Value> {
    at(fields, "info.aske.record").and(at(fields, "info.aske"))
}

/// A name.
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
        let mut map = Map::default();
        let found = |map: &Map| map.find(&fields, Key::Outcome, name);
        assert_eq!(found(&map).as_deref(), Some("a"));
        map.set("outcome=info.deep.0.er".parse().unwrap());
        assert_eq!(found(&map).as_deref(), Some("b"));
        map.set("outcome=metrics.outcome".parse().unwrap());
        assert_eq!((found(&map).as_deref(), map.paths(Key::Outcome).len()), (Some("b"), 2));
    }

    #[test]
    fn a_mapping_of_nothing_says_what_could_be_mapped() {
        for bad in ["outcome", "verdict=info.x", "outcome=", "outcome=info..x"] {
            let error = bad.parse::<Mapping>().unwrap_err().to_string();
            assert!(error.contains("asker, one, two, sample, answer_one"), "{error}");
        }
    }
}
