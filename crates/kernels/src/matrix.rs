//! A weight matrix packed for products with few rows.

use crate::lanes::{LANES, Lanes, fma_lanes, lanes};
use pulp::{Arch, Simd, WithSimd};

/// SIMD groups per panel, and outputs per panel.
const GROUPS: usize = 2;
const WIDTH: usize = GROUPS * LANES;

/// The weights of a linear layer, packed in panels of outputs; the weights of one input are contiguous.
///
/// A panel of a small network fits into the L1 cache and is streamed once for every few rows. Each output is summed over the
/// inputs in order whatever the number of rows, so the result of a row does not depend on the batch.
pub struct PackedMatrix {
    inputs: usize,
    outputs: usize,
    panels: Vec<[Lanes; GROUPS]>,
}

impl PackedMatrix {
    /// Packs matrices of shape `[outputs, inputs]`, concatenating their outputs.
    pub fn pack(inputs: usize, parts: &[&[f32]]) -> Self {
        let rows: Vec<&[f32]> = parts.iter().flat_map(|part| part.chunks_exact(inputs)).collect();
        let mut panels = Vec::with_capacity(rows.len().div_ceil(WIDTH) * inputs);
        for group in rows.chunks(WIDTH) {
            let weight = |output: usize, input: usize| group.get(output).map_or(0.0, |row| row[input]);
            panels.extend((0..inputs).map(|input| -> [Lanes; GROUPS] {
                let lanes = |group| std::array::from_fn(|lane| weight(group * LANES + lane, input));
                std::array::from_fn(|group| Lanes(lanes(group)))
            }));
        }
        Self { inputs, outputs: rows.len(), panels }
    }

    /// Packs a matrix of shape `[inputs, outputs]`, the transpose of what [`PackedMatrix::pack`] takes.
    pub fn pack_columns(outputs: usize, columns: &[f32]) -> Self {
        let inputs = columns.len() / outputs;
        let mut panels = Vec::with_capacity(outputs.div_ceil(WIDTH) * inputs);
        for first in (0..outputs).step_by(WIDTH) {
            panels.extend(columns.chunks_exact(outputs).map(|row| {
                let mut group = [Lanes::default(); GROUPS];
                for (lanes, row) in group.iter_mut().zip(row[first..].chunks(LANES)) {
                    lanes.0[..row.len()].copy_from_slice(row);
                }
                group
            }));
        }
        Self { inputs, outputs, panels }
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// `out = x · Wᵀ`.
    pub fn multiply(&self, arch: Arch, x: &[f32], out: &mut [f32]) {
        arch.dispatch(Product::<false> { matrix: self, x, out });
    }

    /// `out += x · Wᵀ`.
    pub fn multiply_add(&self, arch: Arch, x: &[f32], out: &mut [f32]) {
        arch.dispatch(Product::<true> { matrix: self, x, out });
    }
}

struct Product<'a, const ADD: bool> {
    matrix: &'a PackedMatrix,
    x: &'a [f32],
    out: &'a mut [f32],
}

impl<const ADD: bool> WithSimd for Product<'_, ADD> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Registers per group, and rows at once: as many accumulators as there are registers.
        match S::F32_LANES {
            16 => self.sweeps::<S, 1, 8>(simd),
            8 => self.sweeps::<S, 2, 3>(simd),
            4 => self.sweeps::<S, 4, 3>(simd),
            _ => self.sweeps::<S, LANES, 1>(simd),
        }
    }
}

impl<const ADD: bool> Product<'_, ADD> {
    /// `ROWS` rows at a time, then two, then one.
    #[inline(always)]
    fn sweeps<S: Simd, const REGISTERS: usize, const ROWS: usize>(self, simd: S) {
        let (x, out) = sweep::<S, REGISTERS, ROWS, ADD>(simd, self.matrix, self.x, self.out);
        let (x, out) = sweep::<S, REGISTERS, 2, ADD>(simd, self.matrix, x, out);
        sweep::<S, REGISTERS, 1, ADD>(simd, self.matrix, x, out);
    }
}

