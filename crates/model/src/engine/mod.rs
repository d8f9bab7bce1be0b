//! Llama-style checkpoints run in this process, on the processor alone.

mod config;

pub use config::LlamaConfig;
