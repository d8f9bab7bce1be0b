//! Networks that learn: gradients, tasks, files, and agreement with other programs.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

mod common;
mod gradient;
mod learns;
mod reinforced;
#[cfg(feature = "torch")]
mod torch;
mod transformers;
mod weights;
