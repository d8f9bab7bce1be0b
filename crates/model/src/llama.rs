//! GGUF files in this process, through llama.cpp.
//!
//! A [`Gguf`] is an open file, a [`Llama`] serves it with continuous batching and prefix sharing. Replies depend slightly on
//! the batch: llama.cpp sums in another order in another batch.

mod cells;
mod error;
mod file;
mod handle;
mod memory;
mod sequence;
mod tokenizer;
mod worker;

pub use error::LlamaError;
pub use file::Gguf;
pub use handle::{Llama, LlamaOptions};
