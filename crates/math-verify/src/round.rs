//! Numbers rounded to a number of decimals.

use super::{float, number};
use aske_algebra::approx::Value;
use aske_algebra::expr::{Expr, Rational};
use aske_algebra::fuel::{Fuel, OutOfFuel};
use dashu_int::IBig;

/// No double has more places.
const PLACES: i32 = 400;

/// A rounded number; an integer never equals a rounded decimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rounded {
    Integer(IBig),
    /// In units of the last place.
    Decimal(IBig),
}

/// The number rounded, or `None` where it has no real value.
pub(super) fn rounded(expr: &Expr, places: i32, fuel: &Fuel) -> Result<Option<Rounded>, OutOfFuel> {
    match expr {
        Expr::Number(value) => return Ok(Some(of_exact(value, places))),
        Expr::Decimal(value) => return Ok(Some(Rounded::Decimal(units(&printed(value), places)))),
        _ if number::is_open(expr) => return Ok(None),
        _ => {}
    }
    if expr.has_decimal() {
        let value = float::value(expr, fuel)?.and_then(|value| Rational::try_from(value).ok());
        return Ok(value.map(|value| Rounded::Decimal(units(&printed(&value), places))));
    }
    let expr = number::prepared(expr, fuel);
    let value = match number::real_value(&expr, 60, 256, fuel)? {
        Some(Value::Exact(value)) => return Ok(Some(of_exact(&value, places))),
        None | Some(Value::Infinite { .. }) => return Ok(None),
        Some(value) => value,
    };
    let double = value.to_f64();
    if (double - double.round()).abs() < 1e-9
        && let Ok(whole) = Rational::try_from(double.round())
        && number::same(&expr, &Expr::Number(whole.clone()), fuel)?
    {
        return Ok(Some(of_exact(&whole, places)));
    }
    Ok(Rational::try_from(double).ok().map(|value| Rounded::Decimal(units(&value, places))))
}

fn of_exact(value: &Rational, places: i32) -> Rounded {
    if value.is_int() {
        Rounded::Integer(value.numerator().clone())
    } else {
        Rounded::Decimal(units(value, places))
    }
}

/// The value of a double's first fifteen digits, so that halves are exact.
fn printed(value: &Rational) -> Rational {
    let text = format!("{:.14e}", value.to_f64().value());
    let read = || {
        let (digits, exponent) = text.split_once('e')?;
        let exponent: isize = exponent.parse().ok()?;
        let digits: IBig = digits.replace('.', "").parse().ok()?;
        Some(Rational::from(digits) * Rational::from(10).pow(exponent - 14))
    };
    read().unwrap_or_else(|| value.clone())
}

/// The number of units of the last place, rounded half to even.
fn units(value: &Rational, places: i32) -> IBig {
    let scaled = value * Rational::from(10).pow(places.clamp(-PLACES, PLACES) as isize);
    let low = scaled.floor();
    let rest = scaled - Rational::from(low.clone());
    let half = Rational::ONE / Rational::from(2);
    let even = low.clone() % IBig::from(2) == IBig::ZERO;
    if rest > half || (rest == half && !even) { low + IBig::ONE } else { low }
}
