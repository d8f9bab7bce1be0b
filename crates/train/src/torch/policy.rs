//! A policy on libtorch: a checkpoint of transformers that is sampled, rewarded and saved, on a GPU or the processor.
//!
//! Weights and the optimiser's memory are in single precision; on a GPU matrices are multiplied in bfloat16, the
//! residual stream and the head stay in single precision, in learning and in sampling alike.

mod adam;
mod block;
mod cache;
mod checkpoint;
mod choose;
mod files;
mod head;
mod lora;
mod network;
mod options;
mod parameter;
mod pass;
mod rotary;
mod row;
mod serve;
mod shape;
mod worker;

pub use checkpoint::TorchPolicy;
pub use options::{Lora, TorchOptions};
