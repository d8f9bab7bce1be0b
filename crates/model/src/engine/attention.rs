//! Attention kernel for rows of many sequences, each over its own keys and values.
#![expect(
    clippy::inline_always,
    reason = "a kernel gets its instruction set from the caller it is inlined into"
)]

use super::cache::{BLOCK, Block, Layout};
use aske_kernels::{LANES, Lanes, exp, fma_lanes, horizontal_sum, lanes};
use aske_kernels::{Simd, WithSimd};

/// Scores of up to four queries with the keys of one block.
pub(super) type Scores = [Lanes; QUERIES_AT_ONCE];

const QUERIES_AT_ONCE: usize = 4;

/// One query: the blocks of its sequence, and the number of positions it attends to.
#[derive(Clone, Copy)]
pub(super) struct AttentionView<'a> {
    pub(super) blocks: &'a [Block],
    pub(super) seen: usize,
}

/// Softmax attention for every row.
///
/// Each row attends to the blocks of its sequence up to its own position, in a fixed order: the result is bit-identical
/// whether the prompt was processed at once or in parts.
pub(super) struct Attend<'a, I> {
    pub(super) layout: Layout,
    pub(super) layer: usize,
    /// Query heads that share a key head.
    pub(super) group: usize,
    pub(super) views: I,
    /// Rows that begin with the queries.
    pub(super) queries: &'a [f32],
    pub(super) width: usize,
    pub(super) scores: &'a mut Vec<Scores>,
    pub(super) out: &'a mut [f32],
}

impl<'a, I: Iterator<Item = AttentionView<'a>>> WithSimd for Attend<'_, I> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F32_LANES {
            16 => self.rows::<S, 1>(simd),
            8 => self.rows::<S, 2>(simd),
            4 => self.rows::<S, 4>(simd),
            _ => self.rows::<S, LANES>(simd),
        }
    }
}

impl<'a, I: Iterator<Item = AttentionView<'a>>> Attend<'_, I> {
    /// All rows, with this many registers per group of lanes.
    #[inline(always)]
    fn rows<S: Simd, const REGISTERS: usize>(self, simd: S) {
        let Layout { heads, dim, .. } = self.layout;
        let share = self.group * dim;
        let rows = self.queries.chunks_exact(self.width).zip(self.out.chunks_exact_mut(heads * share));
        for ((queries, out), view) in rows.zip(self.views) {
            let blocks = &view.blocks[..view.seen.div_ceil(BLOCK)];
            for head in 0..heads {
                let part = head * share..(head + 1) * share;
                let head = Head {
                    blocks,
                    keys: self.layout.keys(self.layer, head),
                    values: self.layout.values(self.layer, head),
                    seen: view.seen,
                    dim,
                };
                let (queries, out) = (&queries[part.clone()], &mut out[part]);
                for (queries, out) in
                    queries.chunks(QUERIES_AT_ONCE * dim).zip(out.chunks_mut(QUERIES_AT_ONCE * dim))
                {
                    match queries.len() / dim {
                        4 => head.attend::<S, REGISTERS, 4>(simd, queries, out, self.scores),
                        3 => head.attend::<S, REGISTERS, 3>(simd, queries, out, self.scores),
                        2 => head.attend::<S, REGISTERS, 2>(simd, queries, out, self.scores),
                        _ => head.attend::<S, REGISTERS, 1>(simd, queries, out, self.scores),
                    }
                }
            }
        }
    }
}

/// A key-value head of one sequence, up to the position of one row.
struct Head<'a> {
    blocks: &'a [Block],
    /// Where its keys and its values begin in a block.
    keys: usize,
    values: usize,
    seen: usize,
    dim: usize,
}

impl Head<'_> {
    /// Processes a few queries at once, so that each key and value is loaded once for all of them.
    #[inline(always)]
    fn attend<S: Simd, const REGISTERS: usize, const QUERIES: usize>(
        &self,
        simd: S,
        queries: &[f32],
        out: &mut [f32],
        scores: &mut Vec<Scores>,
    ) {
        scores.resize(self.blocks.len().max(scores.len()), Scores::default());
        let scores = &mut scores[..self.blocks.len()];
        self.score::<S, REGISTERS, QUERIES>(simd, queries, scores);
        let hidden = self.blocks.len() * BLOCK - self.seen;
        let scale = 1.0 / (self.dim as f32).sqrt();
        let sums: [f32; QUERIES] = std::array::from_fn(|query| softmax::<S>(scores, query, scale, hidden));
        self.mix::<S, REGISTERS, QUERIES>(simd, scores, sums, out);
    }

    /// Products of each query with every key.
    #[inline(always)]
    fn score<S: Simd, const REGISTERS: usize, const QUERIES: usize>(
        &self,
        simd: S,
        queries: &[f32],
        scores: &mut [Scores],
    ) {
        let queries: [&[f32]; QUERIES] =
            std::array::from_fn(|query| &queries[query * self.dim..][..self.dim]);
        for (block, scores) in self.blocks.iter().zip(scores) {
            let keys = &block[self.keys..][..self.dim];
            let mut sums = [[simd.splat_f32s(0.0); REGISTERS]; QUERIES];
            for (place, keys) in keys.iter().enumerate() {
                for query in 0..QUERIES {
                    fma_lanes(simd, queries[query][place], keys, &mut sums[query]);
                }
            }
            for (scores, sums) in scores.iter_mut().zip(&sums) {
                *scores = lanes::<S, REGISTERS>(sums);
            }
        }
    }

    /// The mean of the values, weighted by the softmax of the scores.
    #[inline(always)]
    fn mix<S: Simd, const REGISTERS: usize, const QUERIES: usize>(
        &self,
        simd: S,
        weights: &[Scores],
        totals: [f32; QUERIES],
        out: &mut [f32],
    ) {
        for first in (0..self.dim).step_by(LANES) {
            let mut sums = [[simd.splat_f32s(0.0); REGISTERS]; QUERIES];
            for (block, weights) in self.blocks.iter().zip(weights) {
                let values = &block[self.values + first..][..BLOCK];
                for (place, values) in values.iter().enumerate() {
                    for query in 0..QUERIES {
                        fma_lanes(simd, weights[query].0[place], values, &mut sums[query]);
                    }
                }
            }
            let end = self.dim.min(first + LANES);
            for query in 0..QUERIES {
                let Lanes(sums) = lanes::<S, REGISTERS>(&sums[query]);
                let out = &mut out[query * self.dim..][first..end];
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = sum / totals[query];
                }
            }
        }
    }
}

