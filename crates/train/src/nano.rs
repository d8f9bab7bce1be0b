//! Training of the nano models: tokenizer, supervised data and recipe. Used by `aske nano train`.

mod batches;
mod recipe;
mod tokenizer;
mod trainer;

pub use batches::BatchSampler;
pub use recipe::{RECIPE, Recipe};
pub use tokenizer::{NanoTokenizer, TokenizerError, tokenizer_config, train_tokenizer};
pub use trainer::RecipeTrainer;
