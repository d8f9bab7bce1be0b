//! GGUF files in this process, through llama.cpp.
//!
//! A [`Gguf`] is a file that was opened, a [`Llama`] serves it to many at once: requests join and leave between two steps,
//! and what one has read of its prompt others with the same beginning need not read. Replies depend a little on the
//! company in which they are written: llama.cpp sums in another order in another batch.

mod error;
mod file;
mod handle;
mod memory;
mod sequence;
mod shelf;
mod text;
mod worker;

pub use error::LlamaError;
pub use file::Gguf;
pub use handle::{Llama, LlamaOptions};
