//! The kinds of figures, one per file.

pub(crate) mod bars;
pub(crate) mod curves;
pub(crate) mod ranges;
pub(crate) mod stacked;
pub(crate) mod triangle;
