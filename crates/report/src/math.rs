//! Finds mathematics in texts that a model wrote, renders it to MathML and checks the result.

mod check;
mod pieces;
mod render;

pub use pieces::{Piece, pieces};
