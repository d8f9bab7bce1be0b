//! Tables as Arrow columns, from which every format is written.

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Named columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<(&'static str, ArrayRef)>,
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// A row as a JSON object.
    pub fn row(&self, row: usize) -> Map<String, Value> {
        self.columns.iter().map(|(name, column)| ((*name).to_owned(), value(column, row))).collect()
    }

    /// The table as an Arrow record batch.
    pub fn batch(&self) -> Result<RecordBatch, ArrowError> {
        let columns = self.columns.iter().map(|(name, column)| (*name, Arc::clone(column), true));
        RecordBatch::try_from_iter_with_nullable(columns)
    }

    /// Adds a column of strings.
    pub fn text<T: AsRef<str>>(&mut self, name: &'static str, values: impl Iterator<Item = Option<T>>) {
        self.columns.push((name, Arc::new(values.collect::<StringArray>())));
    }

    /// Adds a column of integers.
    pub fn whole(&mut self, name: &'static str, values: impl Iterator<Item = Option<u64>>) {
        let whole = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
        self.columns.push((name, Arc::new(values.map(whole).collect::<Int64Array>())));
    }

    /// Adds a column of floats.
    pub fn number(&mut self, name: &'static str, values: impl Iterator<Item = Option<f64>>) {
        self.columns.push((name, Arc::new(values.collect::<Float64Array>())));
    }

    /// Adds a column of booleans.
    pub fn flag(&mut self, name: &'static str, values: impl Iterator<Item = Option<bool>>) {
        self.columns.push((name, Arc::new(values.collect::<BooleanArray>())));
    }

    /// Adds a column of lists of strings.
    pub fn texts(&mut self, name: &'static str, values: impl Iterator<Item = Vec<Option<String>>>) {
        let mut lists = ListBuilder::new(StringBuilder::new());
        values.for_each(|list| lists.append_value(list));
        self.columns.push((name, Arc::new(lists.finish())));
    }
}

fn value(column: &dyn Array, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::List(_) => {
            let list = column.as_list::<i32>().value(row);
            (0..list.len()).map(|at| value(&list, at)).collect()
        }
        _ => Value::Null,
    }
}
