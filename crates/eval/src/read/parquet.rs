//! Apache Parquet, as the hub keeps most datasets.

use super::Row;
use crate::DataError;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value};
use std::fs::File;
use std::path::Path;

pub(super) fn rows(path: &Path) -> Result<Vec<Row>, DataError> {
    let shown = path.display();
    let wrong = |place: String| {
        move |error: ParquetError| {
            DataError::at(
                place,
                format!("malformed row: {}", said(&error)),
                "download the file again, or convert it to .jsonl",
            )
        }
    };
    let file = File::open(path).map_err(|error| DataError::io(path, &error))?;
    let reader = SerializedFileReader::new(file).map_err(|error| {
        DataError::at(
            shown.to_string(),
            format!("not a Parquet file: {}", said(&error)),
            "download it again, or check its ending",
        )
    })?;
    let found = reader.get_row_iter(None).map_err(wrong(shown.to_string()))?;
    found
        .zip(1..)
        .map(|(row, number)| {
            let place = format!("{shown}, row {number}");
            let row = row.map_err(wrong(place.clone()))?;
            let values = row.get_column_iter().map(|(name, field)| (name.clone(), value(field)));
            Ok(Row { place, fields: values.collect::<Map<_, _>>() })
        })
        .collect()
}

/// What the library said, without its name.
fn said(error: &ParquetError) -> String {
    let text = error.to_string();
    text.strip_prefix("Parquet error: ").map(str::to_owned).unwrap_or(text)
}

/// What can be a name, a problem, an answer or a level; all else is nothing.
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
