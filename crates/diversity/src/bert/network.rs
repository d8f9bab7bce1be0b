//! The forward pass of a BERT encoder on the processor, in single precision.

use candle_core::safetensors::Load;
use candle_core::{DType, Device, Module, Result, Tensor};
use candle_nn::Linear;
use candle_nn::ops::{layer_norm_slow, softmax_last_dim};
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

/// What is read of `config.json`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Config {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "two")]
    type_vocab_size: usize,
    #[serde(default)]
    hidden_act: Activation,
    #[serde(default = "tiny")]
    layer_norm_eps: f32,
    position_embedding_type: Option<String>,
    #[serde(default)]
    is_decoder: bool,
}

/// What says whether the rest can be read.
#[derive(Deserialize)]
struct Architecture {
    model_type: Option<String>,
}

/// The function inside a layer.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
enum Activation {
    /// `x·Φ(x)`, with the error function.
    #[default]
    #[serde(rename = "gelu", alias = "gelu_python")]
    Gelu,
    /// The same by a hyperbolic tangent.
    #[serde(rename = "gelu_new", alias = "gelu_pytorch_tanh", alias = "gelu_fast")]
    GeluTanh,
    #[serde(rename = "relu")]
    Relu,
}

/// How the vectors of a text's tokens become one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pooling {
    /// That of the first token, `[CLS]`.
    First,
    /// Their mean.
    Mean,
}

/// An encoder.
pub(super) struct Network {
    config: Config,
    pooling: Pooling,
    words: Tensor,
    /// `[longest, width]`: positions, with the first kind of segment added.
    places: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    queries: Linear,
    keys: Linear,
    values: Linear,
    attended: Linear,
    attended_norm: Norm,
    inner: Linear,
    outer: Linear,
    norm: Norm,
}

struct Norm {
    scale: Tensor,
    shift: Tensor,
    epsilon: f32,
}

impl Norm {
    fn of(&self, stream: &Tensor) -> Result<Tensor> {
        // The quick one takes a difference of squares, which can fall below nought.
        layer_norm_slow(stream, &self.scale, &self.shift, self.epsilon)
    }
}

impl Activation {
    fn of(self, stream: &Tensor) -> Result<Tensor> {
        match self {
            Self::Gelu => stream.gelu_erf(),
            Self::GeluTanh => stream.gelu(),
            Self::Relu => stream.relu(),
        }
    }
}

impl Pooling {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => "cls",
            Self::Mean => "mean",
        }
    }
}

fn two() -> usize {
    2
}

fn tiny() -> f32 {
    1e-12
}

impl Config {
    /// Reads `config.json`, or says why there is no network of this shape here.
    pub(super) fn read(file: &[u8]) -> std::result::Result<Self, String> {
        let kind: Architecture = serde_json::from_slice(file).map_err(|error| error.to_string())?;
        match kind.model_type.as_deref() {
            Some("bert") => {}
            Some(other) => return Err(format!("`model_type` is `{other}`; only `bert` is computed here")),
            None => return Err("there is no `model_type`; only `bert` is computed here".to_owned()),
        }
        let config: Self = serde_json::from_slice(file).map_err(|error| error.to_string())?;
        if let Some(other) = config.position_embedding_type.as_deref().filter(|kind| *kind != "absolute") {
            return Err(format!("`position_embedding_type` is `{other}`; only `absolute` is computed here"));
        }
        if config.is_decoder {
            return Err("`is_decoder` is set; only encoders are computed here".to_owned());
        }
        let sizes = [config.vocab_size, config.hidden_size, config.intermediate_size, config.type_vocab_size];
        if sizes.contains(&0) || config.max_position_embeddings == 0 {
            return Err("a size of nought".to_owned());
        }
        let (width, heads) = (config.hidden_size, config.num_attention_heads);
        if heads == 0 || !width.is_multiple_of(heads) {
            return Err(format!("`hidden_size` {width} cannot be shared by {heads} attention heads"));
        }
        if !(config.layer_norm_eps >= 0.0 && config.layer_norm_eps.is_finite()) {
            return Err(format!("`layer_norm_eps` is {}", config.layer_norm_eps));
        }
        Ok(config)
    }

    /// The most tokens of a text.
    pub(super) fn longest(&self) -> usize {
        self.max_position_embeddings
    }

    /// How many tokens are known.
    pub(super) fn vocabulary(&self) -> usize {
        self.vocab_size
    }
}

/// The tensors of a file, by the names of a plain encoder.
struct Named<'a> {
    file: SafeTensors<'a>,
    /// What stands before every name where the encoder is part of a larger network.
    before: &'static str,
}

impl Named<'_> {
    fn get(&self, name: &str, shape: &[usize]) -> std::result::Result<Tensor, String> {
        let name = format!("{}{name}", self.before);
        let view = self.file.tensor(&name).map_err(|_| format!("no tensor `{name}`"))?;
        if view.shape() != shape {
            let found = view.shape();
            return Err(format!("tensor `{name}` has shape {found:?}, and `config.json` asks for {shape:?}"));
        }
        if !matches!(view.dtype(), Dtype::F16 | Dtype::BF16 | Dtype::F32) {
            return Err(format!("tensor `{name}` holds {:?}; only F16, BF16 and F32 are read", view.dtype()));
        }
        let loaded = view.load(&Device::Cpu).and_then(|tensor| tensor.to_dtype(DType::F32));
        loaded.map_err(|error| format!("tensor `{name}`: {error}"))
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> std::result::Result<Linear, String> {
        let weight = self.get(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Linear::new(weight, Some(self.get(&format!("{name}.bias"), &[outputs])?)))
    }

    fn norm(&self, name: &str, config: &Config) -> std::result::Result<Norm, String> {
        let part = |part: &str| self.get(&format!("{name}.{part}"), &[config.hidden_size]);
        Ok(Norm { scale: part("weight")?, shift: part("bias")?, epsilon: config.layer_norm_eps })
    }
}

