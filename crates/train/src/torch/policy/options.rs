//! How a policy on libtorch works.

use crate::Options;

/// How a policy on libtorch learns, is served and is saved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TorchOptions {
    /// The optimiser; no moving average of the weights is kept.
    pub optimiser: Options,
    /// Gives a network whose head is its embedding a head of its own, which starts as the embedding.
    pub untied: bool,
    /// Trains small matrices beside the frozen ones; else every weight.
    pub lora: Option<Lora>,
    /// Keeps only the input of each layer and computes the layer again on the way back: a third more work for a
    /// small part of the memory.
    pub recompute: bool,
    /// Saves in bfloat16, else in single precision.
    pub half: bool,
    /// Requests served at once; further ones wait.
    pub batch: usize,
    /// Bytes for the keys and values of requests that are being served.
    pub cache_bytes: usize,
}

impl Default for TorchOptions {
    /// A head of its own, every weight, least memory, bfloat16 files; 256 requests in 16 GB.
    fn default() -> Self {
        Self {
            optimiser: Options::default(),
            untied: true,
            lora: None,
            recompute: true,
            half: true,
            batch: 256,
            cache_bytes: 16_000_000_000,
        }
    }
}

/// Low-rank adapters of every projection (Hu et al. 2021): `W + alpha / rank · B·A`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lora {
    /// Rows of `A`, columns of `B`.
    pub rank: usize,
    /// Strength.
    pub alpha: f64,
    /// Chooses where the first matrices start; the second ones start at nought.
    pub seed: u64,
}

impl Default for Lora {
    fn default() -> Self {
        Self { rank: 16, alpha: 32.0, seed: 0 }
    }
}
