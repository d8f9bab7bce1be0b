//! The shape of a checkpoint folder, from which its memory follows: the sizes of its weights and its `config.json`.

use crate::error::FleetError;
use crate::shape::{CACHE_BYTES, PREFILL_TOKENS};
use serde_json::Value;
use std::io;
use std::path::Path;

/// Bytes of a number of a recurrent state.
const STATE_BYTES: u64 = 4;

/// The shape of a checkpoint in a folder, as transformers writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointShape {
    /// Bytes of its weights.
    pub(crate) weights: u64,
    /// Bytes of cache per token, of layers that attend to all tokens; none if `config.json` does not tell.
    per_token: Option<u64>,
    /// The same of layers with a window, and its tokens.
    per_window_token: u64,
    window: u64,
    /// Bytes of recurrent state per sequence.
    pub(crate) state: u64,
    /// The longest context, in tokens.
    max_context: Option<u32>,
}

impl CheckpointShape {
    /// Reads `config.json` and the sizes of the weights.
    pub fn read(folder: &Path) -> Result<Self, FleetError> {
        let path = folder.join("config.json");
        let file = |source| FleetError::File { path: path.clone(), source };
        let config: Value = serde_json::from_slice(&std::fs::read(&path).map_err(file)?)
            .map_err(|error| file(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        let weights = weights(folder).map_err(|source| FleetError::File { path: folder.into(), source })?;
        Ok(Self { weights, ..Self::of_config(&config) })
    }

    /// The longest context, in tokens, if known.
    pub fn max_context(&self) -> Option<u32> {
        self.max_context
    }

    /// Bytes of KV cache for a sequence of this length, if known.
    pub(crate) fn cache_per_sequence(&self, tokens: u64) -> Option<u64> {
        let windowed = tokens.min(self.window + PREFILL_TOKENS) * self.per_window_token;
        self.per_token.map(|full| full * tokens + windowed)
    }

    fn of_config(config: &Value) -> Self {
        // Models with images have the language model's keys in a table of their own.
        let text = config.get("text_config").unwrap_or(config);
        let number = |key: &str| text.get(key).or_else(|| config.get(key)).and_then(Value::as_u64);
        let max_context = number("max_position_embeddings").and_then(|tokens| u32::try_from(tokens).ok());
        let (Some(layers), Some(per_layer)) = (number("num_hidden_layers"), bytes_per_layer(&number)) else {
            return Self { max_context, ..Self::default() };
        };
        let state = ["linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim"]
            .into_iter()
            .try_fold(STATE_BYTES, |bytes, key| Some(bytes.saturating_mul(number(key)?)));
        let window = number("sliding_window");
        let count = |kind: &str| {
            let kinds = text.get("layer_types").and_then(Value::as_array);
            kinds.map_or(0, |kinds| kinds.iter().filter(|layer| layer.as_str() == Some(kind)).count() as u64)
        };
        // Layers of a kind whose size is not known count as full attention, which is never less.
        let windowed = window.map_or(0, |_| count("sliding_attention"));
        let recurrent = state.map_or(0, |_| count("linear_attention"));
        let full = layers.saturating_sub(windowed + recurrent);
        Self {
            weights: 0,
            per_token: Some(full.saturating_mul(per_layer)),
            per_window_token: windowed.saturating_mul(per_layer),
            window: window.unwrap_or_default(),
            state: recurrent.saturating_mul(state.unwrap_or_default()),
            max_context,
        }
    }
}

/// Bytes of keys and values of a token in a layer.
fn bytes_per_layer(number: &impl Fn(&str) -> Option<u64>) -> Option<u64> {
    // Multi-head latent attention caches one compressed vector.
    if let (Some(rank), Some(rope)) = (number("kv_lora_rank"), number("qk_rope_head_dim")) {
        return Some(CACHE_BYTES.saturating_mul(rank.saturating_add(rope)));
    }
    let heads = number("num_attention_heads")?;
    let width = match number("head_dim") {
        Some(width) => width,
        None => number("hidden_size")?.checked_div(heads)?,
    };
    Some(
        (2 * CACHE_BYTES)
            .saturating_mul(number("num_key_value_heads").unwrap_or(heads))
            .saturating_mul(width),
    )
}

/// Bytes of the files of weights; a second copy in Mistral's own layout is not loaded.
fn weights(folder: &Path) -> io::Result<u64> {
    let (mut own, mut consolidated) = (0, 0);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "safetensors") {
            let size = std::fs::metadata(&path)?.len();
            let copy =
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("consolidated"));
            *(if copy { &mut consolidated } else { &mut own }) += size;
        }
    }
    Ok(if own > 0 { own } else { consolidated })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cache(config: &Value, tokens: u64) -> Option<u64> {
        CheckpointShape::of_config(config).cache_per_sequence(tokens)
    }

    #[test]
    fn a_config_gives_the_cache_of_the_known_shapes() {
        use crate::shape::ModelShape;
        let known = |hub: &str| ModelShape::of(hub).unwrap();
        let qwen3 = json!({"num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
            "head_dim": 128, "hidden_size": 4096, "max_position_embeddings": 40960, "sliding_window": null});
        assert_eq!(cache(&qwen3, 8192), Some(known("Qwen/Qwen3-8B").cache_per_sequence(8192)));
        assert_eq!(CheckpointShape::of_config(&qwen3).max_context(), Some(40_960));
        let kinds = |of: fn(u32) -> &'static str, layers| (0..layers).map(of).collect::<Vec<_>>();
        let gemma = json!({"text_config": {"num_hidden_layers": 48, "num_attention_heads": 16,
            "num_key_value_heads": 8, "head_dim": 256, "sliding_window": 1024,
            "layer_types": kinds(|at| if at % 6 == 5 { "full_attention" } else { "sliding_attention" }, 48)}});
        assert_eq!(cache(&gemma, 8192), Some(known("google/gemma-3-12b-it").cache_per_sequence(8192)));
        let hybrid = json!({"num_hidden_layers": 64, "num_attention_heads": 24, "num_key_value_heads": 4,
            "head_dim": 256, "linear_num_value_heads": 48, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
            "layer_types": kinds(|at| if at % 4 == 3 { "full_attention" } else { "linear_attention" }, 64)});
        let shape = known("Qwen/Qwen3.5-27B");
        assert_eq!(cache(&hybrid, 8192), Some(shape.cache_per_sequence(8192)));
        assert_eq!(CheckpointShape::of_config(&hybrid).state, shape.state_per_sequence());
    }

    #[test]
    fn what_the_config_leaves_out() {
        // Without key-value heads every head has keys and values: GPT-2 with 2 layers, 12 heads of 64.
        let old = json!({"num_hidden_layers": 2, "num_attention_heads": 12, "hidden_size": 768});
        assert_eq!(cache(&old, 1), Some(2 * 2 * 768 * 2));
        // DeepSeek-V3: 61 layers of 512 + 64 numbers.
        let latent = json!({"num_hidden_layers": 61, "num_attention_heads": 128, "kv_lora_rank": 512,
            "qk_rope_head_dim": 64});
        assert_eq!(cache(&latent, 1), Some(61 * 576 * 2));
        assert_eq!(cache(&json!({"model_type": "mamba"}), 1), None);
        assert_eq!(
            cache(&json!({"num_hidden_layers": 1, "num_attention_heads": 0, "hidden_size": 8}), 1),
            None
        );
    }

    #[test]
    fn weights_are_summed_over_their_files_and_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        assert!(CheckpointShape::read(folder.path()).is_err());
        write("config.json", "{}");
        write("consolidated.safetensors", "12345678");
        assert_eq!(CheckpointShape::read(folder.path()).unwrap().weights, 8);
        write("model-00001-of-00002.safetensors", "1234");
        write("model-00002-of-00002.safetensors", "123");
        write("tokenizer.json", "123");
        assert_eq!(CheckpointShape::read(folder.path()).unwrap().weights, 7);
    }
}