impl Network {
    /// The network of a `model.safetensors`; tensors that an encoder does not use are left unread.
    pub(super) fn load(config: Config, pooling: Pooling, file: &[u8]) -> std::result::Result<Self, String> {
        let file =
            SafeTensors::deserialize(file).map_err(|error| format!("no sound safetensors file: {error}"))?;
        let inside = file.tensor("bert.embeddings.word_embeddings.weight").is_ok();
        let named = Named { file, before: if inside { "bert." } else { "" } };
        let (width, wide) = (config.hidden_size, config.intermediate_size);
        let words = named.get("embeddings.word_embeddings.weight", &[config.vocab_size, width])?;
        let places =
            named.get("embeddings.position_embeddings.weight", &[config.max_position_embeddings, width])?;
        let kinds = named.get("embeddings.token_type_embeddings.weight", &[config.type_vocab_size, width])?;
        let places = kinds.narrow(0, 0, 1).and_then(|first| places.broadcast_add(&first));
        let places = places.map_err(|error| error.to_string())?;
        let norm = named.norm("embeddings.LayerNorm", &config)?;
        let mut layers = Vec::new();
        for layer in 0..config.num_hidden_layers {
            let part = |part: &str| format!("encoder.layer.{layer}.{part}");
            layers.push(Layer {
                queries: named.linear(&part("attention.self.query"), width, width)?,
                keys: named.linear(&part("attention.self.key"), width, width)?,
                values: named.linear(&part("attention.self.value"), width, width)?,
                attended: named.linear(&part("attention.output.dense"), width, width)?,
                attended_norm: named.norm(&part("attention.output.LayerNorm"), &config)?,
                inner: named.linear(&part("intermediate.dense"), width, wide)?,
                outer: named.linear(&part("output.dense"), wide, width)?,
                norm: named.norm(&part("output.LayerNorm"), &config)?,
            });
        }
        Ok(Self { config, pooling, words, places, norm, layers })
    }

    /// How many numbers a vector has.
    pub(super) fn dimensions(&self) -> usize {
        self.config.hidden_size
    }

    /// One vector for each row of tokens, of any length; no row may be empty or longer than the longest text.
    pub(super) fn pooled(&self, rows: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        let length = rows.iter().map(|row| row.len()).max().unwrap_or_default();
        let width = self.config.hidden_size;
        let filled = |row: &&[u32]| row.iter().copied().chain([0].into_iter().cycle()).take(length).collect();
        let tokens: Vec<u32> = rows.iter().flat_map(|row| -> Vec<u32> { filled(row) }).collect();
        let tokens = Tensor::from_vec(tokens, rows.len() * length, &Device::Cpu)?;
        let words = self.words.index_select(&tokens, 0)?.reshape((rows.len(), length, width))?;
        let stream = words.broadcast_add(&self.places.narrow(0, 0, length)?)?;
        let mut stream = self.norm.of(&stream.reshape((rows.len() * length, width))?)?;
        let hidden = per_token(rows, length, |_| 0.0, f32::NEG_INFINITY)?.unsqueeze(1)?;
        for layer in &self.layers {
            let mixed = self.attention(layer, &stream, &hidden)?;
            stream = layer.attended_norm.of(&(layer.attended.forward(&mixed)? + stream)?)?;
            let inner = self.config.hidden_act.of(&layer.inner.forward(&stream)?)?;
            stream = layer.norm.of(&(layer.outer.forward(&inner)? + stream)?)?;
        }
        let stream = stream.reshape((rows.len(), length, width))?;
        let pooled = match self.pooling {
            Pooling::First => stream.narrow(1, 0, 1)?,
            Pooling::Mean => per_token(rows, length, share, 0.0)?.matmul(&stream)?,
        };
        pooled.squeeze(1)?.to_vec2()
    }

    /// Each token's mixture of the values of its text; `hidden` is `[rows, 1, 1, length]`.
    fn attention(&self, layer: &Layer, stream: &Tensor, hidden: &Tensor) -> Result<Tensor> {
        let (rows, _, _, length) = hidden.dims4()?;
        let heads = self.config.num_attention_heads;
        let wide = self.config.hidden_size / heads;
        let part = |linear: &Linear| {
            linear.forward(stream)?.reshape((rows, length, heads, wide))?.transpose(1, 2)?.contiguous()
        };
        let scale = (wide as f64).sqrt().recip();
        let queries = (part(&layer.queries)? * scale)?;
        let scores = queries.matmul(&part(&layer.keys)?.transpose(2, 3)?.contiguous()?)?;
        let shares = softmax_last_dim(&scores.broadcast_add(hidden)?)?;
        let mixed = shares.matmul(&part(&layer.values)?)?;
        mixed.transpose(1, 2)?.reshape((rows * length, heads * wide))
    }
}

/// `[rows, 1, length]`: a number for every token of a row, another for its filling.
fn per_token(rows: &[&[u32]], length: usize, own: fn(usize) -> f32, filling: f32) -> Result<Tensor> {
    let each = rows.iter().flat_map(|row| {
        let count = row.len();
        (0..length).map(move |at| if at < count { own(count) } else { filling })
    });
    Tensor::from_vec(each.collect(), (rows.len(), 1, length), &Device::Cpu)
}

/// Of a mean over this many.
#[expect(clippy::cast_possible_truncation, reason = "networks are single precision")]
fn share(count: usize) -> f32 {
    (count as f64).recip() as f32
}
