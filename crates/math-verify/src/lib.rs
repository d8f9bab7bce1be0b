//! The verdicts of math-verify 0.9.0, its mistakes included.
//!
//! An answer is normalised as text, read by a grammar of its own into an unevaluated tree, and compared by
//! rules that are not symmetric: the gold answer's form decides what counts. What does not parse is compared
//! as text, or by the last number found in it. [`compare`] takes two answers; [`parse`] finds the answers in whole
//! texts and [`verify`] compares them, each with math-verify's own options.
//!
//! Used by `aske-answer` for its rules `MathVerify` and `Paper`. Depends on `aske-algebra` for arithmetic.
//!
//! ```
//! use aske_algebra::verdict::Verdict;
//! assert_eq!(aske_math_verify::compare("(1,2)", "1,2").verdict, Verdict::Equal);
//! assert_eq!(aske_math_verify::compare("(1,2)", "1<x<2").verdict, Verdict::Different);
//! ```

mod arithmetic;
mod comparator;
mod condition;
mod extract;
mod float;
mod function;
mod grammar;
mod lexer;
mod normalise;
mod number;
mod parse;
mod reach;
mod region;
mod relation;
mod round;
mod scalar;
mod sets;
mod structure;
mod table;
#[cfg(test)]
mod tests;
mod token;
mod tree;
mod verify;

use aske_algebra::fuel::Fuel;
use aske_algebra::verdict::{Comparison, MAX_BYTES, Method};
use comparator::Comparator;

pub use extract::LimitError;
pub use parse::{Boxes, Expression, Item, Mode, Normalisation, Source, Target, parse};
pub use verify::{Options, verify};

/// Work for one comparison, reading included: about 15 ms at most.
const FUEL: u64 = 2_000_000;

/// Compares two answers as math-verify 0.9.0 does, each as if it stood in `\boxed{…}`.
pub fn compare(gold: &str, pred: &str) -> Comparison {
    let undecided = Comparison::undecided();
    if gold.len() > MAX_BYTES || pred.len() > MAX_BYTES {
        return undecided;
    }
    let (gold_text, pred_text) = (extract::text(gold), extract::text(pred));
    if !gold_text.is_empty() && gold_text == pred_text {
        return Comparison::decided(true, Method::Text);
    }
    let fuel = Fuel::new(FUEL);
    let values = (extract::value(gold, &gold_text, &fuel), extract::value(pred, &pred_text, &fuel));
    let (Ok(gold), Ok(pred)) = values else { return undecided };
    let (Some(gold), Some(pred)) = (gold, pred) else { return Comparison::decided(false, Method::Text) };
    let comparator = Comparator::new(&fuel);
    match comparator.same(&gold, &pred) {
        Ok(equal) => Comparison::decided(equal, comparator.method.get()),
        Err(_) => undecided,
    }
}
