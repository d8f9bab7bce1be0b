//! The small steps of the way back: derivatives of normalising, gating and the softmax.
#![expect(
    clippy::inline_always,
    reason = "a kernel gets its instruction set from the caller it is inlined into"
)]

use aske_kernels::{LANES, Lanes, Simd, WithSimd, exp, fma, squares, sum};

/// `Σ a·b`, in one fixed order.
#[inline(always)]
fn dot<S: Simd>(a: &[f32], b: &[f32]) -> f32 {
    let ((a, rest), (b, others)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut total = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            total[lane] = fma::<S>(a[lane], b[lane], total[lane]);
        }
    }
    rest.iter().zip(others).fold(sum(Lanes(total)), |total, (a, b)| fma::<S>(*a, *b, total))
}

/// The derivative of `y = x·scale·weight`, `scale = 1/√(mean x² + ε)`: by `x` added to `out`, by `weight` to `slope`.
///
/// With `g = weight·dy`: `dx = scale·(g − x·scale²·mean(g·x))`.
pub(super) struct NormaliseBack<'a> {
    pub(super) x: &'a [f32],
    pub(super) weight: &'a [f32],
    pub(super) epsilon: f32,
    pub(super) dy: &'a [f32],
    pub(super) out: &'a mut [f32],
    pub(super) slope: &'a mut [f32],
}

impl WithSimd for NormaliseBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.weight.len();
        let mut pulled = vec![0.0; width];
        let rows = self.x.chunks_exact(width).zip(self.dy.chunks_exact(width));
        for ((x, dy), out) in rows.zip(self.out.chunks_exact_mut(width)) {
            let scale = 1.0 / (squares::<S>(x) / width as f32 + self.epsilon).sqrt();
            for ((pulled, dy), weight) in pulled.iter_mut().zip(dy).zip(self.weight) {
                *pulled = dy * weight;
            }
            let common = dot::<S>(&pulled, x) / width as f32 * scale * scale;
            for ((out, pulled), x) in out.iter_mut().zip(&pulled).zip(x) {
                *out += scale * (pulled - x * common);
            }
            for ((slope, dy), x) in self.slope.iter_mut().zip(dy).zip(x) {
                *slope += dy * x * scale;
            }
        }
    }
}

/// The derivative of `silu(gate)·up`: rows of gates and ups become rows of their derivatives.
pub(super) struct GateBack<'a> {
    pub(super) x: &'a mut [f32],
    pub(super) width: usize,
    pub(super) dy: &'a [f32],
}

impl WithSimd for GateBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (x, dy) in self.x.chunks_exact_mut(2 * self.width).zip(self.dy.chunks_exact(self.width)) {
            let (gates, ups) = x.split_at_mut(self.width);
            for ((gate, up), dy) in gates.iter_mut().zip(ups).zip(dy) {
                let open = 1.0 / (1.0 + exp::<S>(-*gate));
                let silu = *gate * open;
                let slope = open + silu * (1.0 - open);
                (*gate, *up) = (dy * *up * slope, dy * silu);
            }
        }
    }
}

/// Where a block of scores stands: rows of `block` queries from `first` on, one head after the other.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) first: usize,
    pub(super) block: usize,
    /// Keys in a row.
    pub(super) keys: usize,
    pub(super) scale: f32,
}

impl Place {
    /// How many keys the query of this row sees.
    fn seen(self, row: usize) -> usize {
        self.first + row % self.block + 1
    }
}

/// Scores become shares, those of later keys nought; gives the logarithm of each row's sum.
pub(super) struct Softmax<'a> {
    pub(super) scores: &'a mut [f32],
    pub(super) place: Place,
    pub(super) sums: &'a mut Vec<f32>,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.sums.clear();
        for (row, scores) in self.scores.chunks_exact_mut(self.place.keys).enumerate() {
            let (seen, ahead) = scores.split_at_mut(self.place.seen(row));
            ahead.fill(0.0);
            let largest =
                seen.iter().fold(f32::NEG_INFINITY, |most, score| if *score > most { *score } else { most });
            for score in seen.iter_mut() {
                *score = exp::<S>((*score - largest) * self.place.scale);
            }
            let total = total(seen);
            for score in seen {
                *score /= total;
            }
            self.sums.push(largest * self.place.scale + total.ln());
        }
    }
}

/// The shares again, from scores and the logarithms of their sums.
pub(super) struct Shares<'a> {
    pub(super) scores: &'a mut [f32],
    pub(super) place: Place,
    pub(super) sums: &'a [f32],
}

impl WithSimd for Shares<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.scores.chunks_exact_mut(self.place.keys).zip(self.sums);
        for (row, (scores, sum)) in rows.enumerate() {
            let (seen, ahead) = scores.split_at_mut(self.place.seen(row));
            ahead.fill(0.0);
            for score in seen {
                *score = exp::<S>(*score * self.place.scale - sum);
            }
        }
    }
}

/// The derivative of a softmax: `share·(dy − Σ dy·share)·scale` in place of `dy`; the sum is `mixed·d mixed`.
pub(super) struct SoftmaxBack<'a> {
    pub(super) shares: &'a [f32],
    pub(super) dy: &'a mut [f32],
    pub(super) place: Place,
    pub(super) mixed: &'a [f32],
    pub(super) mixed_back: &'a [f32],
    pub(super) wide: usize,
}

impl WithSimd for SoftmaxBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Place { keys, scale, .. } = self.place;
        let heads = self.mixed.chunks_exact(self.wide).zip(self.mixed_back.chunks_exact(self.wide));
        let rows = self.shares.chunks_exact(keys).zip(self.dy.chunks_exact_mut(keys));
        for ((shares, dy), (mixed, back)) in rows.zip(heads) {
            let common = dot::<S>(mixed, back);
            for (dy, share) in dy.iter_mut().zip(shares) {
                *dy = share * (*dy - common) * scale;
            }
        }
    }
}

/// The sum, lane by lane and then across.
#[inline(always)]
fn total(values: &[f32]) -> f32 {
    let (groups, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for group in groups {
        for (total, value) in lanes.iter_mut().zip(group) {
            *total += value;
        }
    }
    rest.iter().fold(sum(Lanes(lanes)), |total, value| total + value)
}

/// `[rows, columns]` as `[columns, rows]`, a small square at a time.
pub(super) fn transpose(from: &[f32], columns: usize, out: &mut Vec<f32>) {
    const SIDE: usize = 16;
    let rows = from.len() / columns;
    out.clear();
    out.resize(from.len(), 0.0);
    for top in (0..rows).step_by(SIDE) {
        for left in (0..columns).step_by(SIDE) {
            let bottom = (top + SIDE).min(rows);
            for column in left..(left + SIDE).min(columns) {
                let out = &mut out[column * rows + top..column * rows + bottom];
                for (out, row) in out.iter_mut().zip(top..) {
                    *out = from[row * columns + column];
                }
            }
        }
    }
}
