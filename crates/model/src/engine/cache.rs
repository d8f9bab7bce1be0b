//! The KV cache of a sequence, in blocks that sequences with a common prefix share.

use super::LlamaConfig;
use aske_kernels::{LANES, Lanes};
use std::sync::Arc;

/// Tokens in a block: the width of a kernel.
pub(super) const BLOCK: usize = LANES;

/// The memory layout of a block.
///
/// Each layer and head has its keys and then its values. Keys are stored by dimension: the lanes of a group are positions,
/// so sixteen scores are computed at once. Values are stored by position: the lanes are sixteen dimensions, with padding
/// after the last. All counts are of [`Lanes`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) dim: usize,
    pub(super) padded: usize,
}

impl Layout {
    pub(super) fn new(config: &LlamaConfig) -> Self {
        Self {
            layers: config.num_hidden_layers,
            heads: config.num_key_value_heads,
            dim: config.head_dim,
            padded: config.head_dim.next_multiple_of(LANES),
        }
    }

    /// The size of a block.
    pub(super) fn block(&self) -> usize {
        self.layers * self.heads * (self.dim + self.padded)
    }

    /// Where the keys of a head begin.
    pub(super) fn keys(&self, layer: usize, head: usize) -> usize {
        (layer * self.heads + head) * (self.dim + self.padded)
    }

    /// Where its values begin.
    pub(super) fn values(&self, layer: usize, head: usize) -> usize {
        self.keys(layer, head) + self.dim
    }
}

/// Keys and values of [`BLOCK`] tokens in every layer.
pub(super) type Block = Arc<[Lanes]>;

/// Keys and values of the tokens of one sequence that were processed so far.
#[derive(Clone, Debug)]
pub(super) struct KvCache {
    layout: Layout,
    /// All blocks; the last may be partly filled.
    pub(super) blocks: Vec<Block>,
    /// Tokens in the cache.
    pub(super) len: usize,
}

impl KvCache {
    /// A cache that begins with these full blocks.
    pub(super) fn new(layout: Layout, blocks: Vec<Block>) -> Self {
        Self { layout, len: blocks.len() * BLOCK, blocks }
    }

    /// Allocates blocks for this many more tokens.
    pub(super) fn reserve(&mut self, tokens: usize) {
        let needed = (self.len + tokens).div_ceil(BLOCK);
        while self.blocks.len() < needed {
            self.blocks.push(std::iter::repeat_n(Lanes::default(), self.layout.block()).collect());
        }
    }

    /// Writes the keys and values of the token at this position, for which space is reserved.
    pub(super) fn write(&mut self, layer: usize, position: usize, keys: &[f32], values: &[f32]) {
        let Layout { dim, .. } = self.layout;
        // Only full blocks are shared, so this never copies.
        let block = Arc::make_mut(&mut self.blocks[position / BLOCK]);
        let slot = position % BLOCK;
        for (head, (keys, values)) in keys.chunks_exact(dim).zip(values.chunks_exact(dim)).enumerate() {
            let columns = &mut block[self.layout.keys(layer, head)..];
            for (column, key) in columns.iter_mut().zip(keys) {
                column.0[slot] = *key;
            }
            let rows = block[self.layout.values(layer, head)..].iter_mut().skip(slot).step_by(BLOCK);
            for (row, values) in rows.zip(values.chunks(LANES)) {
                row.0[..values.len()].copy_from_slice(values);
            }
        }
    }

    /// Counts tokens as processed once every layer has written them.
    pub(super) fn advance(&mut self, tokens: usize) {
        self.len += tokens;
    }
}
