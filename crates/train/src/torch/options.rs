//! Options of the libtorch backend.

use crate::AdamWConfig;

/// How a policy is trained and saved through libtorch.
#[expect(clippy::struct_excessive_bools, reason = "independent options")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TorchOptions {
    /// The optimizer.
    pub optimizer: AdamWConfig,
    /// Multiply in single precision instead of bfloat16 on a GPU.
    pub full_precision: bool,
    /// Give a network with tied embeddings an output head of its own, initialized from the embedding.
    pub untie_head: bool,
    /// Train low-rank adapters instead of all weights.
    pub lora: Option<Lora>,
    /// Activation checkpointing: keep only the input of each layer and recompute the layer in the backward pass.
    pub recompute: bool,
    /// Keep the optimizer state in the memory of the CPU.
    pub offload_optimizer: bool,
    /// Export in bfloat16 instead of single precision.
    pub export_bf16: bool,
}

impl Default for TorchOptions {
    /// All weights with an untied head, activation checkpointing, bfloat16 files.
    fn default() -> Self {
        Self {
            optimizer: AdamWConfig::default(),
            full_precision: false,
            untie_head: true,
            lora: None,
            recompute: true,
            offload_optimizer: false,
            export_bf16: true,
        }
    }
}

impl TorchOptions {
    /// For networks of a few million parameters: nothing is recomputed, the head stays as it is, and files are exact.
    pub fn small_network() -> Self {
        Self { untie_head: false, recompute: false, export_bf16: false, ..Self::default() }
    }
}

/// Low-rank adapters of every projection (Hu et al. 2021): `W + alpha / rank · B·A`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lora {
    /// Rows of `A`, columns of `B`.
    pub rank: usize,
    /// Scale.
    pub alpha: f64,
    /// Seed of the initialization of `A`; `B` starts at zero.
    pub seed: u64,
}

impl Default for Lora {
    fn default() -> Self {
        Self { rank: 16, alpha: 32.0, seed: 0 }
    }
}
