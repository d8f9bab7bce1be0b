//! Rows of a file, whatever its format: each a set of named values, and where it stands.

mod csv;
mod jsonl;
mod parquet;

use crate::DataError;
use serde_json::{Map, Value};
use std::path::Path;

/// A file larger than this is no benchmark.
const MOST_BYTES: u64 = 512 << 20;

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The file and the line or row, for errors.
    pub place: String,
    /// Its values by column.
    pub fields: Map<String, Value>,
}

/// Reads every row of a file; its ending tells the format.
pub fn read(path: &Path) -> Result<Vec<Row>, DataError> {
    let shown = path.display().to_string();
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let length = std::fs::metadata(path).map_err(|error| DataError::io(path, &error))?.len();
    if length > MOST_BYTES {
        let what = format!("{} MB are too many for a benchmark", length >> 20);
        return Err(DataError::at(shown, what, "name a file of problems and answers alone"));
    }
    match ending.as_str() {
        "parquet" => parquet::rows(path),
        "jsonl" | "ndjson" => jsonl::rows(&text(path)?, &shown),
        "csv" => csv::rows(&text(path)?, &shown),
        _ => Err(DataError::at(
            shown,
            "no known ending",
            "a dataset is a .jsonl, .csv or .parquet file, or a .toml that declares one",
        )),
    }
}

/// The rows of a text of JSON lines; `name` is what errors call it.
pub(crate) fn json_lines(text: &str, name: &str) -> Result<Vec<Row>, DataError> {
    jsonl::rows(text, name)
}

fn text(path: &Path) -> Result<String, DataError> {
    let bytes = std::fs::read(path).map_err(|error| DataError::io(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let whole = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = String::from_utf8_lossy(whole).matches('\n').count() + 1;
        DataError::at(format!("{}:{line}", path.display()), "not UTF-8", "save the file as UTF-8")
    })
}
