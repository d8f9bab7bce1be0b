//! Closed expressions: order, exact equality, and negligible differences.

use super::tree::{hundredth, is_complex_infinity, is_infinite};
use aske_algebra::approx::{self, Agreement, EvaluationError, Point};
use aske_algebra::exact;
use aske_algebra::expr::{Constant, Expr, Rational, Symbol};
use aske_algebra::fuel::{Fuel, OutOfFuel};
use smol_str::SmolStr;
use std::cmp::Ordering;

/// Numbers closer than this are not distinguished where neither side is a plain number: half a unit of the last bit of
/// a precision in digits, 2⁻⁵⁴ for 15.
pub(super) fn tiny(digits: u32) -> f64 {
    let bits = ((f64::from(digits) + 1.0) * std::f64::consts::LOG2_10).round().max(1.0);
    (-bits - 1.0).exp2()
}

/// Whether an expression has free variables or unknown functions.
pub(super) fn is_open(expr: &Expr) -> bool {
    match expr {
        Expr::Symbol(_) => true,
        Expr::Bind(_) => !exact::free_symbols(expr).is_empty(),
        Expr::Apply(_, parts) if !parts.is_empty() => true,
        other => other.children().into_iter().any(is_open),
    }
}

/// The expression as `aske-algebra` reads it: percents multiplied out, unknown
/// functions as variables, and roots of negative numbers on their principal branch.
pub(super) fn prepared(expr: &Expr, fuel: &Fuel) -> Expr {
    match expr {
        Expr::Apply(..) if *expr == hundredth() => Expr::Number(Rational::ONE / Rational::from(100)),
        Expr::Apply(..) if is_complex_infinity(expr) => Expr::int(0).power(Expr::int(-1)),
        Expr::Apply(name, parts) => {
            let inside: Vec<String> = parts.iter().map(|part| prepared(part, fuel).to_string()).collect();
            Expr::Symbol(SmolStr::new(format!("{name}({})", inside.join(","))))
        }
        Expr::Power(base, exponent) => principal(prepared(base, fuel), prepared(exponent, fuel), fuel),
        other => other.map(|part| prepared(part, fuel)),
    }
}

/// Whether an exponent stands for a root of odd degree.
pub(super) fn is_odd_root(exponent: &Expr) -> bool {
    matches!(exponent, Expr::Number(q) if !q.is_int() && q.denominator() % 2_u8 == 1)
}

fn principal(base: Expr, exponent: Expr, fuel: &Fuel) -> Expr {
    let is_negative = || {
        approx::refine(&base, &Point::none(), 2, 128, fuel)
            .is_ok_and(|value| !value.is_surely_not_real() && value.sign() == Some(Ordering::Less))
    };
    if !is_odd_root(&exponent) || is_open(&base) || !is_negative() {
        return base.power(exponent);
    }
    let turn =
        Expr::Product(vec![Expr::Constant(Constant::I), Expr::Constant(Constant::Pi), exponent.clone()]);
    base.negated().power(exponent).times(Expr::Constant(Constant::E).power(turn))
}

/// The order of two expressions, if both are real numbers.
pub(super) fn order(a: &Expr, b: &Expr, fuel: &Fuel) -> Result<Option<Ordering>, OutOfFuel> {
    fuel.spend(10)?;
    match (a, b) {
        (Expr::Number(a), Expr::Number(b)) | (Expr::Decimal(a), Expr::Decimal(b)) => {
            return Ok(Some(a.cmp(b)));
        }
        // Compared with a decimal, a number is rounded to the nearest double.
        (Expr::Number(a), Expr::Decimal(b)) | (Expr::Decimal(a), Expr::Number(b)) => {
            return Ok(a.to_f64().value().partial_cmp(&b.to_f64().value()));
        }
        _ => {}
    }
    let far = |expr: &Expr| match (is_infinite(expr), is_open(expr)) {
        (Some(negative), _) => Some(if negative { -1 } else { 1 }),
        // An expression with free variables may be infinite.
        (None, true) => None,
        (None, false) => Some(0),
    };
    let (Some(far_a), Some(far_b)) = (far(a), far(b)) else { return Ok(None) };
    if far_a != 0 || far_b != 0 {
        return Ok(Some(far_a.cmp(&far_b)));
    }
    let (a, b) = (prepared(a, fuel), prepared(b, fuel));
    let (Some(x), Some(y)) = (real_value(&a, 40, 128, fuel)?, real_value(&b, 40, 128, fuel)?) else {
        return Ok(None);
    };
    match x.order(&y) {
        None => Ok(same(&a, &b, fuel)?.then_some(Ordering::Equal)),
        found => Ok(found),
    }
}

