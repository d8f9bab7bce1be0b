//! The forward pass of a BERT encoder on the CPU, in single precision.

use candle_core::{DType, Device, Module, Result, Tensor};
use candle_nn::ops::{layer_norm_slow, softmax_last_dim};
use candle_nn::{Linear, VarBuilder, linear};
use serde::Deserialize;

/// The settings of `config.json` that are used.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct BertConfig {
    pub(super) vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    pub(super) max_position_embeddings: usize,
    #[serde(default = "default_type_vocab_size")]
    type_vocab_size: usize,
    #[serde(default)]
    hidden_act: Activation,
    #[serde(default = "default_layer_norm_eps")]
    layer_norm_eps: f32,
    position_embedding_type: Option<String>,
    #[serde(default)]
    is_decoder: bool,
}

/// Read first, as the other settings depend on it.
#[derive(Deserialize)]
struct Architecture {
    model_type: Option<String>,
}

/// The activation function of a feed-forward layer.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
enum Activation {
    /// `x·Φ(x)`, with the error function.
    #[default]
    #[serde(rename = "gelu", alias = "gelu_python")]
    Gelu,
    /// The tanh approximation of it.
    #[serde(rename = "gelu_new", alias = "gelu_pytorch_tanh", alias = "gelu_fast")]
    GeluTanh,
    #[serde(rename = "relu")]
    Relu,
}

/// How the vectors of a text's tokens are combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pooling {
    /// The vector of the first token, `[CLS]`.
    Cls,
    /// The mean over tokens.
    Mean,
}

/// An encoder.
pub(super) struct Network {
    config: BertConfig,
    pooling: Pooling,
    word_embeddings: Tensor,
    /// `[max_position_embeddings, hidden_size]`, with the embedding of token type 0 added.
    position_embeddings: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attention_output: Linear,
    attention_norm: LayerNorm,
    intermediate: Linear,
    output: Linear,
    norm: LayerNorm,
}

struct LayerNorm {
    weight: Tensor,
    bias: Tensor,
    eps: f32,
}

impl Activation {
    fn forward(self, hidden_states: &Tensor) -> Result<Tensor> {
        match self {
            Self::Gelu => hidden_states.gelu_erf(),
            Self::GeluTanh => hidden_states.gelu(),
            Self::Relu => hidden_states.relu(),
        }
    }
}

impl Pooling {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cls => "cls",
            Self::Mean => "mean",
        }
    }
}

fn default_type_vocab_size() -> usize {
    2
}

fn default_layer_norm_eps() -> f32 {
    1e-12
}

impl BertConfig {
    /// Reads `config.json`, or returns why the network is not supported.
    pub(super) fn read(file: &[u8]) -> std::result::Result<Self, String> {
        let kind: Architecture = serde_json::from_slice(file).map_err(|error| error.to_string())?;
        match kind.model_type.as_deref() {
            Some("bert") => {}
            Some(other) => return Err(format!("`model_type` is `{other}`; only `bert` is supported")),
            None => return Err("there is no `model_type`; only `bert` is supported".to_owned()),
        }
        let config: Self = serde_json::from_slice(file).map_err(|error| error.to_string())?;
        if let Some(other) = config.position_embedding_type.as_deref().filter(|kind| *kind != "absolute") {
            return Err(format!("`position_embedding_type` is `{other}`; only `absolute` is supported"));
        }
        if config.is_decoder {
            return Err("`is_decoder` is set; only encoders are supported".to_owned());
        }
        let sizes = [config.vocab_size, config.hidden_size, config.intermediate_size, config.type_vocab_size];
        if sizes.contains(&0) || config.max_position_embeddings == 0 {
            return Err("a size is 0".to_owned());
        }
        let (width, heads) = (config.hidden_size, config.num_attention_heads);
        if heads == 0 || !width.is_multiple_of(heads) {
            return Err(format!("`hidden_size` {width} is not a multiple of {heads} attention heads"));
        }
        if !(config.layer_norm_eps >= 0.0 && config.layer_norm_eps.is_finite()) {
            return Err(format!("`layer_norm_eps` is {}", config.layer_norm_eps));
        }
        Ok(config)
    }
}

impl LayerNorm {
    fn load(config: &BertConfig, weights: &VarBuilder) -> Result<Self> {
        let part = |name: &str| weights.get(config.hidden_size, name);
        Ok(Self { weight: part("weight")?, bias: part("bias")?, eps: config.layer_norm_eps })
    }

    fn forward(&self, hidden_states: &Tensor) -> Result<Tensor> {
        // The fast version subtracts squares, which can make the variance negative.
        layer_norm_slow(hidden_states, &self.weight, &self.bias, self.eps)
    }
}

impl Layer {
    fn load(config: &BertConfig, weights: &VarBuilder) -> Result<Self> {
        let (hidden_size, intermediate_size) = (config.hidden_size, config.intermediate_size);
        let square = |name: &str| linear(hidden_size, hidden_size, weights.pp(name));
        Ok(Self {
            query: square("attention.self.query")?,
            key: square("attention.self.key")?,
            value: square("attention.self.value")?,
            attention_output: square("attention.output.dense")?,
            attention_norm: LayerNorm::load(config, &weights.pp("attention.output.LayerNorm"))?,
            intermediate: linear(hidden_size, intermediate_size, weights.pp("intermediate.dense"))?,
            output: linear(intermediate_size, hidden_size, weights.pp("output.dense"))?,
            norm: LayerNorm::load(config, &weights.pp("output.LayerNorm"))?,
        })
    }
}

