//! x
pub mod order;
