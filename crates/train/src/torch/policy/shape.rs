//! `config.json` of the networks that are trained here: Llama, Qwen2 and Qwen3.

use serde_json::Value;

use super::rotary::Rotary;
use crate::LearnError;

const ELSEWHERE: &str =
    "hint: Llama, Qwen2 and Qwen3 are trained in this process; for others see `configs/prime-rl/`";

/// The shape of a network.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) vocabulary: usize,
    pub(super) width: usize,
    pub(super) inner: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    /// Heads of keys and values.
    pub(super) shared: usize,
    /// Width of a head.
    pub(super) head: usize,
    pub(super) longest: usize,
    pub(super) epsilon: f64,
    /// The head is the embedding.
    pub(super) tied: bool,
    /// Queries, keys and values have a bias (Qwen2).
    pub(super) bias: bool,
    /// Queries and keys are normed, head by head (Qwen3).
    pub(super) head_norms: bool,
    pub(super) rotary: Rotary,
}

impl Shape {
    /// Reads the contents of `config.json`; what is not computed here is an error and never a silent difference.
    pub(super) fn read(config: &Value) -> Result<Self, LearnError> {
        let model = config["model_type"].as_str().unwrap_or("nothing");
        let (bias, head_norms) = match model {
            "llama" => (false, false),
            "qwen2" => (true, false),
            "qwen3" => (false, true),
            other => return Err(LearnError::Network(format!("`model_type` is `{other}`\n{ELSEWHERE}"))),
        };
        refuse_extras(config)?;
        let number = |name: &str| whole(config, name).ok_or_else(|| wrong(&format!("`{name}` is missing")));
        let (width, heads) = (number("hidden_size")?, number("num_attention_heads")?);
        let shared = whole(config, "num_key_value_heads").unwrap_or(heads);
        let head = whole(config, "head_dim").or(width.checked_div(heads)).unwrap_or_default();
        if shared == 0 || !heads.is_multiple_of(shared) || head == 0 || !head.is_multiple_of(2) {
            return Err(wrong(&format!("{heads} heads of width {head} over {shared}")));
        }
        let shape = Self {
            vocabulary: number("vocab_size")?,
            width,
            inner: number("intermediate_size")?,
            layers: number("num_hidden_layers")?,
            heads,
            shared,
            head,
            longest: whole(config, "max_position_embeddings").unwrap_or(2048),
            epsilon: config["rms_norm_eps"].as_f64().unwrap_or(1e-6),
            tied: config["tie_word_embeddings"].as_bool().unwrap_or(false),
            bias,
            head_norms,
            rotary: Rotary::read(config)?,
        };
        let empty = [shape.vocabulary, width, shape.inner, shape.layers].contains(&0);
        if empty { Err(wrong("a size is nought")) } else { Ok(shape) }
    }
}

/// Settings that change the network, where they are switched on.
fn refuse_extras(config: &Value) -> Result<(), LearnError> {
    let act = config["hidden_act"].as_str().unwrap_or("silu");
    if act != "silu" {
        return Err(wrong(&format!("`hidden_act` is `{act}`")));
    }
    for name in ["attention_bias", "mlp_bias", "use_sliding_window"] {
        if config[name].as_bool() == Some(true) {
            return Err(wrong(&format!("`{name}` is set")));
        }
    }
    let mut kinds = config["layer_types"].as_array().into_iter().flatten();
    if let Some(kind) = kinds.find(|kind| **kind != "full_attention") {
        return Err(wrong(&format!("a layer is of kind {kind}")));
    }
    if !config["quantization_config"].is_null() {
        return Err(LearnError::Network(
            "its weights are quantised\nhint: train the model that they were made from".to_owned(),
        ));
    }
    match config["partial_rotary_factor"].as_f64() {
        Some(share) if share < 1.0 => Err(wrong(&format!("only {share} of each head turns"))),
        _ => Ok(()),
    }
}

/// A shape that is not computed here.
pub(super) fn wrong(what: &str) -> LearnError {
    LearnError::Network(format!("{what}\n{ELSEWHERE}"))
}

fn whole(config: &Value, name: &str) -> Option<usize> {
    config[name].as_u64().and_then(|number| usize::try_from(number).ok())
}

/// The tokens under this name: one, or a list.
pub(super) fn tokens(config: &Value, name: &str) -> Vec<u32> {
    let value = &config[name];
    let all = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    all.iter().filter_map(Value::as_u64).filter_map(|token| u32::try_from(token).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Shape, tokens};
    use serde_json::{Value, json};

    fn least(model: &str) -> Value {
        json!({"model_type": model, "vocab_size": 50, "hidden_size": 24, "intermediate_size": 48,
            "num_hidden_layers": 1, "num_attention_heads": 3})
    }

    #[test]
    fn each_family_has_its_own_extras() {
        let extras = |model: &str| {
            let shape = Shape::read(&least(model)).unwrap();
            (shape.bias, shape.head_norms)
        };
        assert_eq!(["llama", "qwen2", "qwen3"].map(extras), [(false, false), (true, false), (false, true)]);
    }

    #[test]
    fn what_is_not_computed_is_refused_with_a_way_out() {
        for model in ["qwen3_5", "qwen3_next", "mistral", ""] {
            let said = Shape::read(&least(model)).unwrap_err().to_string();
            assert!(said.contains(model) && said.contains("configs/prime-rl/"), "{said}");
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
            assert!(Shape::read(&config).is_err(), "{name}");
        }
        let mut config = least("qwen2");
        config["use_sliding_window"] = json!(false);
        config["sliding_window"] = json!(4096);
        config["layer_types"] = json!(["full_attention"]);
        assert!(Shape::read(&config).is_ok(), "switched off");
    }

    #[test]
    fn one_token_or_many() {
        let config = json!({"one": 7, "many": [7, 9], "none": null});
        assert_eq!(["one", "many", "none"].map(|name| tokens(&config, name)), [vec![7], vec![7, 9], vec![]]);
    }
}
