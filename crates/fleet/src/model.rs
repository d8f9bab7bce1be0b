//! A model to serve, and an estimate of its memory.

use crate::folder::ModelFolder;
use crate::shape::{BF16, CacheShape, ModelShape};
use serde::{Deserialize, Serialize};

/// Quantisation of the weights by vLLM while loading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantisation {
    /// 8-bit floating point. Models that are published in fewer than 16 bits are left as they are.
    Fp8,
}

/// A model to serve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The name in the configuration.
    pub name: String,
    /// The repository on the hub or a local folder, which is also the model name in requests.
    pub hub: String,
    /// What the local folder says, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<ModelFolder>,
    /// Parameters in billions, if configured.
    pub params: Option<f64>,
    /// The longest sequence in tokens, prompt and completion.
    pub length: u32,
    /// Concurrent sequences of that length for which cache is reserved.
    pub sequences: u32,
    /// The limit on concurrent sequences, most of which are shorter.
    #[serde(rename = "most_sequences")]
    pub max_num_seqs: u32,
    /// Quantisation, if not as published.
    pub quantisation: Option<Quantisation>,
    /// Whether it is a boundary solver, whose pairs are run.
    pub solver: bool,
    /// Whether it has another role, such as the asker's, and stays loaded in every phase.
    #[serde(rename = "always")]
    pub resident: bool,
    /// Other names in the configuration that use the same server.
    pub aliases: Vec<String>,
    /// Additional vLLM flags.
    pub flags: Vec<String>,
    /// Additional environment variables of its server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<(String, String)>,
}

/// The memory of a server, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryEstimate {
    /// Weights.
    pub weights: u64,
    /// KV cache and recurrent state of all sequences.
    pub cache: u64,
    /// CUDA context, activations and CUDA graphs, on each GPU.
    pub overhead: u64,
    /// Whether the cache is estimated from the number of parameters, as the model's shape is unknown.
    pub estimated: bool,
    /// The most GPUs over which the cache is spread, if known; over more it is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_parts: Option<u64>,
}

/// Bytes of a gigabyte.
pub const GB: u64 = 1_000_000_000;

/// The overhead: this constant plus 1/20 of the weights.
const OVERHEAD: u64 = 2 * GB + GB / 2;
const OVERHEAD_DIVISOR: u64 = 20;

impl Model {
    /// A boundary solver with four sequences of 4,096 tokens.
    pub fn solver(name: &str, hub: &str) -> Self {
        Self {
            name: name.to_owned(),
            hub: hub.to_owned(),
            folder: None,
            params: None,
            length: 4096,
            sequences: 4,
            max_num_seqs: 64,
            quantisation: None,
            solver: true,
            resident: false,
            aliases: Vec::new(),
            flags: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// The memory on one GPU; none if neither its weights nor its number of parameters is known.
    pub fn memory(&self) -> Option<MemoryEstimate> {
        let read = self.folder.as_ref().and_then(|folder| folder.weights);
        let params = match read {
            Some(weights) => weights.parameters as f64 / 1e9,
            None => self.known().map(|shape| shape.params).or(self.params)?,
        };
        let weights = match read {
            _ if self.is_quantised_on_load() => round_to_u64(params * 1e9),
            Some(weights) => weights.bytes,
            None => round_to_u64(params * self.known().map_or(BF16, |shape| shape.bytes) * 1e9),
        };
        let shape = self.cache();
        let length = u64::from(self.length);
        let per_sequence = shape.map_or_else(
            || length.saturating_mul(estimated_cache(params)),
            |shape| shape.per_sequence(length),
        );
        let state = shape.map_or(0, |shape| shape.state);
        let cache = per_sequence
            .saturating_mul(self.sequences.into())
            .saturating_add(state.saturating_mul(self.sequences.max(self.max_num_seqs).into()));
        let overhead = OVERHEAD + weights / OVERHEAD_DIVISOR;
        let cache_parts = shape.map(|shape| shape.heads);
        Some(MemoryEstimate { weights, cache, overhead, estimated: shape.is_none(), cache_parts })
    }

    /// Whether vLLM quantises it while loading.
    pub fn is_quantised_on_load(&self) -> bool {
        let is_quantised = match &self.folder {
            Some(folder) => folder.quantised,
            None => self.known().is_some_and(ModelShape::is_quantised),
        };
        self.quantisation.is_some() && !is_quantised
    }

    /// The longest context of the model, if known.
    pub fn max_context(&self) -> Option<u32> {
        match &self.folder {
            Some(folder) => folder.max_context,
            None => self.known().map(|shape| shape.max_context),
        }
    }

    /// Flags that vLLM needs for it.
    pub(crate) fn known_flags(&self) -> &'static [&'static str] {
        self.known().map_or(&[], |shape| shape.flags)
    }

    /// Its cache, if known.
    fn cache(&self) -> Option<CacheShape> {
        match &self.folder {
            Some(folder) => folder.cache,
            None => self.known().map(|shape| shape.cache),
        }
    }

    /// The built-in shape of its repository. A folder of the same name takes precedence, as in vLLM.
    fn known(&self) -> Option<&'static ModelShape> {
        if self.folder.is_some() { None } else { ModelShape::of(&self.hub) }
    }
}

