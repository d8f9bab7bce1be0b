//! The nano world's own training: its vocabulary, its lessons, its recipe.

mod build;
mod lessons;
mod recipe;
mod vocabulary;

pub use build::Workshop;
pub use lessons::Lessons;
pub use recipe::{RECIPE, Recipe};
pub use vocabulary::{CHAT_TEMPLATE, Codec, VocabularyError, config, tokenizer_config, vocabulary};
