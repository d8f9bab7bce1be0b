//! Arithmetic of small networks on the processor, shared by those that run them and those that train them.
//!
//! A [`Matrix`] is laid out for quick products; the other kernels are the small steps between two products. All of
//! them are compiled for every instruction set and choose at run time, and all sum in one fixed order: a row's result
//! is the same alone and in any company. Depends on nothing of ours.
//!
//! ```
//! use aske_kernels::{Arch, Matrix};
//! let matrix = Matrix::pack(2, &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]); // three outputs of two inputs
//! let mut out = [0.0; 3];
//! matrix.multiply(Arch::new(), &[1.0, 10.0], &mut out);
//! assert_eq!(out, [21.0, 43.0, 65.0]);
//! ```

mod lanes;
mod matrix;
mod steps;

pub use lanes::{LANES, Lanes, archs, exp, fma, fma_lanes, lanes, squares, sum};
pub use matrix::Matrix;
pub use pulp::{Arch, Simd, WithSimd};
pub use steps::{Gate, Normalise, Rotary, Rotate};
