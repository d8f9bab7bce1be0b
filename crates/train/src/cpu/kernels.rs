//! SIMD kernels of the backward pass: RMS norm, SwiGLU and softmax.
#![expect(
    clippy::inline_always,
    reason = "kernels take the instruction set of the caller they are inlined into"
)]

use aske_kernels::{LANES, Lanes, Simd, WithSimd, exp, fma, horizontal_sum, sum_of_squares};

/// Dot product, summed in a fixed order.
#[inline(always)]
fn dot<S: Simd>(a: &[f32], b: &[f32]) -> f32 {
    let ((a, rest), (b, others)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut total = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            total[lane] = fma::<S>(a[lane], b[lane], total[lane]);
        }
    }
    rest.iter().zip(others).fold(horizontal_sum(Lanes(total)), |total, (a, b)| fma::<S>(*a, *b, total))
}

/// Backward pass of [`RmsNorm`](aske_kernels::RmsNorm): adds to `dx` and `dweight`.
///
/// With `scale = 1/√(mean x² + ε)` and `g = weight·dy`: `dx = scale·(g − x·scale²·mean(g·x))`.
pub(super) struct RmsNormBackward<'a> {
    pub(super) x: &'a [f32],
    pub(super) weight: &'a [f32],
    pub(super) eps: f32,
    pub(super) dy: &'a [f32],
    pub(super) dx: &'a mut [f32],
    pub(super) dweight: &'a mut [f32],
}

impl WithSimd for RmsNormBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.weight.len();
        let mut g = vec![0.0; width];
        let rows = self.x.chunks_exact(width).zip(self.dy.chunks_exact(width));
        for ((x, dy), dx) in rows.zip(self.dx.chunks_exact_mut(width)) {
            let scale = 1.0 / (sum_of_squares::<S>(x) / width as f32 + self.eps).sqrt();
            for ((g, dy), weight) in g.iter_mut().zip(dy).zip(self.weight) {
                *g = dy * weight;
            }
            let common = dot::<S>(&g, x) / width as f32 * scale * scale;
            for ((dx, g), x) in dx.iter_mut().zip(&g).zip(x) {
                *dx += scale * (g - x * common);
            }
            for ((dweight, dy), x) in self.dweight.iter_mut().zip(dy).zip(x) {
                *dweight += dy * x * scale;
            }
        }
    }
}

/// Backward pass of [`SwiGlu`](aske_kernels::SwiGlu): replaces gates and ups by their gradients.
pub(super) struct SwiGluBackward<'a> {
    pub(super) x: &'a mut [f32],
    pub(super) width: usize,
    pub(super) dy: &'a [f32],
}

impl WithSimd for SwiGluBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (x, dy) in self.x.chunks_exact_mut(2 * self.width).zip(self.dy.chunks_exact(self.width)) {
            let (gates, ups) = x.split_at_mut(self.width);
            for ((gate, up), dy) in gates.iter_mut().zip(ups).zip(dy) {
                let sigmoid = 1.0 / (1.0 + exp::<S>(-*gate));
                let silu = *gate * sigmoid;
                let derivative = sigmoid + silu * (1.0 - sigmoid);
                (*gate, *up) = (dy * *up * derivative, dy * silu);
            }
        }
    }
}

/// Causal mask of a block of scores: `block` queries starting at position `first`, one head after the other.
#[derive(Clone, Copy)]
pub(super) struct BlockMask {
    pub(super) first: usize,
    pub(super) block: usize,
    /// Keys per row.
    pub(super) keys: usize,
    pub(super) scale: f32,
}

impl BlockMask {
    /// Number of keys visible to the query of this row.
    fn visible(self, row: usize) -> usize {
        self.first + row % self.block + 1
    }
}

/// Masked softmax in place; also computes the log-sum-exp of each row.
pub(super) struct Softmax<'a> {
    pub(super) scores: &'a mut [f32],
    pub(super) mask: BlockMask,
    pub(super) logsumexp: &'a mut Vec<f32>,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.logsumexp.clear();
        for (row, scores) in self.scores.chunks_exact_mut(self.mask.keys).enumerate() {
            let (visible, masked) = scores.split_at_mut(self.mask.visible(row));
            masked.fill(0.0);
            let max =
                visible.iter().fold(f32::NEG_INFINITY, |max, score| if *score > max { *score } else { max });
            for score in visible.iter_mut() {
                *score = exp::<S>((*score - max) * self.mask.scale);
            }
            let total = total(visible);
            for score in visible {
                *score /= total;
            }
            self.logsumexp.push(max * self.mask.scale + total.ln());
        }
    }
}

/// Recomputes attention probabilities in place from scores and log-sum-exp.
pub(super) struct AttentionProbs<'a> {
    pub(super) scores: &'a mut [f32],
    pub(super) mask: BlockMask,
    pub(super) logsumexp: &'a [f32],
}

impl WithSimd for AttentionProbs<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.scores.chunks_exact_mut(self.mask.keys).zip(self.logsumexp);
        for (row, (scores, logsumexp)) in rows.enumerate() {
            let (visible, masked) = scores.split_at_mut(self.mask.visible(row));
            masked.fill(0.0);
            for score in visible {
                *score = exp::<S>(*score * self.mask.scale - logsumexp);
            }
        }
    }
}

/// Backward pass of the softmax: replaces `dy` by `prob·(dy − Σ dy·prob)·scale`; the sum equals `output·d output`.
pub(super) struct SoftmaxBackward<'a> {
    pub(super) probs: &'a [f32],
    pub(super) dy: &'a mut [f32],
    pub(super) mask: BlockMask,
    pub(super) output: &'a [f32],
    pub(super) output_grad: &'a [f32],
    pub(super) head_dim: usize,
}

impl WithSimd for SoftmaxBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let BlockMask { keys, scale, .. } = self.mask;
        let heads = self.output.chunks_exact(self.head_dim).zip(self.output_grad.chunks_exact(self.head_dim));
        let rows = self.probs.chunks_exact(keys).zip(self.dy.chunks_exact_mut(keys));
        for ((probs, dy), (output, output_grad)) in rows.zip(heads) {
            let common = dot::<S>(output, output_grad);
            for (dy, prob) in dy.iter_mut().zip(probs) {
                *dy = prob * (*dy - common) * scale;
            }
        }
    }
}

/// Sum of all elements, lane by lane and then across lanes.
#[inline(always)]
fn total(values: &[f32]) -> f32 {
    let (groups, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for group in groups {
        for (total, value) in lanes.iter_mut().zip(group) {
            *total += value;
        }
    }
    rest.iter().fold(horizontal_sum(Lanes(lanes)), |total, value| total + value)
}

/// Transposes `[rows, columns]`, one tile at a time.
pub(super) fn transpose(from: &[f32], columns: usize, out: &mut Vec<f32>) {
    const TILE: usize = 16;
    let rows = from.len() / columns;
    out.clear();
    out.resize(from.len(), 0.0);
    for top in (0..rows).step_by(TILE) {
        for left in (0..columns).step_by(TILE) {
            let bottom = (top + TILE).min(rows);
            for column in left..(left + TILE).min(columns) {
                let out = &mut out[column * rows + top..column * rows + bottom];
                for (out, row) in out.iter_mut().zip(top..) {
                    *out = from[row * columns + column];
                }
            }
        }
    }
}
