//! A rollout of our own environment: its record and its grade are taken over as they are.

use crate::fields;
use crate::names::Names;
use aske_record::{GradeLine, Record, SCHEMA, SessionRecord};
use serde::Deserialize;
use serde_json::Value;

/// What our environment writes into a rollout's `info` under the name `aske`.
#[derive(Debug)]
pub(crate) struct Ours {
    pub(crate) record: SessionRecord,
    pub(crate) grade: Option<GradeLine>,
}

/// Reads what our environment has written; none where the rollout is another's.
pub(crate) fn read(fields: &Value) -> Option<Result<Ours, String>> {
    let aske = fields::ours(fields)?;
    let record = record(aske.get("record").unwrap_or(&Value::Null));
    let grade = Option::<GradeLine>::deserialize(aske.get("grade").unwrap_or(&Value::Null));
    let wrong = |part: &str, error: serde_json::Error| format!("info.aske.{part}: {error}");
    let both = record.map_err(|error| wrong("record", error)).and_then(|record| {
        let grade = grade.map_err(|error| wrong("grade", error))?;
        fits(&record, grade.as_ref()).map(|()| Ours { record, grade })
    });
    Some(both)
}

/// A record as in `records.jsonl`, with its kind or without.
fn record(value: &Value) -> Result<SessionRecord, serde_json::Error> {
    if value.get("kind").is_none() {
        return SessionRecord::deserialize(value);
    }
    match Record::deserialize(value)? {
        Record::Session(session) => Ok(session),
        _ => Err(serde::de::Error::custom("not a session")),
    }
}

fn fits(record: &SessionRecord, grade: Option<&GradeLine>) -> Result<(), String> {
    let schema = grade.map_or(record.schema, |grade| grade.schema.max(record.schema));
    if schema != SCHEMA {
        return Err(format!("info.aske is in format {schema}; this is format {SCHEMA}"));
    }
    if grade.is_some_and(|grade| grade.record != record.id().to_string()) {
        return Err("info.aske.grade is another record's".to_owned());
    }
    let [one, two] = &record.solvers;
    let pair = record.pair.both();
    if pair != [one.as_str(), two] && pair != [two.as_str(), one] {
        return Err("info.aske.record: the pair is not that of its solvers".to_owned());
    }
    let unusable = |name: &&String| name.is_empty() || Names::default().of(name) != **name;
    match [&record.asker, one, two].into_iter().find(unusable) {
        Some(name) => Err(format!("info.aske.record: `{name}` is not a usable name of a model")),
        None => Ok(()),
    }
}
