//! How new a question is: what it is like, and how far that lies from the latest ones.
//!
//! An [`Embedder`] makes a vector of length one of every question. [`Novelty`] remembers the latest and gives
//! `1 − mean cosine` to the nearest of them: what the paper pays for diversity. Uses nothing of ours; encoders from
//! files come with the feature `bert`.
//!
//! ```
//! use aske_diversity::{Embedder, Novelty};
//! let embedder = Embedder::ngram();
//! let history = Novelty::new(Novelty::CAPACITY, Novelty::NEAREST, &embedder);
//! let questions = embedder.embed(&["What is 2 + 3?"]).unwrap();
//! assert_eq!(history.novelties(&questions).unwrap(), [1.0]);
//! ```

#[cfg(feature = "bert")]
mod bert;
mod buffer;
mod embedder;
mod error;
mod ngram;

pub use buffer::{Novelty, NoveltyError};
pub use embedder::Embedder;
pub use error::EmbedError;