/// Replaces one query's scores by e^(scale · (score − largest)), the last `hidden` by 0, and returns their sum.
#[inline(always)]
fn softmax<S: Simd>(scores: &mut [Scores], query: usize, scale: f32, hidden: usize) -> f32 {
    if let Some(last) = scores.last_mut() {
        last[query].0[BLOCK - hidden..].fill(f32::NEG_INFINITY);
    }
    let mut largest = [f32::NEG_INFINITY; LANES];
    for scores in &*scores {
        for (largest, score) in largest.iter_mut().zip(scores[query].0) {
            *largest = if score > *largest { score } else { *largest };
        }
    }
    let largest = largest.into_iter().fold(f32::NEG_INFINITY, f32::max);
    for scores in &mut *scores {
        for score in &mut scores[query].0 {
            *score = exp::<S>((*score - largest) * scale);
        }
    }
    if let Some(last) = scores.last_mut() {
        last[query].0[BLOCK - hidden..].fill(0.0);
    }
    let mut total = [0.0; LANES];
    for scores in &*scores {
        for (total, score) in total.iter_mut().zip(scores[query].0) {
            *total += score;
        }
    }
    horizontal_sum(Lanes(total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cache::KvCache;
    use aske_kernels::testable_archs;

    fn numbers(count: usize) -> Vec<f32> {
        let mut random = fastrand::Rng::with_seed(count as u64);
        (0..count).map(|_| 4.0 * random.f32() - 2.0).collect()
    }

    /// The definition, in double precision: Σ e^(q·k/√d) v / Σ e^(q·k/√d).
    fn exact(query: &[f32], keys: &[&[f32]], values: &[&[f32]]) -> Vec<f64> {
        let dot =
            |key: &[f32]| -> f64 { query.iter().zip(key).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum() };
        let weights: Vec<f64> =
            keys.iter().map(|key| (dot(key) / (query.len() as f64).sqrt()).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mixed = |place: usize| -> f64 {
            weights.iter().zip(values).map(|(weight, value)| weight * f64::from(value[place])).sum()
        };
        (0..query.len()).map(|place| mixed(place) / total).collect()
    }

    #[test]
    fn attention_is_what_its_definition_says() {
        for arch in testable_archs() {
            for (dim, heads, group) in [(2, 1, 1), (10, 2, 3), (16, 1, 4), (32, 2, 2), (40, 1, 7)] {
                let layout = Layout { layers: 2, heads, dim, padded: dim.next_multiple_of(LANES) };
                let mut cache = KvCache::new(layout, Vec::new());
                let (keys, values) = (numbers(40 * heads * dim), numbers(41 * heads * dim));
                cache.reserve(40);
                for (position, (keys, values)) in
                    keys.chunks(heads * dim).zip(values.chunks(heads * dim)).take(40).enumerate()
                {
                    cache.write(1, position, keys, values);
                }
                for seen in [1, 15, 16, 17, 40] {
                    let queries = numbers(heads * group * dim);
                    let mut out = vec![0.0; queries.len()];
                    arch.dispatch(Attend {
                        layout,
                        layer: 1,
                        group,
                        views: std::iter::once(AttentionView { blocks: &cache.blocks, seen }),
                        queries: &queries,
                        width: queries.len(),
                        scores: &mut Vec::new(),
                        out: &mut out,
                    });
                    for (index, (query, out)) in queries.chunks(dim).zip(out.chunks(dim)).enumerate() {
                        let head = index / group;
                        let keys: Vec<&[f32]> =
                            keys.chunks(dim).skip(head).step_by(heads).take(seen).collect();
                        let values: Vec<&[f32]> =
                            values.chunks(dim).skip(head).step_by(heads).take(seen).collect();
                        for (found, exact) in out.iter().zip(exact(query, &keys, &values)) {
                            assert!((f64::from(*found) - exact).abs() < 1e-5, "{found} is not {exact}");
                        }
                    }
                }
            }
        }
    }
}
