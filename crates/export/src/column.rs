//! Tables as plain columns, from which every format is written.

use serde_json::{Map, Value, json};

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Strings.
    Text(Vec<Option<String>>),
    /// Integers.
    Whole(Vec<Option<i64>>),
    /// Floats.
    Number(Vec<Option<f64>>),
    /// Booleans.
    Flag(Vec<Option<bool>>),
    /// Lists of strings.
    Texts(Vec<Vec<Option<String>>>),
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Flag(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the rows of another column of the same kind.
    fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Text(values), Self::Text(more)) => values.extend(more),
            (Self::Whole(values), Self::Whole(more)) => values.extend(more),
            (Self::Number(values), Self::Number(more)) => values.extend(more),
            (Self::Flag(values), Self::Flag(more)) => values.extend(more),
            (Self::Texts(values), Self::Texts(more)) => values.extend(more),
            _ => {}
        }
    }

    fn value(&self, row: usize) -> Value {
        match self {
            Self::Text(values) => json!(values[row]),
            Self::Whole(values) => json!(values[row]),
            Self::Number(values) => json!(values[row]),
            Self::Flag(values) => json!(values[row]),
            Self::Texts(values) => json!(values[row]),
        }
    }
}

/// Named columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns, in order.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Adds the rows of a table with the same columns.
    pub(crate) fn append(&mut self, other: Self) {
        if self.columns.is_empty() {
            *self = other;
            return;
        }
        for ((_, column), (_, more)) in self.columns.iter_mut().zip(other.columns) {
            column.append(more);
        }
    }

    /// A row as a JSON object.
    pub fn row(&self, row: usize) -> Map<String, Value> {
        self.columns.iter().map(|(name, column)| ((*name).to_owned(), column.value(row))).collect()
    }

    /// Adds a column of strings.
    pub(crate) fn text<T: Into<String>>(
        &mut self,
        name: &'static str,
        values: impl Iterator<Item = Option<T>>,
    ) {
        self.columns.push((name, Column::Text(values.map(|value| value.map(Into::into)).collect())));
    }

    /// Adds a column of integers.
    pub(crate) fn whole(&mut self, name: &'static str, values: impl Iterator<Item = Option<u64>>) {
        let whole = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
        self.columns.push((name, Column::Whole(values.map(whole).collect())));
    }

    /// Adds a column of floats.
    pub(crate) fn number(&mut self, name: &'static str, values: impl Iterator<Item = Option<f64>>) {
        self.columns.push((name, Column::Number(values.collect())));
    }

    /// Adds a column of booleans.
    pub(crate) fn flag(&mut self, name: &'static str, values: impl Iterator<Item = Option<bool>>) {
        self.columns.push((name, Column::Flag(values.collect())));
    }

    /// Adds a column of lists.
    pub(crate) fn texts(&mut self, name: &'static str, values: impl Iterator<Item = Vec<Option<String>>>) {
        self.columns.push((name, Column::Texts(values.collect())));
    }
}
