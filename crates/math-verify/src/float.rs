//! Arithmetic with decimals: sums of exact terms whose coefficients are doubles, rounded at every step.

use super::number::{is_open, prepared, real_value};
use super::structure::ordered;
use super::tree::hundredth;
use aske_algebra::expr::{Expr, Rational};
use aske_algebra::fuel::{Fuel, OutOfFuel};
use std::collections::BTreeMap;

/// The most terms of an expanded product.
const TERMS: usize = 64;
/// Exact powers up to this exponent are computed.
const EXPONENT: i64 = 400;

/// A coefficient.
#[derive(Clone, Debug)]
enum Number {
    Exact(Rational),
    Float(f64),
}

/// The factors of a term that are not numbers, with their exponents.
type Key = BTreeMap<Expr, Rational>;
type Terms = Vec<(Key, Number)>;

impl Number {
    fn float(&self) -> f64 {
        match self {
            Self::Exact(value) => value.to_f64().value(),
            Self::Float(value) => *value,
        }
    }

    fn is_zero(&self) -> bool {
        match self {
            Self::Exact(value) => value.is_zero(),
            Self::Float(value) => *value == 0.0,
        }
    }

    fn times(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) => Self::Exact(a * b),
            (a, b) => Self::Float(a.float() * b.float()),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) => Self::Exact(a + b),
            (a, b) => Self::Float(a.float() + b.float()),
        }
    }
}

/// Whether the difference of two expressions vanishes in double arithmetic.
pub(super) fn cancels(a: &Expr, b: &Expr, fuel: &Fuel) -> Result<bool, OutOfFuel> {
    Ok(subtracted(a, b, fuel)?.is_some_and(|terms| terms.iter().all(|(_, number)| number.is_zero())))
}

/// The difference of two expressions, with their coefficients computed in doubles.
pub(super) fn difference(a: &Expr, b: &Expr, fuel: &Fuel) -> Result<Option<Expr>, OutOfFuel> {
    let Some(terms) = subtracted(a, b, fuel)? else { return Ok(None) };
    let mut parts = Vec::new();
    for (key, number) in terms.into_iter().filter(|(_, number)| !number.is_zero()) {
        let value = match number {
            Number::Exact(value) => value,
            Number::Float(value) => match Rational::try_from(value) {
                Ok(value) => value,
                Err(_) => return Ok(None),
            },
        };
        let powers = key.into_iter().map(|(base, exponent)| match exponent {
            one if one == Rational::ONE => base,
            exponent => base.power(Expr::Number(exponent)),
        });
        parts.push(Expr::Product(std::iter::once(Expr::Number(value)).chain(powers).collect()));
    }
    Ok(Some(Expr::Sum(parts)))
}

fn subtracted(a: &Expr, b: &Expr, fuel: &Fuel) -> Result<Option<Terms>, OutOfFuel> {
    let (Some(mut left), Some(right)) = (terms(a, fuel)?, terms(b, fuel)?) else { return Ok(None) };
    left.extend(
        right.into_iter().map(|(key, number)| (key, number.times(&Number::Exact(Rational::from(-1))))),
    );
    Ok(Some(merged(left)))
}

/// The value of a closed expression as a double.
pub(super) fn value(expr: &Expr, fuel: &Fuel) -> Result<Option<f64>, OutOfFuel> {
    let Some(terms) = terms(expr, fuel)? else { return Ok(None) };
    let mut total = 0.0;
    for (key, number) in terms {
        let mut part = number.float();
        for (base, exponent) in key {
            let power = base.power(Expr::Number(exponent));
            let Some(value) = evaluated(&power, fuel)? else { return Ok(None) };
            part *= value;
        }
        total += part;
    }
    Ok(Some(total))
}

fn evaluated(expr: &Expr, fuel: &Fuel) -> Result<Option<f64>, OutOfFuel> {
    Ok(real_value(&prepared(expr, fuel), 60, 256, fuel)?.map(|value| value.to_f64()))
}

fn merged(terms: Terms) -> Terms {
    let mut out: BTreeMap<Key, Number> = BTreeMap::new();
    for (key, number) in terms {
        let total = match out.get(&key) {
            Some(known) => known.plus(&number),
            None => number,
        };
        out.insert(key, total);
    }
    out.into_iter().collect()
}

fn constant(number: Number) -> Terms {
    vec![(Key::new(), number)]
}

