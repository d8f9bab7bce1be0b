//! One transformer layer: attention, then a feed-forward network.

use tch::{Device, Kind, Tensor};

use super::as_i64;
use super::config::ModelConfig;
use super::rope::Rope;
use crate::LearnError;

/// The parameters of a layer; projections that read the same input are fused.
pub(super) struct Block<T> {
    pub(super) input_norm: T,
    pub(super) qkv: T,
    pub(super) qkv_bias: Option<T>,
    pub(super) q_norm: Option<T>,
    pub(super) k_norm: Option<T>,
    pub(super) o_proj: T,
    pub(super) post_attention_norm: T,
    pub(super) gate_up: T,
    pub(super) down_proj: T,
}

/// Queries, keys and values of a layer, each `[1, tokens, heads, head_dim]`.
struct Qkv {
    query: Tensor,
    key: Tensor,
    value: Tensor,
}

impl<T> Block<T> {
    /// All parameters, in a fixed order.
    pub(super) fn parameters(&self) -> Vec<&T> {
        let first = [&self.input_norm, &self.qkv].into_iter();
        let optional = [&self.qkv_bias, &self.q_norm, &self.k_norm].into_iter().flatten();
        let rest = [&self.o_proj, &self.post_attention_norm, &self.gate_up, &self.down_proj];
        first.chain(optional).chain(rest).collect()
    }

    /// Mutable [`Block::parameters`].
    pub(super) fn parameters_mut(&mut self) -> Vec<&mut T> {
        let first = [&mut self.input_norm, &mut self.qkv].into_iter();
        let optional = [&mut self.qkv_bias, &mut self.q_norm, &mut self.k_norm].into_iter().flatten();
        let rest = [&mut self.o_proj, &mut self.post_attention_norm, &mut self.gate_up, &mut self.down_proj];
        first.chain(optional).chain(rest).collect()
    }

    /// The four projections, in the order of [`Block::with_projections`].
    pub(super) fn projections(&self) -> [&T; 4] {
        [&self.qkv, &self.o_proj, &self.gate_up, &self.down_proj]
    }

    /// Maps every parameter.
    pub(super) fn map<U>(
        &self,
        mut each: impl FnMut(&T) -> Result<U, LearnError>,
    ) -> Result<Block<U>, LearnError> {
        Ok(Block {
            input_norm: each(&self.input_norm)?,
            qkv: each(&self.qkv)?,
            qkv_bias: self.qkv_bias.as_ref().map(&mut each).transpose()?,
            q_norm: self.q_norm.as_ref().map(&mut each).transpose()?,
            k_norm: self.k_norm.as_ref().map(&mut each).transpose()?,
            o_proj: each(&self.o_proj)?,
            post_attention_norm: each(&self.post_attention_norm)?,
            gate_up: each(&self.gate_up)?,
            down_proj: each(&self.down_proj)?,
        })
    }

    /// Replaces the projections.
    pub(super) fn with_projections(self, projections: [T; 4]) -> Self {
        let [qkv, o_proj, gate_up, down_proj] = projections;
        Self { qkv, o_proj, gate_up, down_proj, ..self }
    }
}

impl Block<Tensor> {
    /// Maps hidden states `[1, tokens, hidden_size]` to those after this layer.
    ///
    /// The residual stream stays in single precision; matrices are multiplied in their own precision.
    pub(super) fn forward(
        &self,
        config: &ModelConfig,
        hidden_states: &Tensor,
        rope: &Rope,
        runs: &[SequenceRun],
    ) -> Result<Tensor, LearnError> {
        let normed = self.rms_norm(config, hidden_states, &self.input_norm)?;
        let attention = causal_attention(&self.qkv(config, &normed, rope)?, runs)?;
        let hidden_states = hidden_states.f_add(&attention.f_linear(&self.o_proj, None::<Tensor>)?)?;
        let normed = self.rms_norm(config, &hidden_states, &self.post_attention_norm)?;
        let gate_up = normed.f_linear(&self.gate_up, None::<Tensor>)?.f_chunk(2, -1)?;
        let inner = gate_up[0].f_silu()?.f_mul(&gate_up[1])?;
        Ok(hidden_states.f_add(&inner.f_linear(&self.down_proj, None::<Tensor>)?)?)
    }

    fn kind(&self) -> Result<Kind, LearnError> {
        Ok(self.qkv.f_kind()?)
    }

