//! What questions are like and how new they are: agreement with other programs, formulas, hostile text.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bert;
mod common;
mod files;
mod hostile;
mod ngram;
mod novelty;
