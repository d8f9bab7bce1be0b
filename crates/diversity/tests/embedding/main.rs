//! What questions are like and how new they are: agreement with other programs, formulas, hostile text.
#![cfg_attr(feature = "bert", expect(clippy::unwrap_used, reason = "a test may panic"))]

#[cfg(feature = "bert")]
mod bert;
mod common;
#[cfg(feature = "bert")]
mod files;
#[cfg(feature = "bert")]
mod folders;
mod hostile;
mod ngram;
mod novelty;
