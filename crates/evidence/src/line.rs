//! Parses a line of `records.jsonl` without copying texts that are not needed.

use aske_chat::Finish;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A string that borrows from its line if it has no escapes.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Text<'l>(#[serde(borrow)] pub(crate) Cow<'l, str>);

/// A line of `records.jsonl`; for records other than sessions only the kind is parsed.
#[derive(Debug, Deserialize)]
pub(crate) struct Line<'l> {
    #[serde(borrow)]
    pub(crate) kind: Text<'l>,
    #[serde(borrow, default)]
    pub(crate) pair: Text<'l>,
    #[serde(default)]
    pub(crate) sample: u32,
    #[serde(borrow, default)]
    pub(crate) asker: Text<'l>,
    #[serde(borrow, default)]
    pub(crate) solvers: [Text<'l>; 2],
    #[serde(borrow, default)]
    pub(crate) turns: Vec<LineTurn<'l>>,
    #[serde(borrow, default)]
    pub(crate) check: Vec<Option<Text<'l>>>,
}

/// One asker turn; its texts are parsed on demand.
#[derive(Debug, Deserialize)]
pub(crate) struct LineTurn<'l> {
    #[serde(borrow)]
    pub(crate) question: Option<&'l RawValue>,
    #[serde(default)]
    pub(crate) cut: bool,
    #[serde(default, rename = "trouble")]
    pub(crate) error: Option<aske_session::TurnError>,
    #[serde(borrow, default)]
    pub(crate) solved: Option<[LineSolved<'l>; 2]>,
}

/// A solver's answer.
#[derive(Debug, Deserialize)]
pub(crate) struct LineSolved<'l> {
    #[serde(borrow)]
    pub(crate) answer: Option<&'l RawValue>,
    pub(crate) finish: Finish,
}

/// The string of a value.
pub(crate) fn text(value: &RawValue) -> Cow<'_, str> {
    serde_json::from_str::<Text<'_>>(value.get()).map(|text| text.0).unwrap_or_default()
}