    fn rms_norm(&self, config: &ModelConfig, x: &Tensor, weight: &Tensor) -> Result<Tensor, LearnError> {
        let normed = x.f_rms_norm(as_i64(config.hidden_size), Some(weight), config.rms_norm_eps)?;
        Ok(normed.f_to_kind(self.kind()?)?)
    }

    fn qkv(&self, config: &ModelConfig, normed: &Tensor, rope: &Rope) -> Result<Qkv, LearnError> {
        let (batch, length, _) = normed.size3()?;
        let (num_heads, num_kv_heads, head_dim) =
            (as_i64(config.num_heads), as_i64(config.num_kv_heads), as_i64(config.head_dim));
        let qkv = normed.f_linear(&self.qkv, self.qkv_bias.as_ref())?;
        let qkv = qkv.f_view([batch, length, num_heads + 2 * num_kv_heads, head_dim])?;
        let parts = qkv.f_split_with_sizes([num_heads + num_kv_heads, num_kv_heads], 2)?;
        // Queries and keys are rotated alike, so they are rotated together.
        let mut query_key = parts[0].f_to_kind(Kind::Float)?;
        if let (Some(q_norm), Some(k_norm)) = (&self.q_norm, &self.k_norm) {
            let q_norm = q_norm.f_expand([num_heads, head_dim], false)?;
            let k_norm = k_norm.f_expand([num_kv_heads, head_dim], false)?;
            let weight = Tensor::f_cat(&[q_norm, k_norm], 0)?;
            query_key =
                query_key.f_rms_norm(head_dim, None::<Tensor>, config.rms_norm_eps)?.f_mul(&weight)?;
        }
        let query_key = rope.apply(&query_key)?.f_to_kind(self.kind()?)?;
        Ok(Qkv {
            query: query_key.f_narrow(2, 0, num_heads)?,
            key: query_key.f_narrow(2, num_heads, num_kv_heads)?,
            value: parts[1].shallow_clone(),
        })
    }
}

/// Sequences of one length that follow each other in a packed batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SequenceRun {
    pub(super) sequences: i64,
    pub(super) length: i64,
}

/// Causal self-attention within each sequence of a packed batch: `[1, tokens, num_heads · head_dim]`.
fn causal_attention(qkv: &Qkv, runs: &[SequenceRun]) -> Result<Tensor, LearnError> {
    let mut outputs = Vec::new();
    let mut begin = 0;
    for SequenceRun { sequences, length } in runs {
        let tokens = sequences * length;
        let part = |tensor: &Tensor| -> Result<Tensor, LearnError> {
            let (_, _, heads, head_dim) = tensor.size4()?;
            let part = tensor.f_narrow(1, begin, tokens)?.f_view([*sequences, *length, heads, head_dim])?;
            Ok(part.f_transpose(1, 2)?)
        };
        let output = attention(&part(&qkv.query)?, part(&qkv.key)?, part(&qkv.value)?)?;
        outputs.push(output.f_transpose(1, 2)?.f_reshape([1, tokens, -1])?);
        begin += tokens;
    }
    Ok(if outputs.len() == 1 { outputs.remove(0) } else { Tensor::f_cat(&outputs, 1)? })
}

/// Causal attention of `[sequences, heads, length, head_dim]`.
fn attention(query: &Tensor, mut key: Tensor, mut value: Tensor) -> Result<Tensor, LearnError> {
    let (num_heads, num_kv_heads) = (query.size4()?.1, key.size4()?.1);
    // The fused GPU kernel for single precision does not support grouped-query attention.
    let repeat = num_kv_heads != num_heads && is_single_precision_gpu(query)?;
    if repeat {
        key = key.f_repeat_interleave_self_int(num_heads / num_kv_heads, 1, None)?;
        value = value.f_repeat_interleave_self_int(num_heads / num_kv_heads, 1, None)?;
    }
    let enable_gqa = num_kv_heads != num_heads && !repeat;
    Ok(Tensor::f_scaled_dot_product_attention(
        query,
        &key,
        &value,
        None::<Tensor>,
        0.0,
        true,
        None,
        enable_gqa,
    )?)
}

fn is_single_precision_gpu(tensor: &Tensor) -> Result<bool, LearnError> {
    Ok(tensor.device() != Device::Cpu && tensor.f_kind()? == Kind::Float)
}
