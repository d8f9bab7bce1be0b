//! Learning: networks that can be trained, their losses and the optimiser.
//!
//! A [`Learner`] holds a Llama-style network and takes optimiser steps over a [`Batch`]; [`train`] feeds it.
//! [`CpuLearner`] runs on the processor; `TorchLearner` (feature `torch`) on a GPU. A [`Policy`] also samples and is
//! rewarded; [`reinforce`] trains one to ask. A [`Policy`] samples and is
//! rewarded: [`LocalPolicy`] a small network, `TorchPolicy` (feature `torch`) a checkpoint of transformers. May use
//! `model` (the shape of a network) and `nano`, and nothing else of ours.
//!
//! ```
//! # use aske_train::{Batch, CpuLearner, Learner, Options, Weights};
//! # let config: aske_model::LlamaConfig = serde_json::from_str(include_str!("../tests/learning/tiny.json")).unwrap();
//! let mut learner = CpuLearner::new(&config, &Weights::random(&config, 1), Options::default()).unwrap();
//! let batch = Batch { rows: 1, length: 3, tokens: vec![1, 5, 2], weights: vec![0.0, 1.0, 1.0], before: Vec::new() };
//! learner.step(&batch, 1e-3).unwrap();
//! assert!(learner.report().unwrap().loss > 0.0);
//! let file = learner.weights().unwrap().to_safetensors(true).unwrap();
//! # assert!(file.len() > 2 * config.parameters());
//! ```

mod adam;
mod batch;
mod cpu;
mod device;
mod gguf;
mod layout;
mod learner;
mod local;
mod loss;
pub mod nano;
mod policy;
pub mod reinforce;
mod schedule;
mod supervised;
#[cfg(feature = "torch")]
mod torch;
mod weights;

pub use batch::Batch;
pub use cpu::CpuLearner;
pub use device::learner;
pub use gguf::convert_gguf;
pub use learner::{LearnError, Learner, Moments, Options, Reinforce, Reinforced, Report};
pub use local::{Files, LocalPolicy};
pub use loss::{Loss, Objective, TokenLoss};
pub use policy::Policy;
pub use schedule::Schedule;
pub use supervised::{Progress, Supply, train};
#[cfg(feature = "torch")]
pub use torch::{Lora, TorchLearner, TorchOptions, TorchPolicy};
pub use weights::{Weight, Weights};
