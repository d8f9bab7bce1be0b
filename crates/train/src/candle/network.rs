//! The forward pass of a Llama-style network in candle's operations, all of which have gradients.

use std::collections::HashMap;

use aske_model::LlamaConfig;
use candle_core::{D, Device, Result, Tensor};
use candle_nn::ops::{log_softmax, softmax};

use crate::batch::Targets;

/// Constants of the forward pass.
pub(super) struct Network {
    config: LlamaConfig,
    /// `[longest, head]`.
    cosines: Tensor,
    sines: Tensor,
}

/// The weights of one pass, by name.
pub(super) struct Named<'a>(pub(super) HashMap<&'a str, Tensor>);

impl Named<'_> {
    fn get(&self, name: &str) -> Result<&Tensor> {
        self.0.get(name).ok_or_else(|| candle_core::Error::Msg(format!("no weight {name}")))
    }

    /// `x·wᵀ` for `x` of two dimensions.
    fn project(&self, name: &str, input: &Tensor) -> Result<Tensor> {
        input.matmul(&self.get(name)?.t()?)
    }
}

impl Network {
    pub(super) fn new(config: &LlamaConfig) -> Result<Self> {
        let (cosines, sines) = crate::layout::rotations(config);
        let shape = (config.max_position_embeddings, config.head_dim);
        let cosines = Tensor::from_vec(cosines, shape, &Device::Cpu)?;
        let sines = Tensor::from_vec(sines, shape, &Device::Cpu)?;
        Ok(Self { config: config.clone(), cosines, sines })
    }

    /// The loss of these predictions over `rows` rows of tokens.
    pub(super) fn loss(
        &self,
        weights: &Named,
        tokens: &[u32],
        rows: usize,
        targets: &Targets,
    ) -> Result<Tensor> {
        let config = &self.config;
        let length = tokens.len() / rows;
        let tokens = Tensor::from_slice(tokens, tokens.len(), &Device::Cpu)?;
        let mut stream = weights.get("model.embed_tokens.weight")?.index_select(&tokens, 0)?;
        for layer in 0..config.num_hidden_layers {
            let name = |part: &str| format!("model.layers.{layer}.{part}.weight");
            let read = self.normed(&stream, weights.get(&name("input_layernorm"))?)?;
            stream = (stream + self.attention(weights, &name, &read, rows, length)?)?;
            let read = self.normed(&stream, weights.get(&name("post_attention_layernorm"))?)?;
            let gate = weights.project(&name("mlp.gate_proj"), &read)?.silu()?;
            let inner = (gate * weights.project(&name("mlp.up_proj"), &read)?)?;
            stream = (stream + weights.project(&name("mlp.down_proj"), &inner)?)?;
        }
        let count = targets.places.len();
        let places = Tensor::from_slice(&targets.places, count, &Device::Cpu)?;
        let read = self.normed(&stream.index_select(&places, 0)?, weights.get("model.norm.weight")?)?;
        let head = if config.tie_word_embeddings { "model.embed_tokens.weight" } else { "lm_head.weight" };
        let likely = log_softmax(&weights.project(head, &read)?, D::Minus1)?;
        let wanted = Tensor::from_slice(&targets.tokens, (count, 1), &Device::Cpu)?;
        let shares = Tensor::from_slice(&targets.weights, (count, 1), &Device::Cpu)?;
        (likely.gather(&wanted, 1)? * shares)?.sum_all()?.neg()
    }

    fn normed(&self, stream: &Tensor, scale: &Tensor) -> Result<Tensor> {
        let size = (stream.sqr()?.mean_keepdim(D::Minus1)? + self.config.rms_norm_eps)?.sqrt()?;
        stream.broadcast_div(&size)?.broadcast_mul(scale)
    }

    fn attention(
        &self,
        weights: &Named,
        name: &impl Fn(&str) -> String,
        read: &Tensor,
        rows: usize,
        length: usize,
    ) -> Result<Tensor> {
        let (heads, shared) = (self.config.num_attention_heads, self.config.num_key_value_heads);
        let wide = self.config.head_dim;
        let part = |which: &str, count: usize| {
            let all = weights.project(&name(which), read)?.reshape((rows, length, count, wide))?;
            all.transpose(1, 2)?.contiguous()
        };
        let queries = self.rotated(&part("self_attn.q_proj", heads)?, length)?;
        let keys = repeated(&self.rotated(&part("self_attn.k_proj", shared)?, length)?, heads / shared)?;
        let values = repeated(&part("self_attn.v_proj", shared)?, heads / shared)?;
        let scores = (queries.matmul(&keys.transpose(2, 3)?.contiguous()?)? / (wide as f64).sqrt())?;
        let attended = softmax(&scores.broadcast_add(&hidden_future(length)?)?, D::Minus1)?;
        let mixed = attended.matmul(&values)?.transpose(1, 2)?.reshape((rows * length, heads * wide))?;
        weights.project(&name("self_attn.o_proj"), &mixed)
    }

    /// Turns each head by its position: `x·cos + (-second half, first half)·sin`.
    fn rotated(&self, heads: &Tensor, length: usize) -> Result<Tensor> {
        let half = self.config.head_dim / 2;
        let (first, second) = (heads.narrow(3, 0, half)?, heads.narrow(3, half, half)?);
        let turned = Tensor::cat(&[second.neg()?, first], 3)?;
        let cosines = self.cosines.narrow(0, 0, length)?;
        let sines = self.sines.narrow(0, 0, length)?;
        heads.broadcast_mul(&cosines)? + turned.broadcast_mul(&sines)?
    }
}

/// Each head of `[rows, heads, length, wide]` this many times, one after the other.
fn repeated(heads: &Tensor, times: usize) -> Result<Tensor> {
    if times == 1 {
        return Ok(heads.clone());
    }
    let (rows, count, length, wide) = heads.dims4()?;
    let many = heads.unsqueeze(2)?.broadcast_as((rows, count, times, length, wide))?;
    many.reshape((rows, count * times, length, wide))
}

/// Minus infinity wherever a position would look ahead.
fn hidden_future(length: usize) -> Result<Tensor> {
    let cells = (0..length)
        .flat_map(|from| (0..length).map(move |to| if to > from { f32::NEG_INFINITY } else { 0.0 }));
    Tensor::from_vec(cells.collect(), (length, length), &Device::Cpu)
}
