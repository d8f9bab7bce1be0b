//! Novelty of questions: text embedders, and a buffer of recent questions to compare with.
//!
//! An [`Embedder`] maps a question to a unit vector. A [`NoveltyBuffer`] holds the vectors of recent questions and returns
//! `1 − mean cosine` to the nearest of them, the paper's diversity reward. Used by `train` and `serve`. Depends on `chat`,
//! and with the feature `bert` (encoders from files) on `weights`.
//!
//! ```
//! use aske_diversity::{Embedder, NoveltyBuffer};
//! let embedder = Embedder::ngram();
//! let buffer = NoveltyBuffer::new(5000, 5, &embedder);
//! let questions = embedder.embed(&["What is 2 + 3?"]).unwrap();
//! assert_eq!(buffer.novelties(&questions).unwrap(), [1.0]);
//! ```

#[cfg(feature = "bert")]
mod bert;
mod buffer;
mod embedder;
mod error;
mod ngram;

pub use buffer::{NoveltyBuffer, NoveltyError};
pub use embedder::Embedder;
pub use error::EmbedError;
