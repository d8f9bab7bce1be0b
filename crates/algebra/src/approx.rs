//! Certified enclosures of an expression's value, at rising precision.
//!
//! Values are rational numbers as long as arithmetic can be exact, and rectangles of the complex plane that
//! certainly contain the true value otherwise: first with double ends, then with ends of any precision. Disjoint
//! rectangles prove that two expressions differ. Infinite sums, integrals and limits may be estimated where
//! no proof is at hand; then the result says that it is not rigorous.
//!
//! Fuel: one unit is about 4 ns of work, so that five million are spent in about 20 ms.
//!
//! ```
//! use aske_algebra::approx::{Agreement, Point, agreement};
//! use aske_algebra::fuel::Fuel;
//! use aske_algebra::expr::{Constant, Expr};
//! let pi = Expr::Constant(Constant::Pi);
//! let archimedes = Expr::int(22).over(Expr::int(7));
//! let found = agreement(&pi, &archimedes, &Point::none(), 256, &Fuel::new(1_000_000));
//! assert_eq!(found, (Agreement::Apart, true));
//! ```

mod agreement;
mod big;
mod bound;
mod closed;
mod component;
mod constant;
mod context;
mod function;
mod gamma;
mod integral;
pub(crate) mod interval;
mod kernel;
mod limit;
mod number;
mod operator;
mod point;
mod power;
mod quadrature;
mod rational;
mod series;
mod sum;
mod tail;
#[cfg(test)]
mod tests;
mod value;
mod walk;

pub use agreement::{Agreement, agreement};
pub use point::Point;
pub use value::{Enclosure, Value};

use context::{Context, Rigor, Step, StepError};
use kernel::MAX_BITS;
use walk::Scope;

use crate::expr::Expr;
use crate::fuel::{Fuel, OutOfFuel};

/// Why an expression could not be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationError {
    /// It has no value: 1/0, ln 0, tan(π/2), ∞ − ∞.
    Undefined,
    /// No way to evaluate it is known, or the precision is not enough: an unknown function, a free variable.
    Unsupported,
    /// The fuel is spent.
    OutOfFuel,
}

impl From<StepError> for EvaluationError {
    fn from(fail: StepError) -> Self {
        match fail {
            StepError::Undefined => Self::Undefined,
            StepError::Unsupported | StepError::Imprecise => Self::Unsupported,
            StepError::OutOfFuel => Self::OutOfFuel,
        }
    }
}

/// `None` for every failure but a lack of fuel.
pub fn known(value: Result<Value, EvaluationError>) -> Result<Option<Value>, OutOfFuel> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(EvaluationError::OutOfFuel) => Err(OutOfFuel),
        Err(EvaluationError::Undefined | EvaluationError::Unsupported) => Ok(None),
    }
}

/// The value of an expression at a point, to about `bits` bits where the expression is well behaved; up to 53
/// bits are done with doubles. Proven bounds are preferred; see [`Value::is_rigorous`].
pub fn evaluate(expr: &Expr, at: &Point, bits: u32, fuel: &Fuel) -> Result<Value, EvaluationError> {
    Ok(attempt(expr, at, bits, Rigor::Either, fuel)?)
}

/// The value of an expression with at least `good` leading bits known, at rising precision up to `max_bits`;
/// the sharpest there is where that is not reached.
pub fn refine(
    expr: &Expr,
    at: &Point,
    good: u32,
    max_bits: u32,
    fuel: &Fuel,
) -> Result<Value, EvaluationError> {
    let most = max_bits.min(MAX_BITS);
    let mut best = None;
    let mut bits = 53;
    loop {
        match attempt(expr, at, bits, Rigor::Either, fuel) {
            Ok(value) => {
                let enough = !value.is_rigorous() || value.known_bits(good) >= good;
                best = Some(value);
                if enough {
                    break;
                }
            }
            Err(StepError::Imprecise) => {}
            Err(fail) => return best.ok_or(fail.into()),
        }
        if bits >= most {
            break;
        }
        bits = (bits * 2).max(128).min(most);
    }
    best.ok_or(EvaluationError::Unsupported)
}

fn attempt(expr: &Expr, at: &Point, bits: u32, rigor: Rigor, fuel: &Fuel) -> Step<Value> {
    let cx = Context::new(bits.clamp(53, MAX_BITS), rigor, fuel);
    if bits <= 53 {
        let number = Scope::<f64>::new(at, &cx).value(expr)?;
        Ok(Value::of(number, !cx.estimated(), cx.bits))
    } else {
        let number = Scope::<big::Big>::new(at, &cx).value(expr)?;
        Ok(Value::of(number, !cx.estimated(), cx.bits))
    }
}