/// Multiplies `ROWS` rows at a time with all panels; returns the remaining rows.
#[inline(always)]
fn sweep<'a, S: Simd, const REGISTERS: usize, const ROWS: usize, const ADD: bool>(
    simd: S,
    matrix: &PackedMatrix,
    x: &'a [f32],
    out: &'a mut [f32],
) -> (&'a [f32], &'a mut [f32]) {
    let PackedMatrix { inputs, outputs, panels } = matrix;
    let rows = x.len() / inputs / ROWS * ROWS;
    let (x, rest) = x.split_at(rows * inputs);
    let (out, out_rest) = out.split_at_mut(rows * outputs);
    for (panel, column) in panels.chunks_exact(*inputs).zip((0..).step_by(WIDTH)) {
        for (x, out) in x.chunks_exact(ROWS * inputs).zip(out.chunks_exact_mut(ROWS * outputs)) {
            let sums = tile::<S, REGISTERS, ROWS>(simd, panel, x);
            for (out, sums) in out.chunks_exact_mut(*outputs).zip(&sums) {
                for (out, sums) in out[column..].chunks_mut(LANES).zip(sums) {
                    let Lanes(sums) = lanes::<S, REGISTERS>(sums);
                    match out.first_chunk_mut::<LANES>() {
                        Some(out) => store::<ADD>(out, &sums),
                        None => store::<ADD>(out, &sums),
                    }
                }
            }
        }
    }
    (rest, out_rest)
}

/// Accumulators of a few rows for one panel.
#[inline(always)]
fn tile<S: Simd, const REGISTERS: usize, const ROWS: usize>(
    simd: S,
    panel: &[[Lanes; GROUPS]],
    x: &[f32],
) -> [[[S::f32s; REGISTERS]; GROUPS]; ROWS] {
    // Slices of equal length, so that bounds checks are hoisted out of the loop.
    let rows: [&[f32]; ROWS] = std::array::from_fn(|row| &x[row * panel.len()..][..panel.len()]);
    let mut sums = [[[simd.splat_f32s(0.0); REGISTERS]; GROUPS]; ROWS];
    for (input, weights) in panel.iter().enumerate() {
        for row in 0..ROWS {
            for group in 0..GROUPS {
                fma_lanes(simd, rows[row][input], &weights[group], &mut sums[row][group]);
            }
        }
    }
    sums
}

/// Stores accumulators; inlined twice, so that a full group needs no bounds check.
#[inline(always)]
fn store<const ADD: bool>(out: &mut [f32], sums: &[f32; LANES]) {
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = if ADD { *out + sum } else { *sum };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testable_archs;

    fn numbers(count: usize, seed: u64) -> Vec<f32> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..count).map(|_| random.f32() - 0.5).collect()
    }

    #[test]
    fn a_product_is_the_sum_it_should_be_and_a_row_is_the_same_in_any_company() {
        for arch in testable_archs() {
            for (inputs, outputs) in [(1, 1), (24, 17), (64, 48), (33, 100)] {
                let weights = numbers(inputs * outputs, 1);
                let split = outputs / 2 * inputs;
                let matrix = PackedMatrix::pack(inputs, &[&weights[..split], &weights[split..]]);
                let mut columns = vec![0.0; weights.len()];
                for (at, weight) in weights.iter().enumerate() {
                    columns[at % inputs * outputs + at / inputs] = *weight;
                }
                assert!(PackedMatrix::pack_columns(outputs, &columns).panels == matrix.panels);
                for rows in [1, 2, 3, 7, 8, 9, 31] {
                    check(arch, &matrix, &weights, &numbers(inputs * rows, 2));
                }
            }
        }
    }

    fn check(arch: Arch, matrix: &PackedMatrix, weights: &[f32], x: &[f32]) {
        let PackedMatrix { inputs, outputs, .. } = *matrix;
        let mut out = vec![1.0; x.len() / inputs * outputs];
        matrix.multiply(arch, x, &mut out);
        for (x, together) in x.chunks(inputs).zip(out.chunks(outputs)) {
            let mut alone = vec![0.0; outputs];
            matrix.multiply(arch, x, &mut alone);
            assert_eq!(alone, together);
            for (found, weights) in alone.iter().zip(weights.chunks(inputs)) {
                let exact: f32 = x.iter().zip(weights).map(|(x, weight)| x * weight).sum();
                assert!((exact - found).abs() < 1e-4, "{found} is not {exact}");
            }
        }
        let mut twice = out.clone();
        matrix.multiply_add(arch, x, &mut twice);
        assert!(twice.iter().zip(&out).all(|(twice, once)| (twice - 2.0 * once).abs() < 1e-4));
    }
}
