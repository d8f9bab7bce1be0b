//! Kernels between matrix products: RMS norm, SwiGLU and rotary embedding.

use crate::lanes::{exp, fma, sum_of_squares};
use pulp::{Simd, WithSimd};

/// RMS norm of each row.
pub struct RmsNorm<'a> {
    /// Input rows.
    pub x: &'a [f32],
    /// One weight per column.
    pub weight: &'a [f32],
    /// Added to the mean square.
    pub eps: f32,
    /// Output.
    pub out: &'a mut [f32],
}

impl WithSimd for RmsNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.weight.len();
        for (x, out) in self.x.chunks_exact(width).zip(self.out.chunks_exact_mut(width)) {
            let scale = 1.0 / (sum_of_squares::<S>(x) / width as f32 + self.eps).sqrt();
            for ((out, x), weight) in out.iter_mut().zip(x).zip(self.weight) {
                *out = x * scale * weight;
            }
        }
    }
}

/// `silu(gate) · up` of rows that hold gates, then ups.
pub struct SwiGlu<'a> {
    /// Input rows.
    pub x: &'a [f32],
    /// Gates per row.
    pub width: usize,
    /// Output.
    pub out: &'a mut [f32],
}

impl WithSimd for SwiGlu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (x, out) in self.x.chunks_exact(2 * self.width).zip(self.out.chunks_exact_mut(self.width)) {
            let (gates, ups) = x.split_at(self.width);
            for ((out, gate), up) in out.iter_mut().zip(gates).zip(ups) {
                *out = gate / (1.0 + exp::<S>(-gate)) * up;
            }
        }
    }
}

/// Cosines and sines of the rotary embedding for every position.
pub struct RotaryTable {
    half: usize,
    table: Vec<f32>,
}

impl RotaryTable {
    /// Angles are position · theta^(−2i/head_dim).
    pub fn new(positions: usize, head_dim: usize, theta: f64) -> Self {
        let half = head_dim / 2;
        // Frequencies and angles are rounded to single precision, as in transformers.
        #[expect(clippy::cast_possible_truncation, reason = "single precision, as in transformers")]
        let frequencies: Vec<f32> =
            (0..half).map(|i| (1.0 / theta.powf(2.0 * i as f64 / head_dim as f64)) as f32).collect();
        let mut table = Vec::with_capacity(positions * head_dim);
        for position in 0..positions {
            let angles = frequencies.iter().map(|frequency| position as f32 * frequency);
            table.extend(angles.clone().map(f32::cos));
            table.extend(angles.map(f32::sin));
        }
        Self { half, table }
    }
}

/// Rotates the leading heads of each row by the row's position, in place.
pub struct ApplyRotary<'a> {
    /// The angles.
    pub table: &'a RotaryTable,
    /// The rows.
    pub rows: &'a mut [f32],
    /// Elements per row.
    pub width: usize,
    /// Heads to rotate in each row.
    pub heads: usize,
    /// Position of each row in its sequence.
    pub positions: &'a [usize],
    /// 1 to rotate, −1 for the inverse.
    pub sign: f32,
}

impl WithSimd for ApplyRotary<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let half = self.table.half;
        for (row, position) in self.rows.chunks_exact_mut(self.width).zip(self.positions) {
            let (cos, sin) = self.table.table[2 * half * position..][..2 * half].split_at(half);
            for head in row.chunks_exact_mut(2 * half).take(self.heads) {
                let (low, high) = head.split_at_mut(half);
                for (((low, high), cos), sin) in low.iter_mut().zip(high).zip(cos).zip(sin) {
                    let (x, y) = (*low, *high);
                    let sin = self.sign * sin;
                    *low = fma::<S>(x, *cos, -(y * sin));
                    *high = fma::<S>(y, *cos, x * sin);
                }
            }
        }
    }
}
