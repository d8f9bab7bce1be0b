//! `config.json` of a Llama-style checkpoint, with the names that transformers and vLLM read.

use super::raw_config::RawConfig;
use serde::{Deserialize, Serialize};

/// The output head, where it is not the embedding.
pub(super) const HEAD: &str = "lm_head.weight";

/// The shape of a Llama-style network.
///
/// Missing keys have the defaults of transformers; unsupported features (biases, scaled rotary positions, other activations)
/// are errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawConfig")]
pub struct LlamaConfig {
    /// `["LlamaForCausalLM"]`.
    pub architectures: Vec<String>,
    /// `llama`.
    pub model_type: String,
    /// Vocabulary size.
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width of the feed-forward layer.
    pub intermediate_size: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Query heads.
    pub num_attention_heads: usize,
    /// Key and value heads; each serves as many query heads.
    pub num_key_value_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Maximum sequence length, in tokens.
    pub max_position_embeddings: usize,
    /// Epsilon of RMSNorm.
    pub rms_norm_eps: f64,
    /// Base of the rotary positions.
    pub rope_theta: f64,
    /// Whether the output head shares the embedding.
    pub tie_word_embeddings: bool,
    /// The activation; only `silu` is supported.
    pub hidden_act: String,
    /// The beginning-of-sequence token.
    pub bos_token_id: u32,
    /// The end-of-sequence token.
    pub eos_token_id: u32,
    /// The padding token.
    pub pad_token_id: u32,
    /// How the weights are stored: `float16`, `bfloat16` or `float32`.
    pub torch_dtype: String,
}

impl LlamaConfig {
    /// The name and shape of every weight, as the checkpoint files name them.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (width, inner) = (self.hidden_size, self.intermediate_size);
        let (queries, keys) =
            (self.num_attention_heads * self.head_dim, self.num_key_value_heads * self.head_dim);
        let mut shapes = vec![("model.embed_tokens.weight".to_owned(), vec![self.vocab_size, width])];
        for layer in 0..self.num_hidden_layers {
            let own: [(&str, Vec<usize>); 9] = [
                ("input_layernorm", vec![width]),
                ("self_attn.q_proj", vec![queries, width]),
                ("self_attn.k_proj", vec![keys, width]),
                ("self_attn.v_proj", vec![keys, width]),
                ("self_attn.o_proj", vec![width, queries]),
                ("post_attention_layernorm", vec![width]),
                ("mlp.gate_proj", vec![inner, width]),
                ("mlp.up_proj", vec![inner, width]),
                ("mlp.down_proj", vec![width, inner]),
            ];
            shapes.extend(own.map(|(name, shape)| (format!("model.layers.{layer}.{name}.weight"), shape)));
        }
        shapes.push(("model.norm.weight".to_owned(), vec![width]));
        if !self.tie_word_embeddings {
            shapes.push((HEAD.to_owned(), vec![self.vocab_size, width]));
        }
        shapes
    }

    /// The number of parameters.
    pub fn parameters(&self) -> usize {
        self.shapes().iter().map(|(_, shape)| shape.iter().product::<usize>()).sum()
    }

    /// Checks that the values are within bounds and consistent, as they are in a configuration that was read.
    pub fn check(&self) -> Result<(), String> {
        let bounds = [
            ("vocab_size", self.vocab_size, 1 << 18),
            ("hidden_size", self.hidden_size, 1 << 14),
            ("intermediate_size", self.intermediate_size, 1 << 16),
            ("num_hidden_layers", self.num_hidden_layers, 256),
            ("num_attention_heads", self.num_attention_heads, 256),
            ("num_key_value_heads", self.num_key_value_heads, 256),
            ("head_dim", self.head_dim, 512),
            ("max_position_embeddings", self.max_position_embeddings, 1 << 17),
        ];
        if let Some((name, value, most)) = bounds.iter().find(|(_, value, most)| !(1..=*most).contains(value))
        {
            return Err(format!("`{name}` is {value}; it must be from 1 to {most}"));
        }
        let whole = |condition: bool, message: &str| if condition { Ok(()) } else { Err(message.to_owned()) };
        whole(
            self.model_type == "llama",
            &format!("`model_type` is `{}`; only `llama` is supported", self.model_type),
        )?;
        whole(
            self.hidden_act == "silu",
            &format!("`hidden_act` is `{}`; only `silu` is supported", self.hidden_act),
        )?;
        whole(
            self.num_attention_heads.is_multiple_of(self.num_key_value_heads),
            "`num_attention_heads` is no multiple of `num_key_value_heads`",
        )?;
        whole(self.head_dim.is_multiple_of(2), "`head_dim` is odd")?;
        whole(self.rms_norm_eps.is_finite() && self.rms_norm_eps >= 0.0, "`rms_norm_eps` is negative")?;
        whole(self.rope_theta.is_finite() && self.rope_theta > 0.0, "`rope_theta` is not positive")?;
        whole((self.eos_token_id as usize) < self.vocab_size, "`eos_token_id` is not below `vocab_size`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LlamaConfig, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    const LEAST: &str = r#""model_type": "llama", "vocab_size": 256, "hidden_size": 24, "intermediate_size": 48,
        "num_hidden_layers": 1, "num_attention_heads": 3"#;

    #[test]
    fn what_a_file_leaves_out_is_as_in_transformers() {
        let config = read(&format!("{{{LEAST}}}")).unwrap();
        assert_eq!((config.num_key_value_heads, config.head_dim), (3, 8));
        assert_eq!((config.rope_theta, config.rms_norm_eps), (10_000.0, 1e-6));
        assert_eq!((config.bos_token_id, config.eos_token_id, config.pad_token_id), (1, 2, 2));
        assert!(!config.tie_word_embeddings);
    }

    #[test]
    fn the_newer_spellings_are_read_and_the_written_form_is_read_back() {
        let config = read(&format!(
            r#"{{{LEAST}, "dtype": "bfloat16", "rope_parameters": {{"rope_type": "default", "rope_theta": 5e5}},
            "eos_token_id": [7], "pad_token_id": null, "mlp_bias": false, "rope_scaling": null}}"#
        ))
        .unwrap();
        assert_eq!(
            (config.torch_dtype.as_str(), config.rope_theta, config.eos_token_id),
            ("bfloat16", 5e5, 7)
        );
        assert_eq!(read(&serde_json::to_string(&config).unwrap()).unwrap(), config);
    }

    #[test]
    fn what_is_not_computed_is_refused() {
        for (extra, word) in [
            (r#""rope_scaling": {"rope_type": "llama3", "factor": 8.0}"#, "rope"),
            (r#""rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4}"#, "rope"),
            (r#""attention_bias": true"#, "attention_bias"),
            (r#""mlp_bias": true"#, "mlp_bias"),
            (r#""hidden_act": "gelu""#, "hidden_act"),
            (r#""architectures": ["GPT2LMHeadModel"]"#, "GPT2LMHeadModel"),
            (r#""eos_token_id": [1, 2]"#, "eos_token_id"),
            (r#""num_key_value_heads": 2"#, "num_key_value_heads"),
            (r#""max_position_embeddings": 99999999"#, "max_position_embeddings"),
        ] {
            let text = format!("{{{LEAST}, {extra}}}");
            let problem = read(&text).unwrap_err();
            assert!(problem.contains(word), "{extra}: {problem}");
        }
    }
}
