//! How new a question is: what it is like, and how far that lies from the latest ones.
//!
//! An [`Embedder`] makes a vector of length one of every question. [`Novelty`] remembers the latest and gives
//! `1 − mean cosine` to the nearest of them: what the paper pays for diversity.

mod bert;
mod buffer;
mod embedder;
mod error;
mod folder;
mod hub;
mod ngram;
mod tokens;

pub use buffer::{Novelty, NoveltyError};
pub use embedder::Embedder;
pub use error::EmbedError;
