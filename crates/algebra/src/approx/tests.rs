//! Tests of evaluation: expressions are written in prefix form, as `(+ 1 (sqrt 2))`.

mod laws;
mod operators;
mod read;
mod rules;
mod values;

use super::{Agreement, EvaluationError, Point, Value, agreement, evaluate};
use crate::fuel::Fuel;
use read::read;

/// What a comparison may spend here.
const PLENTY: u64 = 5_000_000;

fn at(text: &str, bits: u32) -> Result<Value, EvaluationError> {
    evaluate(&read(text), &Point::none(), bits, &Fuel::new(PLENTY))
}

fn near(a: &str, b: &str) -> (Agreement, bool) {
    agreement(&read(a), &read(b), &Point::none(), 512, &Fuel::new(PLENTY))
}