impl MemoryEstimate {
    /// The bytes on each of this many GPUs.
    pub fn per_gpu(&self, gpus: u64) -> u64 {
        let gpus = gpus.max(1);
        let parts = self.cache_parts.unwrap_or(gpus).clamp(1, gpus);
        let own = self.weights.div_ceil(gpus).saturating_add(self.cache.div_ceil(parts));
        own.saturating_add(self.overhead)
    }
}

/// Bytes of cache per token of a model of unknown shape: more than that of any known model of its size.
pub(crate) fn estimated_cache(params: f64) -> u64 {
    // In KiB: 172 at 8 billion, where Qwen3-8B has 144; 420 at 70 billion, where Llama-3.1-70B has 320.
    round_to_u64((140.0 + 4.0 * params) * 1024.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes of real models; a cast saturates"
)]
fn round_to_u64(number: f64) -> u64 {
    number.round() as u64
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A model that is asked 8 times at once, 8,192 tokens each.
    pub(crate) fn model(name: &str, hub: &str, params: f64) -> Model {
        Model { params: Some(params), length: 8192, sequences: 8, ..Model::solver(name, hub) }
    }

    #[test]
    fn the_ledger_follows_the_formula() {
        let memory = model("qwen3-8b", "Qwen/Qwen3-8B", 8.0).memory().unwrap();
        assert_eq!(memory.weights, 8_190_000_000 * 2);
        assert_eq!(memory.cache, 144 * 1024 * 8192 * 8);
        assert!(!memory.estimated);
        assert_eq!(memory.per_gpu(4), (memory.weights + memory.cache) / 4 + memory.overhead);
        // It has eight key-value heads, so each of sixteen GPUs holds one of them.
        assert_eq!(memory.per_gpu(16), memory.weights / 16 + memory.cache / 8 + memory.overhead);
    }

    #[test]
    fn eight_bits_halve_the_weights_of_what_has_sixteen() {
        let fp8 = |hub: &str| Model { quantisation: Some(Quantisation::Fp8), ..model("m", hub, 8.0) };
        assert_eq!(fp8("Qwen/Qwen3-8B").memory().unwrap().weights, 8_190_000_000);
        let published = model("m", "openai/gpt-oss-20b", 20.0).memory();
        assert_eq!(fp8("openai/gpt-oss-20b").memory(), published);
    }

    #[test]
    fn absurd_numbers_do_not_overflow() {
        let absurd = Model { length: u32::MAX, sequences: u32::MAX, ..model("m", "some/body", 1e300) };
        let memory = absurd.memory().unwrap();
        assert_eq!((memory.weights, memory.cache, memory.per_gpu(1)), (u64::MAX, u64::MAX, u64::MAX));
    }

    #[test]
    fn what_is_not_known_is_estimated_and_said_so() {
        let memory = model("m", "some/body", 8.0).memory().unwrap();
        assert!(memory.estimated && memory.cache > model("m", "Qwen/Qwen3-8B", 8.0).memory().unwrap().cache);
        assert_eq!(Model { params: None, ..model("m", "some/body", 8.0) }.memory(), None);
    }
}