/// An expression as a single factor.
fn opaque(expr: &Expr) -> Terms {
    vec![(Key::from([(ordered(expr), Rational::ONE)]), Number::Exact(Rational::ONE))]
}

fn terms(expr: &Expr, fuel: &Fuel) -> Result<Option<Terms>, OutOfFuel> {
    fuel.spend(20)?;
    match expr {
        Expr::Number(value) => Ok(Some(constant(Number::Exact(value.clone())))),
        Expr::Decimal(value) => Ok(Some(constant(Number::Float(value.to_f64().value())))),
        Expr::Sum(parts) => {
            let mut all = Terms::new();
            for part in parts {
                let Some(part) = terms(part, fuel)? else { return Ok(None) };
                all.extend(part);
            }
            Ok(Some(merged(all)))
        }
        Expr::Product(parts) => {
            let mut all = constant(Number::Exact(Rational::ONE));
            for part in parts {
                // A power with a decimal exponent is computed only beside other factors.
                let part = match part {
                    Expr::Power(base, exponent) if parts.len() > 1 => power(base, exponent, true, fuel)?,
                    other => terms(other, fuel)?,
                };
                let Some(part) = part else { return Ok(None) };
                if all.len() * part.len() > TERMS {
                    return Ok(None);
                }
                all = multiplied(&all, &part);
            }
            Ok(Some(all))
        }
        Expr::Power(base, exponent) => power(base, exponent, false, fuel),
        Expr::Apply(..) if *expr == hundredth() => {
            Ok(Some(constant(Number::Exact(Rational::ONE / Rational::from(100)))))
        }
        other if other.has_decimal() && !is_open(other) => {
            Ok(evaluated(other, fuel)?.map(|value| constant(Number::Float(value))))
        }
        other => Ok(Some(opaque(other))),
    }
}

fn multiplied(a: &Terms, b: &Terms) -> Terms {
    let mut out = Terms::with_capacity(a.len() * b.len());
    for (left, x) in a {
        for (right, y) in b {
            let mut key = left.clone();
            for (base, exponent) in right {
                let total = key.remove(base).unwrap_or(Rational::ZERO) + exponent;
                if !total.is_zero() {
                    key.insert(base.clone(), total);
                }
            }
            out.push((key, x.times(y)));
        }
    }
    merged(out)
}

fn power(base: &Expr, exponent: &Expr, among: bool, fuel: &Fuel) -> Result<Option<Terms>, OutOfFuel> {
    let (Some(below), Some(above)) = (terms(base, fuel)?, terms(exponent, fuel)?) else { return Ok(None) };
    let as_written = || {
        let exponent = match exponent {
            Expr::Decimal(value) => Expr::Number(value.clone()),
            other => other.clone(),
        };
        Ok(Some(opaque(&base.clone().power(exponent))))
    };
    let ([(key, number)], [(none, exponent_number)]) = (below.as_slice(), above.as_slice()) else {
        return as_written();
    };
    if !none.is_empty() {
        return as_written();
    }
    let whole = match exponent_number {
        Number::Exact(value) if value.is_int() => i64::try_from(value.numerator()).ok(),
        _ => None,
    };
    match (number, whole) {
        (Number::Exact(value), Some(times)) if times.abs() <= EXPONENT && !(value.is_zero() && times < 0) => {
            fuel.spend(times.unsigned_abs())?;
            let raised = value.pow(isize::try_from(times.unsigned_abs()).unwrap_or(0));
            let raised = if times < 0 { Rational::ONE / raised } else { raised };
            Ok(Some(vec![(raised_key(key, times), Number::Exact(raised))]))
        }
        (Number::Float(value), Some(times)) if times.abs() <= EXPONENT => {
            let short = i32::try_from(times).unwrap_or(0);
            let raised = if times < 0 { 1.0 / value.powi(-short) } else { value.powi(short) };
            Ok(Some(vec![(raised_key(key, times), Number::Float(raised))]))
        }
        (number, None)
            if key.is_empty()
                && (base.has_decimal() || among)
                && (base.has_decimal() || exponent.has_decimal()) =>
        {
            let value = libm::pow(number.float(), exponent_number.float());
            Ok(value.is_finite().then(|| constant(Number::Float(value))))
        }
        _ => as_written(),
    }
}

fn raised_key(key: &Key, times: i64) -> Key {
    key.iter()
        .map(|(base, exponent)| (base.clone(), exponent * Rational::from(times)))
        .filter(|(_, e)| !e.is_zero())
        .collect()
}
