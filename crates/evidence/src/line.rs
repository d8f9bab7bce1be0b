//! Parses a line of `records.jsonl` without copying texts that are not needed.

use aske_chat::Finish;
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A string that borrows from its line where it has no escapes.
#[derive(Debug, Default)]
pub(crate) struct Text<'l>(pub(crate) Cow<'l, str>);

impl<'de: 'l, 'l> Deserialize<'de> for Text<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

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
    #[serde(default)]
    pub(crate) trouble: Option<aske_session::TurnError>,
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