impl Network {
    /// Loads the network of a `model.safetensors`; other tensors in it are ignored.
    pub(super) fn load(
        config: BertConfig,
        pooling: Pooling,
        file: &[u8],
    ) -> std::result::Result<Self, String> {
        let weights = VarBuilder::from_slice_safetensors(file, DType::F32, &Device::Cpu)
            .map_err(|error| format!("invalid safetensors file: {error}"))?;
        // The encoder may be part of a larger network.
        let inside = weights.contains_tensor("bert.embeddings.word_embeddings.weight");
        let weights = if inside { weights.pp("bert") } else { weights };
        Self::from_weights(config, pooling, &weights).map_err(|error| error.to_string())
    }

    fn from_weights(config: BertConfig, pooling: Pooling, weights: &VarBuilder) -> Result<Self> {
        let embeddings = |name: &str, count: usize| {
            weights.get((count, config.hidden_size), &format!("embeddings.{name}_embeddings.weight"))
        };
        let positions = embeddings("position", config.max_position_embeddings)?;
        let token_types = embeddings("token_type", config.type_vocab_size)?;
        let layer = |at: usize| Layer::load(&config, &weights.pp(format!("encoder.layer.{at}")));
        Ok(Self {
            word_embeddings: embeddings("word", config.vocab_size)?,
            position_embeddings: positions.broadcast_add(&token_types.narrow(0, 0, 1)?)?,
            norm: LayerNorm::load(&config, &weights.pp("embeddings.LayerNorm"))?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_>>()?,
            pooling,
            config,
        })
    }

    /// The length of a vector.
    pub(super) fn dimensions(&self) -> usize {
        self.config.hidden_size
    }

    /// One pooled vector for each row of tokens; no row may be empty or longer than the longest text.
    pub(super) fn forward(&self, rows: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        let length = rows.iter().map(|row| row.len()).max().unwrap_or_default();
        let hidden_size = self.config.hidden_size;
        let padded = |row: &&[u32]| row.iter().copied().chain([0].into_iter().cycle()).take(length).collect();
        let tokens: Vec<u32> = rows.iter().flat_map(|row| -> Vec<u32> { padded(row) }).collect();
        let tokens = Tensor::from_vec(tokens, rows.len() * length, &Device::Cpu)?;
        let words = self.word_embeddings.index_select(&tokens, 0)?;
        let words = words.reshape((rows.len(), length, hidden_size))?;
        let embeddings = words.broadcast_add(&self.position_embeddings.narrow(0, 0, length)?)?;
        let mut hidden_states =
            self.norm.forward(&embeddings.reshape((rows.len() * length, hidden_size))?)?;
        let mask = per_token(rows, length, |_| 0.0, f32::NEG_INFINITY)?.unsqueeze(1)?;
        for layer in &self.layers {
            let context = self.attention(layer, &hidden_states, &mask)?;
            let attention = (layer.attention_output.forward(&context)? + hidden_states)?;
            hidden_states = layer.attention_norm.forward(&attention)?;
            let intermediate = layer.intermediate.forward(&hidden_states)?;
            let intermediate = self.config.hidden_act.forward(&intermediate)?;
            hidden_states = layer.norm.forward(&(layer.output.forward(&intermediate)? + hidden_states)?)?;
        }
        let hidden_states = hidden_states.reshape((rows.len(), length, hidden_size))?;
        let pooled = match self.pooling {
            Pooling::Cls => hidden_states.narrow(1, 0, 1)?,
            Pooling::Mean => per_token(rows, length, reciprocal, 0.0)?.matmul(&hidden_states)?,
        };
        pooled.squeeze(1)?.to_vec2()
    }

    /// Self-attention; `mask` is `[rows, 1, 1, length]` and added to the scores.
    fn attention(&self, layer: &Layer, hidden_states: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let (rows, _, _, length) = mask.dims4()?;
        let heads = self.config.num_attention_heads;
        let head_size = self.config.hidden_size / heads;
        let project = |linear: &Linear| {
            let projected = linear.forward(hidden_states)?.reshape((rows, length, heads, head_size))?;
            projected.transpose(1, 2)?.contiguous()
        };
        let scale = (head_size as f64).sqrt().recip();
        let query = (project(&layer.query)? * scale)?;
        let scores = query.matmul(&project(&layer.key)?.transpose(2, 3)?.contiguous()?)?;
        let weights = softmax_last_dim(&scores.broadcast_add(mask)?)?;
        let context = weights.matmul(&project(&layer.value)?)?;
        context.transpose(1, 2)?.reshape((rows * length, heads * head_size))
    }
}

/// `[rows, 1, length]`: a value for every token, computed from its row's length, and another for padding.
fn per_token(rows: &[&[u32]], length: usize, value: fn(usize) -> f32, padding: f32) -> Result<Tensor> {
    let values = rows.iter().flat_map(|row| {
        let count = row.len();
        (0..length).map(move |at| if at < count { value(count) } else { padding })
    });
    Tensor::from_vec(values.collect(), (rows.len(), 1, length), &Device::Cpu)
}

#[expect(clippy::cast_possible_truncation, reason = "networks are single precision")]
fn reciprocal(count: usize) -> f32 {
    (count as f64).recip() as f32
}
