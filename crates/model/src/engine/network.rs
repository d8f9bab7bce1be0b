//! The network itself: weights in, logits out.

use super::LlamaConfig;
use super::attention::{Attend, Scores, View};
use super::cache::{Cache, Layout};
use aske_kernels::{Arch, Gate, Matrix, Normalise, Rotary, Rotate};

/// One layer's weights.
pub(super) struct Layer {
    pub(super) attention_norm: Vec<f32>,
    pub(super) queries_keys_values: Matrix,
    pub(super) output: Matrix,
    pub(super) inner_norm: Vec<f32>,
    pub(super) gate_up: Matrix,
    pub(super) down: Matrix,
}

/// A Llama-style network, ready to run.
pub(super) struct Network {
    pub(super) config: LlamaConfig,
    pub(super) layout: Layout,
    pub(super) arch: Arch,
    pub(super) rotary: Rotary,
    pub(super) embedding: Vec<f32>,
    pub(super) layers: Vec<Layer>,
    pub(super) norm: Vec<f32>,
    pub(super) head: Matrix,
}

/// Of which of its tokens a text wants the logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Nothing,
    Last,
    All,
}

/// Tokens that one text reads in a step.
pub(super) struct Part<'a> {
    pub(super) cache: &'a mut Cache,
    pub(super) tokens: &'a [u32],
    pub(super) wanted: Wanted,
}

/// Room for the rows of a step, kept from step to step.
#[derive(Default)]
pub(super) struct Scratch {
    positions: Vec<usize>,
    stream: Vec<f32>,
    normal: Vec<f32>,
    wide: Vec<f32>,
    mixed: Vec<f32>,
    scores: Vec<Scores>,
    logits: Vec<f32>,
}

/// The first `length` numbers of a buffer that grows and never shrinks.
fn room(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

impl Network {
    /// Reads the tokens of all parts into their caches, and gives the logits that are wanted, row after row.
    ///
    /// All rows of all texts go through each product together. Tokens must be below the vocabulary's size, and
    /// texts no longer than the network's longest.
    pub(super) fn read<'a>(&self, parts: &mut [Part<'_>], scratch: &'a mut Scratch) -> &'a [f32] {
        let width = self.config.hidden_size;
        scratch.positions.clear();
        scratch.stream.clear();
        for part in &mut *parts {
            part.cache.reserve(part.tokens.len());
            scratch.positions.extend((0..part.tokens.len()).map(|index| part.cache.len() + index));
            for token in part.tokens {
                scratch.stream.extend_from_slice(&self.embedding[*token as usize * width..][..width]);
            }
        }
        for (index, layer) in self.layers.iter().enumerate() {
            self.attend(index, layer, parts, scratch);
            self.feed_forward(layer, scratch);
        }
        for part in &mut *parts {
            part.cache.advance(part.tokens.len());
        }
        self.logits(parts, scratch)
    }

    fn attend(&self, index: usize, layer: &Layer, parts: &mut [Part<'_>], scratch: &mut Scratch) {
        let (config, arch) = (&self.config, self.arch);
        let rows = scratch.positions.len();
        let (heads, key_heads) = (config.num_attention_heads, config.num_key_value_heads);
        let (width, keys) = (heads * config.head_dim, key_heads * config.head_dim);
        let row_width = layer.queries_keys_values.outputs();
        let normal = self.normalise(&layer.attention_norm, &scratch.stream, &mut scratch.normal);
        let wide = room(&mut scratch.wide, rows * row_width);
        layer.queries_keys_values.multiply(arch, normal, wide);
        arch.dispatch(Rotate {
            rotary: &self.rotary,
            rows: wide,
            width: row_width,
            heads: heads + key_heads,
            positions: &scratch.positions,
            sign: 1.0,
        });
        let mut fresh = wide.chunks_exact(row_width).zip(&scratch.positions);
        for part in &mut *parts {
            for (row, position) in fresh.by_ref().take(part.tokens.len()) {
                let (keys, values) = row[width..].split_at(keys);
                part.cache.write(index, *position, keys, values);
            }
        }
        let views = parts.iter().flat_map(|part| {
            let (blocks, read) = (part.cache.blocks(), part.cache.len());
            (1..=part.tokens.len()).map(move |more| View { blocks, seen: read + more })
        });
        let mixed = room(&mut scratch.mixed, rows * width);
        arch.dispatch(Attend {
            layout: self.layout,
            layer: index,
            group: heads / key_heads,
            views,
            queries: wide,
            width: row_width,
            scores: &mut scratch.scores,
            out: mixed,
        });
        layer.output.multiply_add(arch, mixed, &mut scratch.stream);
    }

    fn feed_forward(&self, layer: &Layer, scratch: &mut Scratch) {
        let (rows, inner) = (scratch.positions.len(), self.config.intermediate_size);
        let normal = self.normalise(&layer.inner_norm, &scratch.stream, &mut scratch.normal);
        let wide = room(&mut scratch.wide, rows * 2 * inner);
        layer.gate_up.multiply(self.arch, normal, wide);
        let mixed = room(&mut scratch.mixed, rows * inner);
        self.arch.dispatch(Gate { x: wide, width: inner, out: mixed });
        layer.down.multiply_add(self.arch, mixed, &mut scratch.stream);
    }

    fn logits<'a>(&self, parts: &[Part<'_>], scratch: &'a mut Scratch) -> &'a [f32] {
        let width = self.config.hidden_size;
        let mut rows = scratch.stream.chunks_exact(width);
        let last: &mut Vec<f32> = &mut scratch.mixed;
        last.clear();
        for part in parts {
            let skipped = match part.wanted {
                Wanted::Nothing => part.tokens.len(),
                Wanted::Last => part.tokens.len().saturating_sub(1),
                Wanted::All => 0,
            };
            let own = rows.by_ref().take(part.tokens.len()).skip(skipped);
            own.for_each(|row| last.extend_from_slice(row));
        }
        let normal = self.normalise(&self.norm, last, &mut scratch.normal);
        let logits = room(&mut scratch.logits, normal.len() / width * self.config.vocab_size);
        self.head.multiply(self.arch, normal, logits);
        logits
    }

    fn normalise<'a>(&self, weight: &[f32], x: &[f32], out: &'a mut Vec<f32>) -> &'a [f32] {
        let out = room(out, x.len());
        #[expect(clippy::cast_possible_truncation, reason = "single precision is what is computed in")]
        let epsilon = self.config.rms_norm_eps as f32;
        self.arch.dispatch(Normalise { x, weight, epsilon, out });
        out
    }
}
