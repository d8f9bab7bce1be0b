//! Training: policies, losses, supervised and reinforcement learning, and the recipe of the nano models.
//!
//! A [`Policy`] generates, takes optimizer steps over a [`Batch`] and saves checkpoints. [`CpuPolicy`] trains a small network
//! on the CPU; `TorchPolicy` (feature `torch`) trains a checkpoint of transformers, or the same small network, through
//! libtorch. [`train()`] is the supervised loop, [`reinforce`] trains a policy to ask, [`trackers`] show its metrics. Used by
//! `cli`.
//!
//! ```
//! # use aske_train::{AdamWConfig, Batch, CpuPolicy, Loss, Policy, Weights};
//! # let config: aske_model::LlamaConfig = serde_json::from_str(include_str!("../tests/learning/tiny.json")).unwrap();
//! let mut policy = CpuPolicy::new(&config, &Weights::random(&config, 1), AdamWConfig::default()).unwrap();
//! let tokens = vec![1, 5, 2];
//! let batch = Batch { lengths: vec![3], tokens, weights: vec![0.0, 1.0, 1.0], old_logprobs: Vec::new() };
//! let stats = policy.step(&[batch], Loss::Likelihood, 1e-3, f64::INFINITY).unwrap();
//! assert!(stats.loss > 0.0);
//! let file = policy.weights().unwrap().to_safetensors(true).unwrap();
//! # assert!(file.len() > 2 * config.parameters());
//! ```

mod adamw;
mod batch;
mod cpu;
mod error;
mod files;
mod gguf;
mod loss;
pub mod nano;
mod policy;
pub mod reinforce;
mod schedule;
mod serving;
mod supervised;
#[cfg(feature = "torch")]
mod torch;
pub mod trackers;
mod weights;

pub use adamw::AdamWConfig;
pub use batch::Batch;
pub use cpu::CpuPolicy;
pub use error::LearnError;
pub use gguf::convert_gguf;
pub use loss::{Loss, Objective, TokenLoss};
pub use policy::{Policy, StepStats, policy_from_weights};
pub use schedule::LrSchedule;
pub use serving::TokenizerFiles;
pub use supervised::{Progress, train};
#[cfg(feature = "torch")]
pub use torch::{Lora, TorchOptions, TorchPolicy};
pub use weights::{Weight, Weights};
