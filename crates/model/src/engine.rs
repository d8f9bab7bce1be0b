//! Llama-style checkpoints run in this process, on the processor alone.
//!
//! Made for networks of a few million parameters and many requests at once: a [`Checkpoint`] is read from files,
//! an [`Engine`] serves it, and a [`Local`] is the engine as a provider of chat replies. Whatever else is served
//! at the same time, on however many threads, a request gives the same tokens.

mod attention;
mod cache;
mod checkpoint;
mod config;
mod error;
mod handle;
mod inbox;
mod local;
mod network;
mod pieces;
mod python;
mod queue;
mod sampler;
mod schedule;
mod sequence;
mod store;
mod template;
mod tokenizer;
mod weights;
mod worker;
mod writing;
mod written;

pub use checkpoint::Checkpoint;
pub use config::LlamaConfig;
pub use error::{CheckpointError, CheckpointErrorKind};
pub use handle::{Engine, EngineOptions, Generation, GenerationRequest};
pub use local::{Generator, Local};
#[cfg(feature = "llama")]
pub(crate) use template::{Piece, Template, pieces};
pub use tokenizer::ChatTokenizer;
#[cfg(feature = "llama")]
pub(crate) use {
    inbox::arrivals,
    queue::{Offered, Queue},
    sampler::Weights,
    schedule::{Ready, Schedule},
    writing::{Answer, Tongue, Writing},
};
