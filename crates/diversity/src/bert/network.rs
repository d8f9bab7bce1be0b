//! The forward pass of a BERT encoder on the CPU, in single precision.

use candle_core::safetensors::Load;
use candle_core::{DType, Device, Module, Result, Tensor};
use candle_nn::Linear;
use candle_nn::ops::{layer_norm_slow, softmax_last_dim};
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

/// The settings of `config.json` that are used.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Config {
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
    config: Config,
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

impl LayerNorm {
    fn forward(&self, hidden_states: &Tensor) -> Result<Tensor> {
        // The fast version subtracts squares, which can make the variance negative.
        layer_norm_slow(hidden_states, &self.weight, &self.bias, self.eps)
    }
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

impl Config {
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

/// The tensors of a safetensors file.
struct Weights<'a> {
    file: SafeTensors<'a>,
    /// The prefix of all names, if the encoder is part of a larger network.
    prefix: &'static str,
}

impl Weights<'_> {
    fn get(&self, name: &str, shape: &[usize]) -> std::result::Result<Tensor, String> {
        let name = format!("{}{name}", self.prefix);
        let view = self.file.tensor(&name).map_err(|_| format!("no tensor `{name}`"))?;
        if view.shape() != shape {
            let found = view.shape();
            return Err(format!("tensor `{name}` has shape {found:?}, but `config.json` implies {shape:?}"));
        }
        if !matches!(view.dtype(), Dtype::F16 | Dtype::BF16 | Dtype::F32) {
            return Err(format!(
                "tensor `{name}` holds {:?}; only F16, BF16 and F32 are supported",
                view.dtype()
            ));
        }
        let loaded = view.load(&Device::Cpu).and_then(|tensor| tensor.to_dtype(DType::F32));
        loaded.map_err(|error| format!("tensor `{name}`: {error}"))
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> std::result::Result<Linear, String> {
        let weight = self.get(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Linear::new(weight, Some(self.get(&format!("{name}.bias"), &[outputs])?)))
    }

    fn norm(&self, name: &str, config: &Config) -> std::result::Result<LayerNorm, String> {
        let part = |part: &str| self.get(&format!("{name}.{part}"), &[config.hidden_size]);
        Ok(LayerNorm { weight: part("weight")?, bias: part("bias")?, eps: config.layer_norm_eps })
    }
}

impl Network {
    /// Loads the network of a `model.safetensors`; other tensors in it are ignored.
    pub(super) fn load(config: Config, pooling: Pooling, file: &[u8]) -> std::result::Result<Self, String> {
        let file =
            SafeTensors::deserialize(file).map_err(|error| format!("invalid safetensors file: {error}"))?;
        let inside = file.tensor("bert.embeddings.word_embeddings.weight").is_ok();
        let weights = Weights { file, prefix: if inside { "bert." } else { "" } };
        let (hidden_size, intermediate_size) = (config.hidden_size, config.intermediate_size);
        let embeddings = |name: &str, count: usize| {
            weights.get(&format!("embeddings.{name}_embeddings.weight"), &[count, hidden_size])
        };
        let word_embeddings = embeddings("word", config.vocab_size)?;
        let positions = embeddings("position", config.max_position_embeddings)?;
        let token_types = embeddings("token_type", config.type_vocab_size)?;
        let position_embeddings =
            token_types.narrow(0, 0, 1).and_then(|first| positions.broadcast_add(&first));
        let position_embeddings = position_embeddings.map_err(|error| error.to_string())?;
        let norm = weights.norm("embeddings.LayerNorm", &config)?;
        let mut layers = Vec::new();
        for layer in 0..config.num_hidden_layers {
            let part = |part: &str| format!("encoder.layer.{layer}.{part}");
            layers.push(Layer {
                query: weights.linear(&part("attention.self.query"), hidden_size, hidden_size)?,
                key: weights.linear(&part("attention.self.key"), hidden_size, hidden_size)?,
                value: weights.linear(&part("attention.self.value"), hidden_size, hidden_size)?,
                attention_output: weights.linear(
                    &part("attention.output.dense"),
                    hidden_size,
                    hidden_size,
                )?,
                attention_norm: weights.norm(&part("attention.output.LayerNorm"), &config)?,
                intermediate: weights.linear(&part("intermediate.dense"), hidden_size, intermediate_size)?,
                output: weights.linear(&part("output.dense"), intermediate_size, hidden_size)?,
                norm: weights.norm(&part("output.LayerNorm"), &config)?,
            });
        }
        Ok(Self { config, pooling, word_embeddings, position_embeddings, norm, layers })
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
