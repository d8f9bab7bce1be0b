//! `config.json` as the versions of transformers write it.

use super::LlamaConfig;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// One token, or a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum TokenIds {
    One(u32),
    Many(Vec<u32>),
}

/// Rotary positions: `rope_parameters` in newer files, `rope_scaling` in older ones.
#[derive(Deserialize)]
struct Rope {
    #[serde(rename = "rope_type")]
    kind: Option<String>,
    #[serde(rename = "type")]
    older_kind: Option<String>,
    #[serde(rename = "rope_theta")]
    theta: Option<f64>,
    factor: Option<f64>,
}

/// All supported spellings of the keys.
#[derive(Deserialize)]
pub(super) struct RawConfig {
    architectures: Option<Vec<String>>,
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    max_position_embeddings: Option<usize>,
    rms_norm_eps: Option<f64>,
    rope_theta: Option<f64>,
    rope_scaling: Option<Rope>,
    rope_parameters: Option<Rope>,
    tie_word_embeddings: Option<bool>,
    hidden_act: Option<String>,
    bos_token_id: Option<u32>,
    eos_token_id: Option<TokenIds>,
    pad_token_id: Option<u32>,
    torch_dtype: Option<String>,
    dtype: Option<String>,
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
    quantization_config: Option<IgnoredAny>,
}

/// The architecture that the engine runs.
pub(super) const ARCHITECTURE: &str = "LlamaForCausalLM";

impl TryFrom<RawConfig> for LlamaConfig {
    type Error = String;

    fn try_from(file: RawConfig) -> Result<Self, String> {
        let architectures = file.architectures.unwrap_or_else(|| vec![ARCHITECTURE.to_owned()]);
        if !architectures.iter().any(|name| name == ARCHITECTURE) {
            return Err(format!("`architectures` is {architectures:?}; only `{ARCHITECTURE}` is run"));
        }
        for (name, set) in [("attention_bias", file.attention_bias), ("mlp_bias", file.mlp_bias)] {
            if set == Some(true) {
                return Err(format!("`{name}` is set; layers with a bias are not run"));
            }
        }
        if file.quantization_config.is_some() {
            return Err("`quantization_config` is set; quantised weights are not run".to_owned());
        }
        for rope in [&file.rope_scaling, &file.rope_parameters].into_iter().flatten() {
            let kind = rope.kind.as_deref().or(rope.older_kind.as_deref()).unwrap_or("default");
            if kind != "default" || rope.factor.is_some() {
                return Err(format!("`{kind}` rope scaling is not run"));
            }
        }
        let eos_token_id = match file.eos_token_id {
            None => 2,
            Some(TokenIds::One(token)) => token,
            Some(TokenIds::Many(tokens)) => match tokens[..] {
                [token] => token,
                _ => return Err(format!("`eos_token_id` is {tokens:?}; one token is run")),
            },
        };
        let heads = file.num_attention_heads;
        let config = Self {
            architectures,
            model_type: file.model_type,
            vocab_size: file.vocab_size,
            hidden_size: file.hidden_size,
            intermediate_size: file.intermediate_size,
            num_hidden_layers: file.num_hidden_layers,
            num_attention_heads: heads,
            num_key_value_heads: file.num_key_value_heads.unwrap_or(heads),
            head_dim: file.head_dim.or(file.hidden_size.checked_div(heads)).unwrap_or_default(),
            max_position_embeddings: file.max_position_embeddings.unwrap_or(2048),
            rms_norm_eps: file.rms_norm_eps.unwrap_or(1e-6),
            rope_theta: file
                .rope_parameters
                .and_then(|rope| rope.theta)
                .or(file.rope_theta)
                .unwrap_or(10_000.0),
            tie_word_embeddings: file.tie_word_embeddings.unwrap_or(false),
            hidden_act: file.hidden_act.unwrap_or_else(|| "silu".to_owned()),
            bos_token_id: file.bos_token_id.unwrap_or(1),
            eos_token_id,
            pad_token_id: file.pad_token_id.unwrap_or(eos_token_id),
            torch_dtype: file.torch_dtype.or(file.dtype).unwrap_or_else(|| "float32".to_owned()),
        };
        config.check()?;
        Ok(config)
    }
}
