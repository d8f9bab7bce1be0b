//! Tables as Arrow columns.

use crate::{Column, Table};
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::ArrowError;
use std::sync::Arc;

/// A table as Arrow columns.
pub fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_from_iter_with_nullable(
        table.columns.iter().map(|(name, column)| (*name, array(column), true)),
    )
}

fn array(column: &Column) -> ArrayRef {
    match column {
        Column::Text(values) => Arc::new(StringArray::from_iter(values)),
        Column::Whole(values) => Arc::new(Int64Array::from_iter(values)),
        Column::Number(values) => Arc::new(Float64Array::from_iter(values)),
        Column::Flag(values) => Arc::new(BooleanArray::from_iter(values)),
        Column::Texts(values) => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for list in values {
                for text in list {
                    lists.values().append_option(text.as_deref());
                }
                lists.append(true);
            }
            Arc::new(lists.finish())
        }
    }
}
