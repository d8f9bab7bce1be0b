//! Index of `records.jsonl` by record name.

use crate::{LineSpan, Record, RunError, read_line_at};
use aske_chat::plain_parse_error;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The positions of the records in the file.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    spans: HashMap<Box<str>, LineSpan>,
    /// The offset of the next record.
    pub(crate) end: u64,
}

impl Index {
    /// Reads the index of a folder. Of two records of one name, the later one counts.
    pub fn read(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join("records.jsonl");
        let name = |line: &[u8], span| parse(line).map(|record| (record.id().into_boxed_str(), span));
        let mut spans = HashMap::new();
        let end = crate::scan::for_each_line(&path, 0, name, |(name, span)| {
            spans.insert(name, span);
            Ok(())
        })?;
        Ok(Self { path, spans, end })
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Whether there is a record of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.spans.contains_key(name)
    }

    /// The position of the record of this name.
    pub(crate) fn span(&self, name: &str) -> Option<LineSpan> {
        self.spans.get(name).copied()
    }

    /// The names of all records, in arbitrary order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.spans.keys().map(AsRef::as_ref)
    }

    /// The record of this name.
    pub fn record(&self, name: &str) -> Result<Option<Record>, RunError> {
        let Some(span) = self.spans.get(name) else { return Ok(None) };
        let bytes = read_line_at(&self.path, *span)?;
        parse(&bytes).map(Some).map_err(|what| RunError::Line { path: self.path.clone(), line: 0, what })
    }

    /// All records, in the order of the file.
    pub(crate) fn records(&self) -> Result<Vec<Record>, RunError> {
        let mut records = Vec::with_capacity(self.len());
        let read = |line: &[u8], span: LineSpan| Ok((parse(line)?, span));
        crate::scan::for_each_line(&self.path, 0, read, |(record, span)| {
            if span.offset < self.end && self.spans.get(record.id().as_str()) == Some(&span) {
                records.push(record);
            }
            Ok(())
        })?;
        Ok(records)
    }
}

fn parse(line: &[u8]) -> Result<Record, String> {
    serde_json::from_slice(line).map_err(plain_parse_error)
}
