//! Expressions: canonical forms, certified enclosures of values, and the result of a comparison.
//!
//! The base of `aske-answer` and `aske-math-verify`. Pure functions over values: no clock, no I/O, no randomness; all
//! work is bounded by [`fuel::Fuel`].
//!
//! ```
//! use aske_algebra::{exact, expr::Expr, fuel::Fuel};
//! let (x, one) = (Expr::symbol("x"), Expr::int(1));
//! let square = x.clone().plus(one.clone()).power(Expr::int(2));
//! let expanded = x.clone().times(x.clone()).plus(x.times(Expr::int(2))).plus(one);
//! assert_eq!(exact::same(&square, &expanded, &Fuel::new(100_000)), Ok(Some(true)));
//! ```

pub mod approx;
pub mod exact;
pub mod expr;
pub mod fuel;
pub mod integer;
pub mod relation;
mod squaring;
pub mod verdict;
