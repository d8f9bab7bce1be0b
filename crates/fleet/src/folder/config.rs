//! `config.json` as transformers writes it: what a server needs to keep in memory for each token.

use crate::shape::{CACHE_BYTES, CacheShape, STATE_NUMBER_BYTES};
use serde_json::{Map, Value};

/// A `config.json`.
#[derive(Debug)]
pub(crate) struct Config {
    all: Map<String, Value>,
    /// The key of the language model's own section, in models with vision or audio.
    section: Option<&'static str>,
}

/// Sections of a language model in a larger one.
const SECTIONS: [&str; 3] = ["text_config", "llm_config", "language_config"];

/// Keys of models whose layers, or some of them, are not described by the keys read here.
const OTHER_LAYERS: &[&str] = &[
    "attn_config",
    "attn_layer_indices",
    "attn_layer_period",
    "attention_window_size",
    "block_configs",
    "block_types",
    "conv_L_cache",
    "cross_attention_layers",
    "global_head_dim",
    "hybrid_layer_pattern",
    "hybrid_override_pattern",
    "index_topk",
    "layers_block_type",
    "mamba_d_state",
    "mamba_ssm_state_size",
    "multi_query",
    "num_kv_heads",
    "num_global_key_value_heads",
    "ssm_cfg",
    "ssm_state_size",
    "state_size",
];

/// Models in which every layer has the window, unless the layers are listed.
const WINDOWED: &[&str] = &["mistral", "mixtral", "phi3", "starcoder2"];

/// Models whose keys and values share one compressed vector.
const LATENT: &[&str] = &["deepseek_v2", "deepseek_v3", "kimi_k2"];

/// The layers by what they keep.
#[derive(Clone, Copy, Debug, Default)]
struct LayerCounts {
    full: u64,
    windowed: u64,
    recurrent: u64,
}

/// Why the cache of a sequence is not determined.
pub(crate) enum CacheError {
    /// The file contradicts itself.
    Invalid(String),
    /// The file describes a network that is not known here.
    Unknown(String),
}

impl From<String> for CacheError {
    fn from(message: String) -> Self {
        Self::Invalid(message)
    }
}

fn unknown<T>(reason: impl Into<String>) -> Result<T, CacheError> {
    Err(CacheError::Unknown(reason.into()))
}

impl Config {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        let all = match serde_json::from_slice(text) {
            Ok(Value::Object(all)) => all,
            Ok(_) => return Err("it is not a JSON object".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        let section = SECTIONS.into_iter().find(|name| all.get(*name).is_some_and(Value::is_object));
        Ok(Self { all, section })
    }

    /// A value of the language model; null is none.
    fn get(&self, key: &str) -> Option<&Value> {
        let section = match self.section {
            Some(name) => self.all.get(name).and_then(Value::as_object)?,
            None => &self.all,
        };
        section.get(key).filter(|value| !value.is_null())
    }

    /// A whole number from 1 to `max`.
    fn number(&self, key: &str, max: u64) -> Result<Option<u64>, String> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.as_u64().filter(|number| (1..=max).contains(number));
        let shown = || value.to_string().chars().take(40).collect::<String>();
        number
            .map(Some)
            .ok_or_else(|| format!("`{key}` is {}; it must be a whole number from 1 to {max}", shown()))
    }

