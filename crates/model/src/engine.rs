//! An inference engine for Llama-style checkpoints on the CPU.
//!
//! Made for networks of a few million parameters and many concurrent requests: a [`Checkpoint`] is read from files, an
//! [`Engine`] serves it with continuous batching, and [`Local`] is the provider of chat replies. A request gives the same
//! tokens whatever else is served at the same time, on any number of threads.

mod attention;
mod cache;
mod checkpoint;
mod config;
mod error;
mod handle;
mod heads;
mod local;
mod network;
mod prefix_cache;
mod python;
mod queue;
mod raw_config;
mod receive;
mod sampler;
mod scheduler;
mod sequence;
mod state;
mod template;
mod text_stream;
mod tokenizer;
mod weights;
mod worker;

pub use checkpoint::Checkpoint;
pub use config::LlamaConfig;
pub use error::CheckpointError;
pub use handle::{Engine, EngineOptions, Generation, GenerationRequest};
pub use heads::widen_heads;
pub use local::{Generator, Local};
pub(crate) use state::check_prompt;
pub use tokenizer::ChatTokenizer;
#[cfg(feature = "llama")]
pub(crate) use {
    queue::{Admission, Queue},
    receive::receive_jobs,
    sampler::SamplerBuffers,
    scheduler::{Scheduler, SequenceStatus},
    state::{Detokenizer, GenerationState, ReplySender},
    template::{CUTS, Segment, Template},
};
