//! The forward pass of a Llama-style network in libtorch's operations, with few and large launches.

use aske_model::LlamaConfig;
use tch::{Device, Kind, Tensor};

use crate::LearnError;
use crate::layout::Layout;

/// The shape of the network, and the constants of its forward pass on one device.
pub(super) struct Network {
    config: LlamaConfig,
    /// What matrices are multiplied in.
    kind: Kind,
    /// Numbers in the norms, then in the matrices.
    parts: [i64; 2],
    /// Numbers in each fused matrix, in order.
    blocks: Vec<i64>,
    /// `[longest, 1, head]`.
    cosines: Tensor,
    /// The same for sines, the first half of each head negated: see [`Network::rotated`].
    sines: Tensor,
}

/// The matrices of a layer; those that read the same input are one.
struct Layer<'a> {
    queries_keys_values: &'a Tensor,
    output: &'a Tensor,
    gate_up: &'a Tensor,
    down: &'a Tensor,
}

impl Network {
    pub(super) fn new(
        config: &LlamaConfig,
        layout: &Layout,
        kind: Kind,
        device: Device,
    ) -> Result<Self, LearnError> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let queries = config.num_attention_heads * config.head_dim;
        let keys = config.num_key_value_heads * config.head_dim;
        let embedding = config.vocab_size * width;
        let mut blocks = vec![embedding];
        for _ in 0..config.num_hidden_layers {
            blocks.extend([(queries + 2 * keys) * width, width * queries, 2 * inner * width, width * inner]);
        }
        if !config.tie_word_embeddings {
            blocks.push(embedding);
        }
        let (cosines, sines) = rotations(config, device)?;
        Ok(Self {
            config: config.clone(),
            kind,
            parts: [whole(layout.norms), whole(layout.size - layout.norms)],
            blocks: blocks.into_iter().map(whole).collect(),
            cosines,
            sines,
        })
    }

    /// The logits `[places, vocabulary]` at these places of a `[rows, length]` batch of tokens.
    ///
    /// `row` holds every weight. It is cast once and split once, because the gradient of a split is one
    /// concatenation, where that of many narrow views would be as many sums over all weights.
    pub(super) fn logits(
        &self,
        row: &Tensor,
        tokens: &Tensor,
        places: &Tensor,
    ) -> Result<Tensor, LearnError> {
        let config = &self.config;
        let (count, length) = tokens.size2()?;
        let width = whole(config.hidden_size);
        let parts = row.f_split_with_sizes(self.parts, 0)?;
        let norms = parts[0].f_view([-1, width])?.f_unbind(0)?;
        let blocks = parts[1].f_to_kind(self.kind)?.f_split_with_sizes(self.blocks.as_slice(), 0)?;
        let embedding = blocks[0].f_view([-1, width])?;
        let cosines = self.cosines.f_narrow(0, 0, length)?;
        let sines = self.sines.f_narrow(0, 0, length)?;

        // The residual stream stays in single precision: many small sums meet there.
        let mut stream = Tensor::f_embedding(&embedding, tokens, -1, false, false)?.f_to_kind(Kind::Float)?;
        for index in 0..config.num_hidden_layers {
            let [queries_keys_values, output, gate_up, down] =
                [1, 2, 3, 4].map(|part| &blocks[4 * index + part]);
            let layer = Layer { queries_keys_values, output, gate_up, down };
            let read = self.normed(&stream, &norms[2 * index])?;
            stream = stream.f_add(&self.attention(&read, &layer, (&cosines, &sines))?)?;
            let read = self.normed(&stream, &norms[2 * index + 1])?;
            stream = stream.f_add(&self.feed_forward(&read, &layer)?)?;
        }
        let read = stream.f_view([count * length, width])?.f_index_select(0, places)?;
        let read = self.normed(&read, &norms[2 * config.num_hidden_layers])?;
        let head = if config.tie_word_embeddings {
            embedding
        } else {
            blocks[4 * config.num_hidden_layers + 1].f_view([-1, width])?
        };
        Ok(read.f_linear(&head, None::<Tensor>)?)
    }

    fn normed(&self, stream: &Tensor, scale: &Tensor) -> Result<Tensor, LearnError> {
        let width = whole(self.config.hidden_size);
        Ok(stream.f_rms_norm(width, Some(scale), self.config.rms_norm_eps)?.f_to_kind(self.kind)?)
    }

    fn attention(
        &self,
        read: &Tensor,
        layer: &Layer,
        turn: (&Tensor, &Tensor),
    ) -> Result<Tensor, LearnError> {
        let (rows, length, width) = read.size3()?;
        let (heads, shared) =
            (whole(self.config.num_attention_heads), whole(self.config.num_key_value_heads));
        let wide = whole(self.config.head_dim);
        let matrix = layer.queries_keys_values.f_view([-1, width])?;
        let all = read.f_linear(&matrix, None::<Tensor>)?.f_view([rows, length, heads + 2 * shared, wide])?;
        let parts = all.f_split_with_sizes([heads + shared, shared], 2)?;
        // Queries and keys turn alike, so they turn together.
        let turned = self.rotated(&parts[0], turn)?.f_transpose(1, 2)?;
        let turned = turned.f_split_with_sizes([heads, shared], 1)?;
        let keys = repeated(&turned[1], heads / shared)?;
        let values = repeated(&parts[1].f_transpose(1, 2)?, heads / shared)?;
        let mixed = Tensor::f_scaled_dot_product_attention(
            &turned[0],
            &keys,
            &values,
            None::<Tensor>,
            0.0,
            true,
            None,
            false,
        )?;
        let mixed = mixed.f_transpose(1, 2)?.f_reshape([rows, length, heads * wide])?;
        Ok(mixed.f_linear(&layer.output.f_view([width, -1])?, None::<Tensor>)?)
    }

    /// Turns each head by its position: `x·cos + half_turned(x)·sin`.
    ///
    /// The half turn is `(-second, first)`. Rolling by half gives `(second, first)` in one launch; the sign is in
    /// the sines.
    fn rotated(&self, heads: &Tensor, (cosines, sines): (&Tensor, &Tensor)) -> Result<Tensor, LearnError> {
        let rolled = heads.f_roll(whole(self.config.head_dim / 2), -1)?;
        Ok((heads.f_mul(cosines)?).f_add(&rolled.f_mul(sines)?)?.f_to_kind(self.kind)?)
    }

    fn feed_forward(&self, read: &Tensor, layer: &Layer) -> Result<Tensor, LearnError> {
        let width = whole(self.config.hidden_size);
        let both = read.f_linear(&layer.gate_up.f_view([-1, width])?, None::<Tensor>)?;
        let parts = both.f_chunk(2, -1)?;
        let inner = parts[0].f_silu()?.f_mul(&parts[1])?;
        Ok(inner.f_linear(&layer.down.f_view([width, -1])?, None::<Tensor>)?)
    }
}

/// Each head of `[rows, heads, length, wide]` this many times, one after the other.
fn repeated(heads: &Tensor, times: i64) -> Result<Tensor, LearnError> {
    if times == 1 {
        return Ok(heads.shallow_clone());
    }
    let (rows, count, length, wide) = heads.size4()?;
    let many = heads.f_unsqueeze(2)?.f_expand([rows, count, times, length, wide], false)?;
    Ok(many.f_reshape([rows, count * times, length, wide])?)
}

fn rotations(config: &LlamaConfig, device: Device) -> Result<(Tensor, Tensor), LearnError> {
    let (cosines, sines) = crate::layout::rotations(config);
    let half = config.head_dim / 2;
    let signed: Vec<f32> = sines
        .iter()
        .enumerate()
        .map(|(at, &sine)| if at % config.head_dim < half { -sine } else { sine })
        .collect();
    let place = |numbers: &[f32]| -> Result<Tensor, LearnError> {
        let tensor = Tensor::f_from_slice(numbers)?.f_view([-1, 1, whole(config.head_dim)])?;
        Ok(tensor.f_to_device(device)?)
    };
    Ok((place(&cosines)?, place(&signed)?))
}

/// A size as libtorch counts; no size comes near the limit.
pub(super) fn whole(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}