    fn model_type(&self) -> &str {
        self.get("model_type").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether the weights are published in fewer than 16 bits.
    pub(crate) fn is_quantised(&self) -> bool {
        let of = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
        of(self.all.get("quantization_config")) || of(self.get("quantization_config"))
    }

    /// The longest context that any version of vLLM may accept.
    pub(crate) fn max_context(&self) -> Result<Option<u32>, String> {
        let Some(trained) = self.number("max_position_embeddings", 1 << 40)? else { return Ok(None) };
        let rope = self.get("rope_parameters").or_else(|| self.get("rope_scaling"));
        let kind = |rope: &Value| {
            rope.get("rope_type").or_else(|| rope.get("type")).and_then(Value::as_str).map(str::to_owned)
        };
        // Of these, the published context is already the scaled one.
        let is_scaled =
            |rope: &&Value| !matches!(kind(rope).as_deref(), Some("default" | "llama3" | "longrope" | "su"));
        let factor = rope.filter(is_scaled).and_then(|rope| rope.get("factor")).and_then(Value::as_f64);
        let named = self.number("model_max_length", 1 << 40)?.unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
        let scaled = (trained as f64 * factor.unwrap_or(1.0).max(1.0)) as u64;
        Ok(Some(u32::try_from(scaled.max(named)).unwrap_or(u32::MAX)))
    }

    /// The cache of a sequence, or why it is not known.
    pub(crate) fn cache(&self) -> Result<CacheShape, CacheError> {
        if let Some(key) =
            OTHER_LAYERS.iter().find(|key| self.get(key).is_some_and(|value| *value != Value::Bool(false)))
        {
            return unknown(format!("layers with `{key}` are not known"));
        }
        if self.get("is_encoder_decoder") == Some(&Value::Bool(true)) {
            return unknown("models with an encoder are not known");
        }
        let Some(layers) = self.number("num_hidden_layers", 4096)? else {
            return unknown("there is no `num_hidden_layers`");
        };
        if self.get("num_key_value_heads").is_some_and(Value::is_array) {
            return unknown("layers with different `num_key_value_heads` are not known");
        }
        let heads = self.number("num_attention_heads", 65_536)?;
        let kv_heads = self.number("num_key_value_heads", 65_536)?.or(heads);
        let hidden = self.number("hidden_size", 1 << 24)?;
        let layers = self.layers(layers)?;
        let recurrent = match (layers.recurrent, self.recurrent_state()?) {
            (0, _) => 0,
            (count, Some(bytes)) => count * bytes,
            (_, None) => return unknown("its recurrent layers have no `linear_…` keys"),
        };
        if let Some(rank) = self.number("kv_lora_rank", 65_536)? {
            let rotary = self.number("qk_rope_head_dim", 65_536)?;
            let Some(rotary) = rotary.filter(|_| LATENT.contains(&self.model_type())) else {
                return unknown(format!("`kv_lora_rank` of model type `{}` is not known", self.model_type()));
            };
            let full = layers.full * (rank + rotary) * CACHE_BYTES;
            return Ok(CacheShape { full, heads: 1, ..CacheShape::default() });
        }
        let own_width = self.number("head_dim", 65_536)?;
        let width = own_width.or_else(|| heads.zip(hidden).map(|(heads, hidden)| hidden / heads));
        let (Some(kv_heads), Some(width)) = (kv_heads, width) else {
            return unknown("the number or width of its attention heads is not given");
        };
        if width == 0 {
            let message = "`hidden_size` is smaller than `num_attention_heads`";
            return Err(CacheError::Invalid(message.to_owned()));
        }
        let bytes = 2 * kv_heads * width * CACHE_BYTES;
        Ok(CacheShape {
            full: layers.full * bytes,
            windowed: layers.windowed * bytes,
            window: self.number("sliding_window", 1 << 40)?.unwrap_or_default(),
            state: recurrent,
            heads: kv_heads,
        })
    }

    /// How many layers there are of each kind.
    fn layers(&self, count: u64) -> Result<LayerCounts, CacheError> {
        let all = LayerCounts { full: count, ..LayerCounts::default() };
        let unused = self.get("use_sliding_window") == Some(&Value::Bool(false));
        let window = self.number("sliding_window", 1 << 40)?.filter(|_| !unused);
        // Without a window such a layer looks back to the beginning.
        let split = |windowed: u64| match window {
            Some(_) => LayerCounts { full: count - windowed, windowed, recurrent: 0 },
            None => all,
        };
        if let Some(types) = self.get("layer_types") {
            let types = types.as_array().ok_or_else(|| "`layer_types` is not a list".to_owned())?;
            if (types.len() as u64) < count {
                let message = format!("`layer_types` has {} entries for {count} layers", types.len());
                return Err(CacheError::Invalid(message));
            }
            let mut layers = LayerCounts::default();
            for kind in types.iter().zip(0..count).map(|(kind, _)| kind) {
                match kind.as_str().unwrap_or_default() {
                    "sliding_attention" if window.is_some() => layers.windowed += 1,
                    "full_attention" | "sliding_attention" => layers.full += 1,
                    "linear_attention" => layers.recurrent += 1,
                    other => {
                        let other: String = other.chars().take(40).collect();
                        return unknown(format!("layers of type `{other}` are not known"));
                    }
                }
            }
            return Ok(layers);
        }
        if let Some(every) = self.number("full_attention_interval", 4096)? {
            let full = count / every;
            return Ok(LayerCounts { full, windowed: 0, recurrent: count - full });
        }
        if let Some(every) = self.number("sliding_window_pattern", 4096)? {
            return Ok(split(count - count / every));
        }
        Ok(if WINDOWED.contains(&self.model_type()) { split(count) } else { all })
    }

    /// Bytes of a recurrent layer's state: a matrix for each value head in single precision, and the last inputs of a convolution.
    fn recurrent_state(&self) -> Result<Option<u64>, String> {
        let number = |key: &str| self.number(key, 65_536);
        let (Some(keys), Some(key_width), Some(values), Some(value_width)) = (
            number("linear_num_key_heads")?,
            number("linear_key_head_dim")?,
            number("linear_num_value_heads")?,
            number("linear_value_head_dim")?,
        ) else {
            return Ok(None);
        };
        let kernel = number("linear_conv_kernel_dim")?.unwrap_or(4);
        let convolution = (2 * keys * key_width + values * value_width) * (kernel - 1) * CACHE_BYTES;
        Ok(Some(values * key_width * value_width * STATE_NUMBER_BYTES + convolution))
    }
}
