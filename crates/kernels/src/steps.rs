//! The small steps between two products: normalising, turning by position, gating.
#![expect(
    clippy::inline_always,
    reason = "a kernel gets its instruction set from the caller it is inlined into"
)]

use crate::lanes::{exp, fma, squares};
use pulp::{Simd, WithSimd};

/// Each row divided by its root mean square, times a weight for each column.
pub struct Normalise<'a> {
    /// The rows.
    pub x: &'a [f32],
    /// A weight for each column.
    pub weight: &'a [f32],
    /// Added to the mean square.
    pub epsilon: f32,
    /// Where the result goes.
    pub out: &'a mut [f32],
}

impl WithSimd for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.weight.len();
        for (x, out) in self.x.chunks_exact(width).zip(self.out.chunks_exact_mut(width)) {
            let scale = 1.0 / (squares::<S>(x) / width as f32 + self.epsilon).sqrt();
            for ((out, x), weight) in out.iter_mut().zip(x).zip(self.weight) {
                *out = x * scale * weight;
            }
        }
    }
}

/// `silu(gate) · up` for rows that hold the gates first and then the ups.
pub struct Gate<'a> {
    /// The rows.
    pub x: &'a [f32],
    /// Gates in a row.
    pub width: usize,
    /// Where the result goes.
    pub out: &'a mut [f32],
}

impl WithSimd for Gate<'_> {
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

/// The rotary positions: cosines and sines for every position and half a head.
pub struct Rotary {
    half: usize,
    table: Vec<f32>,
}

impl Rotary {
    /// Angles position · theta^(−2i/dim), in double precision before they are rounded.
    pub fn new(positions: usize, dim: usize, theta: f64) -> Self {
        let half = dim / 2;
        // transformers takes both roundings in single precision, and what was trained so is run so.
        #[expect(clippy::cast_possible_truncation, reason = "single precision is what is wanted")]
        let frequencies: Vec<f32> =
            (0..half).map(|i| (1.0 / theta.powf(2.0 * i as f64 / dim as f64)) as f32).collect();
        let mut table = Vec::with_capacity(positions * dim);
        for position in 0..positions {
            let angles = frequencies.iter().map(|frequency| position as f32 * frequency);
            table.extend(angles.clone().map(f32::cos));
            table.extend(angles.map(f32::sin));
        }
        Self { half, table }
    }
}

/// Turns the heads at the start of a row by the row's position.
pub struct Rotate<'a> {
    /// The angles.
    pub rotary: &'a Rotary,
    /// The rows, turned where they stand.
    pub rows: &'a mut [f32],
    /// Numbers in a row.
    pub width: usize,
    /// Heads to turn in each row.
    pub heads: usize,
    /// Where each row stands in its text.
    pub positions: &'a [usize],
    /// 1 to turn, −1 to turn back.
    pub sign: f32,
}

impl WithSimd for Rotate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let half = self.rotary.half;
        for (row, position) in self.rows.chunks_exact_mut(self.width).zip(self.positions) {
            let (cos, sin) = self.rotary.table[2 * half * position..][..2 * half].split_at(half);
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
