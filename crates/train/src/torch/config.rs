//! Reads `config.json` of the supported architectures: Llama, Qwen2 and Qwen3.

use serde_json::Value;

use super::rope::RopeConfig;
use crate::LearnError;

/// The architecture of a network.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelConfig {
    pub(super) vocab_size: usize,
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_layers: usize,
    pub(super) num_heads: usize,
    pub(super) num_kv_heads: usize,
    pub(super) head_dim: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) rms_norm_eps: f64,
    pub(super) tie_word_embeddings: bool,
    /// Queries, keys and values have a bias (Qwen2).
    pub(super) qkv_bias: bool,
    /// RMS norm on the heads of queries and keys (Qwen3).
    pub(super) qk_norm: bool,
    pub(super) rope: RopeConfig,
}

impl ModelConfig {
    /// Reads the contents of `config.json`; anything unsupported is an error, never silently ignored.
    pub(super) fn read(config: &Value) -> Result<Self, LearnError> {
        let model = config["model_type"].as_str().unwrap_or_default();
        let (qkv_bias, qk_norm) = match model {
            "llama" => (false, false),
            "qwen2" => (true, false),
            "qwen3" => (false, true),
            other => return Err(unsupported(format!("`model_type` is `{other}`"))),
        };
        reject_unsupported(config)?;
        let number =
            |name: &str| get(config, name).ok_or_else(|| unsupported(format!("`{name}` is missing")));
        let (hidden_size, num_heads) = (number("hidden_size")?, number("num_attention_heads")?);
        let num_kv_heads = get(config, "num_key_value_heads").unwrap_or(num_heads);
        let head_dim = get(config, "head_dim").or(hidden_size.checked_div(num_heads)).unwrap_or_default();
        let grouped = num_kv_heads > 0 && num_heads.is_multiple_of(num_kv_heads);
        if !grouped || head_dim == 0 || !head_dim.is_multiple_of(2) {
            let message = format!("{num_heads} heads of size {head_dim} with {num_kv_heads} key-value heads");
            return Err(unsupported(message));
        }
        let read = Self {
            vocab_size: number("vocab_size")?,
            hidden_size,
            intermediate_size: number("intermediate_size")?,
            num_layers: number("num_hidden_layers")?,
            num_heads,
            num_kv_heads,
            head_dim,
            max_position_embeddings: get(config, "max_position_embeddings").unwrap_or(2048),
            rms_norm_eps: config["rms_norm_eps"].as_f64().unwrap_or(1e-6),
            tie_word_embeddings: config["tie_word_embeddings"].as_bool().unwrap_or(false),
            qkv_bias,
            qk_norm,
            rope: RopeConfig::read(config)?,
        };
        let sizes = [read.vocab_size, hidden_size, read.intermediate_size, read.num_layers];
        if sizes.contains(&0) { Err(unsupported("a size is zero")) } else { Ok(read) }
    }
}

/// Rejects settings that change the computation.
fn reject_unsupported(config: &Value) -> Result<(), LearnError> {
    let act = config["hidden_act"].as_str().unwrap_or("silu");
    if act != "silu" {
        return Err(unsupported(format!("`hidden_act` is `{act}`")));
    }
    for name in ["attention_bias", "mlp_bias", "use_sliding_window"] {
        if config[name].as_bool() == Some(true) {
            return Err(unsupported(format!("`{name}` is set")));
        }
    }
    let mut kinds = config["layer_types"].as_array().into_iter().flatten();
    if let Some(kind) = kinds.find(|kind| **kind != "full_attention") {
        return Err(unsupported(format!("layer type {kind}")));
    }
    if !config["quantization_config"].is_null() {
        return Err(LearnError::Quantized);
    }
    match config["partial_rotary_factor"].as_f64() {
        Some(factor) if factor < 1.0 => Err(unsupported(format!("`partial_rotary_factor` is {factor}"))),
        _ => Ok(()),
    }
}

pub(super) fn unsupported(message: impl Into<String>) -> LearnError {
    LearnError::UnsupportedArchitecture(message.into())
}

fn get(config: &Value, name: &str) -> Option<usize> {
    config[name].as_u64().and_then(|number| usize::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use aske_chat::Hint;

    use super::ModelConfig;
    use serde_json::{Value, json};

    fn least(model: &str) -> Value {
        json!({"model_type": model, "vocab_size": 50, "hidden_size": 24, "intermediate_size": 48,
            "num_hidden_layers": 1, "num_attention_heads": 3})
    }

    #[test]
    fn each_family_has_its_own_extras() {
        let extras = |model: &str| {
            let config = ModelConfig::read(&least(model)).unwrap();
            (config.qkv_bias, config.qk_norm)
        };
        assert_eq!(["llama", "qwen2", "qwen3"].map(extras), [(false, false), (true, false), (false, true)]);
    }

    #[test]
    fn what_is_not_computed_is_refused_with_a_way_out() {
        for model in ["qwen3_5", "qwen3_next", "mistral", ""] {
            let error = ModelConfig::read(&least(model)).unwrap_err();
            let hint = error.hint().unwrap();
            assert!(
                error.to_string().contains(model) && hint.contains("configs/prime-rl/"),
                "{error} {hint}"
            );
        }
        for (name, value) in [
            ("use_sliding_window", json!(true)),
            ("layer_types", json!(["full_attention", "sliding_attention"])),
            ("rope_scaling", json!({"rope_type": "yarn", "factor": 4.0})),
            ("attention_bias", json!(true)),
            ("hidden_act", json!("gelu")),
            ("partial_rotary_factor", json!(0.5)),
            ("num_key_value_heads", json!(2)),
            ("quantization_config", json!({"quant_method": "gptq"})),
        ] {
            let mut config = least("qwen2");
            config[name] = value;
            assert!(ModelConfig::read(&config).is_err(), "{name}");
        }
        let mut config = least("qwen2");
        config["use_sliding_window"] = json!(false);
        config["sliding_window"] = json!(4096);
        config["layer_types"] = json!(["full_attention"]);
        assert!(ModelConfig::read(&config).is_ok(), "switched off");
    }
}
