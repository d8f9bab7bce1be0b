//! Training of the nano models: tokenizer, supervised data and recipe. Used by `aske nano train`.

mod lessons;
mod recipe;
mod tokenizer;
mod trainer;

pub use lessons::LessonSampler;
pub use recipe::{RECIPE, Recipe};
pub use tokenizer::{NanoTokenizer, TokenizerError, tokenizer_config, train_tokenizer};
pub use trainer::RecipeTrainer;
