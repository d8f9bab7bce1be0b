//! A model that is to be served, and the memory it needs.

use crate::facts::{BF16, Facts};
use serde::{Deserialize, Serialize};

/// In how many bits weights are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantisation {
    /// Eight bits, made by vLLM while loading. Models that are published in fewer bits than sixteen stay as they are.
    Fp8,
}

/// What is to be served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Its name in the configuration.
    pub name: String,
    /// Its name on the hub, by which the server knows it too.
    pub hub: String,
    /// Parameters in billions, where the configuration tells.
    pub params: Option<f64>,
    /// The longest sequence in tokens, prompt and answer.
    pub length: u32,
    /// Sequences of that length that are held at a time.
    pub sequences: u32,
    /// Sequences that are computed at a time, most of them shorter.
    pub most_sequences: u32,
    /// In how many bits, if not as published.
    pub quantisation: Option<Quantisation>,
    /// It is a boundary solver: its pairs are to be asked.
    pub solver: bool,
    /// It has another role too, such as the asker's, and stays while others come and go.
    pub always: bool,
    /// Other names in the configuration that the same server answers for.
    pub aliases: Vec<String>,
    /// Further flags.
    pub flags: Vec<String>,
}

/// The memory that a server needs, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    /// Its weights.
    pub weights: u64,
    /// Keys and values of all sequences that are held.
    pub cache: u64,
    /// Context, activations and CUDA graphs, on each GPU.
    pub overhead: u64,
    /// The cache is estimated by size, because the model's shape is not known.
    pub estimated: bool,
}

/// Bytes of a gigabyte, as GPUs are sold.
pub const GB: u64 = 1_000_000_000;

/// CUDA context, activations and graphs: this much and a share of the weights.
const OVERHEAD: u64 = 2 * GB + GB / 2;
const OVERHEAD_SHARE: u64 = 20;

impl Model {
    /// A boundary solver with sequences of 4,096 tokens, four at a time.
    pub fn solver(name: &str, hub: &str) -> Self {
        Self {
            name: name.to_owned(),
            hub: hub.to_owned(),
            params: None,
            length: 4096,
            sequences: 4,
            most_sequences: 64,
            quantisation: None,
            solver: true,
            always: false,
            aliases: Vec::new(),
            flags: Vec::new(),
        }
    }

    /// What it needs on one GPU; nothing where neither its size nor its name tells.
    pub fn need(&self) -> Option<Need> {
        let facts = Facts::of(&self.hub);
        let params = facts.map(|facts| facts.params).or(self.params)?;
        let published = facts.map_or(BF16, |facts| facts.bytes);
        let bytes = if self.quantises() { 1.0 } else { published };
        let length = u64::from(self.length);
        let each =
            facts.map_or_else(|| length * estimated_cache(params), |facts| facts.cache_per_sequence(length));
        let state = facts.map_or(0, Facts::state_per_sequence);
        let weights = whole(params * bytes * 1e9);
        let cache =
            each * u64::from(self.sequences) + state * u64::from(self.sequences.max(self.most_sequences));
        let overhead = OVERHEAD + weights / OVERHEAD_SHARE;
        Some(Need { weights, cache, overhead, estimated: facts.is_none() })
    }

    /// vLLM is told to quantise it.
    pub fn quantises(&self) -> bool {
        self.quantisation.is_some() && !Facts::of(&self.hub).is_some_and(Facts::is_small)
    }

    /// The longest context the model has, where known.
    pub fn longest(&self) -> Option<u32> {
        Facts::of(&self.hub).map(|facts| facts.longest)
    }
}

impl Need {
    /// The bytes on each of so many GPUs.
    pub fn on(&self, gpus: u64) -> u64 {
        (self.weights + self.cache).div_ceil(gpus.max(1)) + self.overhead
    }
}

/// Bytes of cache for a token of a model that is not known: more than any known one of its size takes.
pub(crate) fn estimated_cache(params: f64) -> u64 {
    // In KiB: 172 at 8 billion, where Qwen3-8B has 144; 420 at 70 billion, where Llama-3.1-70B has 320.
    whole((140.0 + 4.0 * params) * 1024.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes of real models; a cast saturates"
)]
fn whole(number: f64) -> u64 {
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
        let need = model("qwen3-8b", "Qwen/Qwen3-8B", 8.0).need().unwrap();
        assert_eq!(need.weights, 8_190_000_000 * 2);
        assert_eq!(need.cache, 144 * 1024 * 8192 * 8);
        assert!(!need.estimated);
        assert_eq!(need.on(4), (need.weights + need.cache) / 4 + need.overhead);
    }

    #[test]
    fn eight_bits_halve_the_weights_of_what_has_sixteen() {
        let fp8 = |hub: &str| Model { quantisation: Some(Quantisation::Fp8), ..model("m", hub, 8.0) };
        assert_eq!(fp8("Qwen/Qwen3-8B").need().unwrap().weights, 8_190_000_000);
        let published = model("m", "openai/gpt-oss-20b", 20.0).need();
        assert_eq!(fp8("openai/gpt-oss-20b").need(), published);
    }

    #[test]
    fn what_is_not_known_is_estimated_and_said_so() {
        let need = model("m", "some/body", 8.0).need().unwrap();
        assert!(need.estimated && need.cache > model("m", "Qwen/Qwen3-8B", 8.0).need().unwrap().cache);
        assert_eq!(Model { params: None, ..model("m", "some/body", 8.0) }.need(), None);
    }
}
