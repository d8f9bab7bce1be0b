//! SIMD kernels for small networks on the CPU, used by `model` (inference) and `train` (training).
//!
//! A [`PackedMatrix`] is packed for fast products; the other kernels are normalization, activation and rotary embedding. All
//! are compiled for several instruction sets and selected at run time, and all sum in a fixed order: the result of a row is
//! bit-identical whatever else is in the batch. Depends on no other crate of the workspace.
//!
//! ```
//! use aske_kernels::{Arch, PackedMatrix};
//! let matrix = PackedMatrix::pack(2, &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]); // three outputs of two inputs
//! let mut out = [0.0; 3];
//! matrix.multiply(Arch::new(), &[1.0, 10.0], &mut out);
//! assert_eq!(out, [21.0, 43.0, 65.0]);
//! ```
#![expect(
    clippy::inline_always,
    reason = "kernels take the instruction set of the caller they are inlined into"
)]

mod lanes;
mod matrix;
mod ops;

pub use lanes::{LANES, Lanes, exp, fma, fma_lanes, horizontal_sum, lanes, sum_of_squares, testable_archs};
pub use matrix::PackedMatrix;
pub use ops::{ApplyRotary, RmsNorm, RotaryTable, SwiGlu};
pub use pulp::{Arch, Simd, WithSimd};
