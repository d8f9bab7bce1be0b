//! Canonical forms, which prove that two expressions are the same.
//!
//! An expression becomes a polynomial with rational coefficients in *kernels*: variables, π, roots of
//! numbers, e to a monomial, logarithms, and whatever cannot be analysed. Exponents may be negative or
//! fractions, so denominators and roots are kernels too. Trigonometric functions are written through
//! exponentials, which turns their identities into identities of polynomials. Two expressions are proved
//! the same when their difference, over a common denominator and multiplied out, has no terms left.
//!
//! Variables stand for real numbers (z and w for complex ones), and two expressions are the same when they
//! agree wherever both are defined and real.

mod bind;
mod calculus;
mod canonical;
mod conjugate;
mod cyclotomic;
mod discrete;
mod display;
mod enclosure;
mod exponent;
mod exponential;
mod field;
mod kernel;
mod number;
mod poly;
mod power;
mod real;
mod residue;
mod simplify;
mod symbolic;
#[cfg(test)]
mod tests;
mod tower;
mod trig;
mod walk;
mod zero;

pub use canonical::{CanonicalForm, canonical_form, proportional, same};
pub use residue::residues_agree;
pub use symbolic::{derivative, free_symbols, solve_linear, substitute};
