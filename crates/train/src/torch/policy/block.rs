//! One layer of the network: attention, then a feed-forward part.

use tch::{Device, Kind, Tensor};

use super::rotary::Turn;
use super::shape::Shape;
use crate::LearnError;
use crate::torch::network::whole;

/// What a layer consists of; matrices that read the same input are one.
pub(super) struct Block<T> {
    pub(super) input_norm: T,
    pub(super) queries_keys_values: T,
    pub(super) bias: Option<T>,
    pub(super) query_norm: Option<T>,
    pub(super) key_norm: Option<T>,
    pub(super) output: T,
    pub(super) inner_norm: T,
    pub(super) gate_up: T,
    pub(super) down: T,
}

/// The queries, keys and values of a layer, each `[rows, length, heads, head]`.
pub(super) struct Looks {
    pub(super) queries: Tensor,
    pub(super) keys: Tensor,
    pub(super) values: Tensor,
}

impl<T> Block<T> {
    /// All parts, always in the same order.
    pub(super) fn all(&self) -> Vec<&T> {
        let first = [&self.input_norm, &self.queries_keys_values].into_iter();
        let own = [&self.bias, &self.query_norm, &self.key_norm].into_iter().flatten();
        let rest = [&self.output, &self.inner_norm, &self.gate_up, &self.down];
        first.chain(own).chain(rest).collect()
    }

    /// The same to change.
    pub(super) fn all_mut(&mut self) -> Vec<&mut T> {
        let first = [&mut self.input_norm, &mut self.queries_keys_values].into_iter();
        let own = [&mut self.bias, &mut self.query_norm, &mut self.key_norm].into_iter().flatten();
        let rest = [&mut self.output, &mut self.inner_norm, &mut self.gate_up, &mut self.down];
        first.chain(own).chain(rest).collect()
    }

    /// The four matrices, in the order of [`Block::with_matrices`].
    pub(super) fn matrices(&self) -> [&T; 4] {
        [&self.queries_keys_values, &self.output, &self.gate_up, &self.down]
    }

    /// Something else in the place of each part.
    pub(super) fn map<U>(
        &self,
        mut each: impl FnMut(&T) -> Result<U, LearnError>,
    ) -> Result<Block<U>, LearnError> {
        Ok(Block {
            input_norm: each(&self.input_norm)?,
            queries_keys_values: each(&self.queries_keys_values)?,
            bias: self.bias.as_ref().map(&mut each).transpose()?,
            query_norm: self.query_norm.as_ref().map(&mut each).transpose()?,
            key_norm: self.key_norm.as_ref().map(&mut each).transpose()?,
            output: each(&self.output)?,
            inner_norm: each(&self.inner_norm)?,
            gate_up: each(&self.gate_up)?,
            down: each(&self.down)?,
        })
    }

    /// The same with other matrices.
    pub(super) fn with_matrices(self, matrices: [T; 4]) -> Self {
        let [queries_keys_values, output, gate_up, down] = matrices;
        Self { queries_keys_values, output, gate_up, down, ..self }
    }
}

impl Block<Tensor> {
    /// Reads the residual stream `[rows, length, width]` and adds to it.
    ///
    /// The stream stays in single precision: many small sums meet there, and what is sampled and what is learnt
    /// from round alike. Matrices are multiplied in their own precision.
    pub(super) fn run(
        &self,
        shape: &Shape,
        stream: &Tensor,
        turn: &Turn,
        attend: impl FnOnce(&Looks) -> Result<Tensor, LearnError>,
    ) -> Result<Tensor, LearnError> {
        let read = self.normed(shape, stream, &self.input_norm)?;
        let mixed = attend(&self.looks(shape, &read, turn)?)?;
        let stream = stream.f_add(&mixed.f_linear(&self.output, None::<Tensor>)?)?;
        let read = self.normed(shape, &stream, &self.inner_norm)?;
        let both = read.f_linear(&self.gate_up, None::<Tensor>)?.f_chunk(2, -1)?;
        let inner = both[0].f_silu()?.f_mul(&both[1])?;
        Ok(stream.f_add(&inner.f_linear(&self.down, None::<Tensor>)?)?)
    }

    fn kind(&self) -> Result<Kind, LearnError> {
        Ok(self.queries_keys_values.f_kind()?)
    }

    fn normed(&self, shape: &Shape, stream: &Tensor, scale: &Tensor) -> Result<Tensor, LearnError> {
        Ok(stream.f_rms_norm(whole(shape.width), Some(scale), shape.epsilon)?.f_to_kind(self.kind()?)?)
    }

    fn looks(&self, shape: &Shape, read: &Tensor, turn: &Turn) -> Result<Looks, LearnError> {
        let (rows, length, _) = read.size3()?;
        let (heads, shared, head) = (whole(shape.heads), whole(shape.shared), whole(shape.head));
        let all = read.f_linear(&self.queries_keys_values, self.bias.as_ref())?;
        let all = all.f_view([rows, length, heads + 2 * shared, head])?;
        let parts = all.f_split_with_sizes([heads + shared, shared], 2)?;
        // Queries and keys turn alike, so they turn together.
        let mut both = parts[0].f_to_kind(Kind::Float)?;
        if let (Some(query), Some(key)) = (&self.query_norm, &self.key_norm) {
            let (query, key) = (query.f_expand([heads, head], false)?, key.f_expand([shared, head], false)?);
            let scale = Tensor::f_cat(&[query, key], 0)?;
            both = both.f_rms_norm(head, None::<Tensor>, shape.epsilon)?.f_mul(&scale)?;
        }
        let both = turn.turned(&both)?.f_to_kind(self.kind()?)?.f_split_with_sizes([heads, shared], 2)?;
        let [queries, keys] = <[Tensor; 2]>::try_from(both).map_err(|_| LearnError::Library {
            library: "libtorch",
            message: "a split in two gave another number".to_owned(),
        })?;
        Ok(Looks { queries, keys, values: parts[1].shallow_clone() })
    }
}

/// Attention of every place to those up to itself: `[rows, length, heads · head]`.
pub(super) fn causal(looks: &Looks) -> Result<Tensor, LearnError> {
    let (rows, length, heads, head) = looks.queries.size4()?;
    let shared = looks.keys.size4()?.2;
    let [queries, mut keys, mut values] =
        [looks.queries.f_transpose(1, 2)?, looks.keys.f_transpose(1, 2)?, looks.values.f_transpose(1, 2)?];
    // The fused kernel that a GPU has for single precision knows no shared heads.
    let repeat = shared != heads && is_exact_gpu(&queries)?;
    if repeat {
        keys = keys.f_repeat_interleave_self_int(heads / shared, 1, None)?;
        values = values.f_repeat_interleave_self_int(heads / shared, 1, None)?;
    }
    let mixed = Tensor::f_scaled_dot_product_attention(
        &queries,
        &keys,
        &values,
        None::<Tensor>,
        0.0,
        true,
        None,
        shared != heads && !repeat,
    )?;
    Ok(mixed.f_transpose(1, 2)?.f_reshape([rows, length, heads * head])?)
}

fn is_exact_gpu(tensor: &Tensor) -> Result<bool, LearnError> {
    Ok(tensor.device() != Device::Cpu && tensor.f_kind()? == Kind::Float)
}
