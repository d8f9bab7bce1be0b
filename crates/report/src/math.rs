//! Mathematics in texts that a model wrote: found, rendered to MathML, and checked.

mod check;
mod pieces;
mod render;

pub use pieces::{Piece, pieces};