/// The value of a closed, prepared expression, unless it is surely not real; see [`approx::refine`].
pub(super) fn real_value(
    expr: &Expr,
    good: u32,
    max_bits: u32,
    fuel: &Fuel,
) -> Result<Option<approx::Value>, OutOfFuel> {
    let value = approx::known(approx::refine(expr, &Point::none(), good, max_bits, fuel))?;
    Ok(value.filter(|value| !value.is_surely_not_real()))
}

/// Whether the value may be a real number.
pub(super) fn may_be_real(expr: &Expr, fuel: &Fuel) -> bool {
    if is_open(expr) || is_infinite(expr).is_some() {
        return true;
    }
    !approx::evaluate(&prepared(expr, fuel), &Point::none(), 53, fuel)
        .is_ok_and(|value| value.is_surely_not_real())
}

/// Whether two closed, prepared expressions without decimals are the same number.
pub(super) fn same(a: &Expr, b: &Expr, fuel: &Fuel) -> Result<bool, OutOfFuel> {
    match approx::agreement(a, b, &Point::none(), 53, fuel) {
        (Agreement::Apart, true) | (Agreement::Unclear(EvaluationError::Undefined), _) => return Ok(false),
        (Agreement::Same, true) => return Ok(true),
        (Agreement::Unclear(EvaluationError::OutOfFuel), _) => return Err(OutOfFuel),
        _ => {}
    }
    if let Some(equal) = exact::same(a, b, fuel)? {
        return Ok(equal);
    }
    if let Some(agree) = exact::residues_agree(a, b, fuel)? {
        return Ok(agree);
    }
    Ok(match approx::agreement(a, b, &Point::none(), 320, fuel) {
        (Agreement::Same, _) => true,
        (Agreement::Close { bits, absolute }, rigorous) => {
            bits.max(absolute) >= if rigorous { 200 } else { 30 }
        }
        (Agreement::Unclear(EvaluationError::OutOfFuel), _) => return Err(OutOfFuel),
        _ => false,
    })
}

/// Whether two closed, prepared expressions differ by less than `tiny`.
pub(super) fn within(a: &Expr, b: &Expr, tiny: f64, fuel: &Fuel) -> Result<bool, OutOfFuel> {
    let difference = a.clone().minus(b.clone());
    for bits in [53, 128, 384] {
        let value = match approx::evaluate(&difference, &Point::none(), bits, fuel) {
            Ok(value) => value,
            Err(EvaluationError::OutOfFuel) => return Err(OutOfFuel),
            Err(EvaluationError::Undefined) => return Ok(false),
            Err(EvaluationError::Unsupported) => continue,
        };
        let mut ranges = vec![value.to_f64_bounds()];
        if let approx::Value::Ball(ball) = &value {
            ranges.push(ball.imaginary_bounds());
        }
        if ranges.iter().all(|(low, high)| low.abs() < tiny && high.abs() < tiny) {
            return Ok(true);
        }
        if ranges.iter().any(|(low, high)| *low > tiny || *high < -tiny) {
            return Ok(false);
        }
        if !value.is_rigorous() {
            // More precision does not improve an estimate.
            return Ok(ranges.iter().all(|(low, high)| f64::midpoint(*low, *high).abs() < 1e-10));
        }
    }
    same(a, b, fuel)
}

/// The free variables of both expressions, sorted and without repetitions.
pub(super) fn names(a: &Expr, b: &Expr) -> Vec<Symbol> {
    let mut names: Vec<Symbol> = exact::free_symbols(a).into_iter().chain(exact::free_symbols(b)).collect();
    names.sort_unstable();
    names.dedup();
    names
}
