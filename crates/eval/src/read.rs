//! Reads the rows of .jsonl, .csv and .parquet files.

mod csv;
mod jsonl;
mod parquet;

use crate::DataError;
pub(crate) use jsonl::rows as json_lines;
use serde_json::{Map, Value};
use std::path::Path;

/// Larger files are rejected.
const MAX_BYTES: u64 = 512 << 20;

/// A row before it is checked: named values and where they were read.
#[derive(Clone, Debug, PartialEq)]
pub struct RawRow {
    /// The file and the line or row, for errors.
    pub location: String,
    /// Values by column.
    pub fields: Map<String, Value>,
}

/// Reads every row of a file; the extension determines the format.
pub fn read(path: &Path) -> Result<Vec<RawRow>, DataError> {
    let shown = path.display().to_string();
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let length = std::fs::metadata(path).map_err(|error| DataError::io(path, &error))?.len();
    if length > MAX_BYTES {
        let what = format!("{} MB is too large for a benchmark", length >> 20);
        return Err(DataError::new(shown, what, "name a file with problems and answers only"));
    }
    match ending.as_str() {
        "parquet" => parquet::rows(path),
        "jsonl" | "ndjson" => jsonl::rows(&text(path)?, &shown),
        "csv" => csv::rows(&text(path)?, &shown),
        _ => Err(DataError::new(
            shown,
            "unknown file extension",
            "a dataset is a .jsonl, .csv or .parquet file, or a .toml that declares one",
        )),
    }
}

fn text(path: &Path) -> Result<String, DataError> {
    let bytes = std::fs::read(path).map_err(|error| DataError::io(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let whole = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = String::from_utf8_lossy(whole).matches('\n').count() + 1;
        DataError::new(format!("{}:{line}", path.display()), "not UTF-8", "save the file as UTF-8")
    })
}
