//! Canonical forms, which prove that two expressions are the same.
//!
//! An expression becomes a polynomial with rational coefficients in *kernels*: variables, π, roots of
//! numbers, e to a monomial, logarithms, and whatever cannot be looked into. Exponents may be negative or
//! fractions, so denominators and roots are kernels too. Trigonometric functions are written through
//! exponentials, which turns their identities into identities of polynomials. Two expressions are proved
//! the same when their difference, over a common denominator and multiplied out, has no terms left.
//!
//! Variables stand for real numbers (z and w for complex ones), and two expressions are the same when they
//! agree wherever both are defined and real.

mod bind;
mod calculus;
mod conjugate;
mod cyclotomic;
mod discrete;
mod enclose;
mod exponent;
mod exponential;
mod field;
mod kernel;
mod modular;
mod normal;
mod number;
mod poly;
mod power;
mod primes;
mod real;
mod residue;
mod show;
mod symbolic;
#[cfg(test)]
mod tests;
mod tidy;
mod tower;
mod trig;
mod walk;
mod zero;

pub use normal::{Normal, normal, proportional, same};
pub use residue::residues_agree;
pub use symbolic::{derivative, free_symbols, solve_linear, substitute};
