//! Rollouts of our own environment, whose records and grades are imported as they are.

use crate::fields;
use crate::names::ModelNames;
use aske_chat::plain_parse_error;
use aske_record::{GradeLine, Record, SCHEMA, SessionRecord};
use serde::Deserialize;
use serde_json::Value;

/// The value of `info.aske` in a rollout.
#[derive(Debug)]
pub(crate) struct OwnRollout {
    pub(crate) record: SessionRecord,
    pub(crate) grade: Option<GradeLine>,
}

/// Reads a rollout of our own environment; `None` for any other.
pub(crate) fn read(fields: &Value) -> Option<Result<OwnRollout, String>> {
    let aske = fields::aske_data(fields)?;
    let record = record(aske.get("record").unwrap_or(&Value::Null));
    let grade = Option::<GradeLine>::deserialize(aske.get("grade").unwrap_or(&Value::Null));
    let wrong =
        |part: &str, error: serde_json::Error| format!("info.aske.{part}: {}", plain_parse_error(error));
    let both = record.map_err(|error| wrong("record", error)).and_then(|record| {
        let grade = grade.map_err(|error| wrong("grade", error))?;
        fits(&record, grade.as_ref()).map(|()| OwnRollout { record, grade })
    });
    Some(both)
}

/// A record as in `records.jsonl`, with or without its kind.
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
        return Err(format!("info.aske has format {schema}, but format {SCHEMA} is required"));
    }
    if grade.is_some_and(|grade| grade.record != record.id().to_string()) {
        return Err("info.aske.grade belongs to another record".to_owned());
    }
    let [one, two] = &record.solvers;
    let pair = record.pair.both();
    if pair != [one.as_str(), two] && pair != [two.as_str(), one] {
        return Err("info.aske.record: pair and solvers differ".to_owned());
    }
    let unusable = |name: &&String| name.is_empty() || ModelNames::default().of(name) != **name;
    match [&record.asker, one, two].into_iter().find(unusable) {
        Some(name) => Err(format!("info.aske.record: `{name}` is not a valid model name")),
        None => Ok(()),
    }
}
