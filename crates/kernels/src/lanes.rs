//! SIMD primitives.
//!
//! Everything here is inlined into a caller that [`pulp`] compiles for each instruction set: simple loops are left to
//! auto-vectorization, and where accumulators must stay in registers, registers are explicit. Sums are taken lane by lane and
//! then across lanes in a fixed order, so the result of a row does not depend on the batch.

use pulp::Simd;

/// Elements per SIMD group.
pub const LANES: usize = 16;

/// One group, aligned to a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub struct Lanes(pub [f32; LANES]);

/// Whether this instruction set has fused multiply-add; elsewhere `mul_add` is a slow library call.
const fn fuses<S: Simd>() -> bool {
    S::F32_LANES > 1 && !cfg!(target_family = "wasm")
}

/// `a · b + c`.
#[inline(always)]
pub fn fma<S: Simd>(a: f32, b: f32, c: f32) -> f32 {
    if const { fuses::<S>() } { a.mul_add(b, c) } else { a * b + c }
}

/// `a · b + c` for a group held in `REGISTERS` registers.
#[inline(always)]
pub fn fma_lanes<S: Simd, const REGISTERS: usize>(simd: S, a: f32, b: &Lanes, c: &mut [S::f32s; REGISTERS]) {
    let a = simd.splat_f32s(a);
    for (c, b) in c.iter_mut().zip(S::as_simd_f32s(&b.0).0) {
        *c = simd.mul_add_e_f32s(a, *b, *c);
    }
}

/// Stores registers to a group.
#[inline(always)]
pub fn lanes<S: Simd, const REGISTERS: usize>(from: &[S::f32s; REGISTERS]) -> Lanes {
    let mut group = Lanes::default();
    for (to, from) in S::as_mut_simd_f32s(&mut group.0).0.iter_mut().zip(from) {
        *to = *from;
    }
    group
}

/// Sum across lanes, as a tree.
#[inline(always)]
pub fn horizontal_sum(Lanes(lanes): Lanes) -> f32 {
    let eight: [f32; 8] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 8]);
    let four: [f32; 4] = std::array::from_fn(|lane| eight[lane] + eight[lane + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// Sum of squares.
#[inline(always)]
pub fn sum_of_squares<S: Simd>(values: &[f32]) -> f32 {
    let (groups, rest) = values.as_chunks::<LANES>();
    let mut total = [0.0; LANES];
    for group in groups {
        for lane in 0..LANES {
            total[lane] = fma::<S>(group[lane], group[lane], total[lane]);
        }
    }
    rest.iter().fold(horizontal_sum(Lanes(total)), |total, value| fma::<S>(*value, *value, total))
}

/// `eˣ` to about one part in ten million.
///
/// x = n ln 2 + r with |r| ≤ ln 2 / 2; eʳ by its Taylor polynomial of degree 7, whose remainder there is below
/// r⁸/8! ≈ 5·10⁻⁹; times 2ⁿ by writing n into the exponent. Inputs are clamped
/// to −87..88, which is enough for a softmax.
#[inline(always)]
pub fn exp<S: Simd>(x: f32) -> f32 {
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // Adding and subtracting 1.5 · 2²³ rounds to an integer, which is in the low bits of the intermediate result.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = fma::<S>(x, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fma::<S>(n, -LN2_LOW, fma::<S>(n, -LN2_HIGH, x));
    let mut p = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = fma::<S>(p, r, coefficient);
    }
    let power = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    p * f32::from_bits(power)
}

/// The instruction sets that can be tested on this machine.
pub fn testable_archs() -> Vec<pulp::Arch> {
    let mut archs = vec![pulp::Arch::new(), pulp::Arch::Scalar];
    #[cfg(target_arch = "x86_64")]
    archs.extend(pulp::x86::V3::try_new().map(pulp::Arch::V3));
    archs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_agrees_with_the_library_of_the_system() {
        for step in -8700..=8800_i16 {
            let x = f32::from(step) / 100.0;
            let exact = f64::from(x).exp();
            let relative = (f64::from(exp::<pulp::Scalar>(x)) - exact).abs() / exact;
            assert!(relative < 2e-7, "e^{x} is off by {relative:e}");
        }
        assert!(exp::<pulp::Scalar>(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn sums_are_right_at_every_length() {
        for length in 0..70_u16 {
            let values: Vec<f32> = (0..length).map(f32::from).collect();
            let n = f32::from(length);
            let exact = (n - 1.0) * n * (2.0 * n - 1.0) / 6.0;
            assert!((sum_of_squares::<pulp::Scalar>(&values) - exact).abs() < 1e-2);
        }
    }
}
