//! The forward pass.

use super::LlamaConfig;
use super::attention::{Attend, AttentionView, Scores};
use super::cache::{KvCache, Layout};
use aske_kernels::{ApplyRotary, Arch, PackedMatrix, RmsNorm, RotaryTable, SwiGlu};

/// One layer's weights.
pub(super) struct Layer {
    pub(super) attention_norm: Vec<f32>,
    pub(super) qkv: PackedMatrix,
    pub(super) output: PackedMatrix,
    pub(super) mlp_norm: Vec<f32>,
    pub(super) gate_up: PackedMatrix,
    pub(super) down: PackedMatrix,
}

/// A Llama-style network, ready to run.
pub(super) struct Network {
    pub(super) config: LlamaConfig,
    pub(super) layout: Layout,
    pub(super) arch: Arch,
    pub(super) rotary: RotaryTable,
    pub(super) embedding: Vec<f32>,
    pub(super) layers: Vec<Layer>,
    pub(super) norm: Vec<f32>,
    pub(super) head: PackedMatrix,
}

/// The tokens whose logits a sequence needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogitRows {
    None,
    Last,
    All,
}

/// The tokens that one sequence processes in a step.
pub(super) struct SequenceInput<'a> {
    pub(super) cache: &'a mut KvCache,
    pub(super) tokens: &'a [u32],
    pub(super) logits: LogitRows,
}

/// Buffers for the activations of a step, reused from step to step.
#[derive(Default)]
pub(super) struct Scratch {
    positions: Vec<usize>,
    hidden: Vec<f32>,
    normed: Vec<f32>,
    projected: Vec<f32>,
    mixed: Vec<f32>,
    scores: Vec<Scores>,
    logits: Vec<f32>,
}

/// The first `length` numbers of a buffer that grows and never shrinks.
fn resized(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

impl Network {
    /// Processes the tokens of all inputs, extends their caches, and returns the requested logits, row by row.
    ///
    /// All rows go through each matrix product together. Token ids must be below the vocabulary size, and sequences no
    /// longer than the context.
    pub(super) fn forward<'a>(
        &self,
        inputs: &mut [SequenceInput<'_>],
        scratch: &'a mut Scratch,
    ) -> &'a [f32] {
        let width = self.config.hidden_size;
        scratch.positions.clear();
        scratch.hidden.clear();
        for input in &mut *inputs {
            input.cache.reserve(input.tokens.len());
            scratch.positions.extend((0..input.tokens.len()).map(|index| input.cache.len + index));
            for token in input.tokens {
                scratch.hidden.extend_from_slice(&self.embedding[*token as usize * width..][..width]);
            }
        }
        for (index, layer) in self.layers.iter().enumerate() {
            self.attend(index, layer, inputs, scratch);
            self.feed_forward(layer, scratch);
        }
        for input in &mut *inputs {
            input.cache.advance(input.tokens.len());
        }
        self.logits(inputs, scratch)
    }

    fn attend(&self, index: usize, layer: &Layer, inputs: &mut [SequenceInput<'_>], scratch: &mut Scratch) {
        let (config, arch) = (&self.config, self.arch);
        let rows = scratch.positions.len();
        let (heads, key_heads) = (config.num_attention_heads, config.num_key_value_heads);
        let (width, keys) = (heads * config.head_dim, key_heads * config.head_dim);
        let row_width = layer.qkv.outputs();
        let normed = self.normalise(&layer.attention_norm, &scratch.hidden, &mut scratch.normed);
        let projected = resized(&mut scratch.projected, rows * row_width);
        layer.qkv.multiply(arch, normed, projected);
        arch.dispatch(ApplyRotary {
            table: &self.rotary,
            rows: projected,
            width: row_width,
            heads: heads + key_heads,
            positions: &scratch.positions,
            sign: 1.0,
        });
        let mut fresh = projected.chunks_exact(row_width).zip(&scratch.positions);
        for input in &mut *inputs {
            for (row, position) in fresh.by_ref().take(input.tokens.len()) {
                let (keys, values) = row[width..].split_at(keys);
                input.cache.write(index, *position, keys, values);
            }
        }
        let views = inputs.iter().flat_map(|input| {
            let (blocks, read) = (&input.cache.blocks, input.cache.len);
            (1..=input.tokens.len()).map(move |more| AttentionView { blocks, seen: read + more })
        });
        let mixed = resized(&mut scratch.mixed, rows * width);
        arch.dispatch(Attend {
            layout: self.layout,
            layer: index,
            group: heads / key_heads,
            views,
            queries: projected,
            width: row_width,
            scores: &mut scratch.scores,
            out: mixed,
        });
        layer.output.multiply_add(arch, mixed, &mut scratch.hidden);
    }

    fn feed_forward(&self, layer: &Layer, scratch: &mut Scratch) {
        let (rows, inner) = (scratch.positions.len(), self.config.intermediate_size);
        let normed = self.normalise(&layer.mlp_norm, &scratch.hidden, &mut scratch.normed);
        let projected = resized(&mut scratch.projected, rows * 2 * inner);
        layer.gate_up.multiply(self.arch, normed, projected);
        let mixed = resized(&mut scratch.mixed, rows * inner);
        self.arch.dispatch(SwiGlu { x: projected, width: inner, out: mixed });
        layer.down.multiply_add(self.arch, mixed, &mut scratch.hidden);
    }

    fn logits<'a>(&self, inputs: &[SequenceInput<'_>], scratch: &'a mut Scratch) -> &'a [f32] {
        let width = self.config.hidden_size;
        let mut rows = scratch.hidden.chunks_exact(width);
        let last: &mut Vec<f32> = &mut scratch.mixed;
        last.clear();
        for input in inputs {
            let skipped = match input.logits {
                LogitRows::None => input.tokens.len(),
                LogitRows::Last => input.tokens.len().saturating_sub(1),
                LogitRows::All => 0,
            };
            let own = rows.by_ref().take(input.tokens.len()).skip(skipped);
            own.for_each(|row| last.extend_from_slice(row));
        }
        let normed = self.normalise(&self.norm, last, &mut scratch.normed);
        let logits = resized(&mut scratch.logits, normed.len() / width * self.config.vocab_size);
        self.head.multiply(self.arch, normed, logits);
        logits
    }

    fn normalise<'a>(&self, weight: &[f32], x: &[f32], out: &'a mut Vec<f32>) -> &'a [f32] {
        let out = resized(out, x.len());
        #[expect(clippy::cast_possible_truncation, reason = "computes in single precision")]
        let eps = self.config.rms_norm_eps as f32;
        self.arch.dispatch(RmsNorm { x, weight, eps, out });
        out
    }
}
