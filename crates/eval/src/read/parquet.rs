//! Apache Parquet, the format of most datasets on the hub.

use super::RawRow;
use crate::DataError;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value};
use std::fs::File;
use std::path::Path;

pub(super) fn rows(path: &Path) -> Result<Vec<RawRow>, DataError> {
    let shown = path.display();
    let wrong = |location: String| {
        move |error: ParquetError| {
            DataError::new(
                location,
                format!("malformed row: {}", message(&error)),
                "download the file again, or convert it to .jsonl",
            )
        }
    };
    let file = File::open(path).map_err(|error| DataError::io(path, &error))?;
    let reader = SerializedFileReader::new(file).map_err(|error| {
        DataError::new(
            shown.to_string(),
            format!("not a Parquet file: {}", message(&error)),
            "download it again, or check its extension",
        )
    })?;
    let found = reader.get_row_iter(None).map_err(wrong(shown.to_string()))?;
    found
        .zip(1..)
        .map(|(row, number)| {
            let location = format!("{shown}, row {number}");
            let row = row.map_err(wrong(location.clone()))?;
            let values = row.get_column_iter().map(|(name, field)| (name.clone(), value(field)));
            Ok(RawRow { location, fields: values.collect::<Map<_, _>>() })
        })
        .collect()
}

/// The message of the library without its prefix.
fn message(error: &ParquetError) -> String {
    let text = error.to_string();
    text.strip_prefix("Parquet error: ").map(str::to_owned).unwrap_or(text)
}

/// A value as JSON; types that cannot be a name, problem, answer or level are null.
fn value(field: &Field) -> Value {
    match field {
        Field::Bool(flag) => Value::from(*flag),
        Field::Byte(number) => Value::from(*number),
        Field::Short(number) => Value::from(*number),
        Field::Int(number) => Value::from(*number),
        Field::Long(number) => Value::from(*number),
        Field::UByte(number) => Value::from(*number),
        Field::UShort(number) => Value::from(*number),
        Field::UInt(number) => Value::from(*number),
        Field::ULong(number) => Value::from(*number),
        Field::Float(number) => Value::from(*number),
        Field::Double(number) => Value::from(*number),
        Field::Str(text) => Value::from(text.as_str()),
        Field::ListInternal(list) => Value::Array(list.elements().iter().map(value).collect()),
        _ => Value::Null,
    }
}
