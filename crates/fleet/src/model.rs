//! A model to serve, and an estimate of its memory.

use crate::checkpoint::CheckpointShape;
use crate::shape::{BF16, ModelShape};
use serde::{Deserialize, Serialize};
use std::path::Path;

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
    /// The repository on the hub, which is also the model name in requests.
    pub hub: String,
    /// The shape of a checkpoint folder.
    #[serde(skip)]
    pub checkpoint: Option<CheckpointShape>,
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
            checkpoint: None,
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

    /// The model in a checkpoint folder, which is also its name in requests.
    pub fn in_folder(name: &str, folder: &Path) -> Result<Self, crate::FleetError> {
        let checkpoint = Some(CheckpointShape::read(folder)?);
        Ok(Self { checkpoint, ..Self::solver(name, &folder.to_string_lossy()) })
    }

    /// The memory on one GPU; none if neither its shape nor its number of parameters is known.
    pub fn memory(&self) -> Option<MemoryEstimate> {
        if let Some(checkpoint) = &self.checkpoint {
            return Some(self.memory_of(checkpoint));
        }
        let shape = ModelShape::of(&self.hub);
        let params = shape.map(|shape| shape.params).or(self.params)?;
        let published = shape.map_or(BF16, |shape| shape.bytes);
        let bytes = if self.is_quantised_on_load() { 1.0 } else { published };
        let length = u64::from(self.length);
        let cache_per_sequence =
            shape.map_or_else(|| length * estimated_cache(params), |shape| shape.cache_per_sequence(length));
        let state = shape.map_or(0, ModelShape::state_per_sequence);
        let weights = round_to_u64(params * bytes * 1e9);
        let cache = cache_per_sequence * u64::from(self.sequences)
            + state * u64::from(self.sequences.max(self.max_num_seqs));
        let overhead = OVERHEAD + weights / OVERHEAD_DIVISOR;
        Some(MemoryEstimate { weights, cache, overhead, estimated: shape.is_none() })
    }

    fn memory_of(&self, checkpoint: &CheckpointShape) -> MemoryEstimate {
        let (length, sequences) = (u64::from(self.length), u64::from(self.sequences));
        let weights = checkpoint.weights / if self.is_quantised_on_load() { 2 } else { 1 };
        let params = checkpoint.weights as f64 / (BF16 * 1e9);
        let known = checkpoint.cache_per_sequence(length);
        let cache = known.unwrap_or_else(|| length.saturating_mul(estimated_cache(params)));
        let state = checkpoint.state.saturating_mul(sequences.max(u64::from(self.max_num_seqs)));
        MemoryEstimate {
            weights,
            cache: cache.saturating_mul(sequences).saturating_add(state),
            overhead: OVERHEAD + weights / OVERHEAD_DIVISOR,
            estimated: known.is_none(),
        }
    }

    /// Whether vLLM quantises it while loading.
    pub fn is_quantised_on_load(&self) -> bool {
        self.quantisation.is_some() && !ModelShape::of(&self.hub).is_some_and(ModelShape::is_quantised)
    }

    /// The longest context of the model, if known.
    pub fn max_context(&self) -> Option<u32> {
        match &self.checkpoint {
            Some(checkpoint) => checkpoint.max_context(),
            None => ModelShape::of(&self.hub).map(|shape| shape.max_context),
        }
    }
}

impl MemoryEstimate {
    /// The bytes on each of this many GPUs.
    pub fn per_gpu(&self, gpus: u64) -> u64 {
        (self.weights + self.cache).div_ceil(gpus.max(1)) + self.overhead
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
    }

    #[test]
    fn eight_bits_halve_the_weights_of_what_has_sixteen() {
        let fp8 = |hub: &str| Model { quantisation: Some(Quantisation::Fp8), ..model("m", hub, 8.0) };
        assert_eq!(fp8("Qwen/Qwen3-8B").memory().unwrap().weights, 8_190_000_000);
        let published = model("m", "openai/gpt-oss-20b", 20.0).memory();
        assert_eq!(fp8("openai/gpt-oss-20b").memory(), published);
    }

    #[test]
    fn what_is_not_known_is_estimated_and_said_so() {
        let memory = model("m", "some/body", 8.0).memory().unwrap();
        assert!(memory.estimated && memory.cache > model("m", "Qwen/Qwen3-8B", 8.0).memory().unwrap().cache);
        assert_eq!(Model { params: None, ..model("m", "some/body", 8.0) }.memory(), None);
    }

    #[test]
    fn a_checkpoint_takes_what_its_files_say() {
        let folder = tempfile::tempdir().unwrap();
        // 4 layers of 2 heads of 64: 2 × 4 × 2 × 64 numbers of 2 bytes per token.
        let config = r#"{"num_hidden_layers": 4, "num_attention_heads": 2, "head_dim": 64, "max_position_embeddings": 512}"#;
        std::fs::write(folder.path().join("config.json"), config).unwrap();
        std::fs::write(folder.path().join("model.safetensors"), [0; 4000]).unwrap();
        let model = Model { length: 512, sequences: 3, ..Model::in_folder("m", folder.path()).unwrap() };
        let memory = model.memory().unwrap();
        assert_eq!((memory.weights, memory.cache), (4000, 2 * 4 * 2 * 64 * 2 * 512 * 3));
        assert!(!memory.estimated);
        assert_eq!(model.max_context(), Some(512));
        let fp8 = Model { quantisation: Some(Quantisation::Fp8), ..model };
        assert_eq!(fp8.memory().unwrap().weights, 2000);
        std::fs::write(folder.path().join("config.json"), "{}").unwrap();
        let unknown = Model { length: 512, sequences: 3, ..Model::in_folder("m", folder.path()).unwrap() };
        assert!(unknown.memory().unwrap().estimated);
    }
}
