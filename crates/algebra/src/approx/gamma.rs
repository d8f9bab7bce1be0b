//! The gamma function of real numbers, by Stirling's series.

use std::cmp::Ordering;
use std::sync::LazyLock;

use dashu_int::UBig;
use dashu_int::ops::UnsignedAbs as _;

use super::bound::{Bound, Rounding};
use super::component::{Component, sign_of};
use super::context::{Context, Step, StepError};
use super::interval::Interval;
use super::rational;
use crate::expr::Rational;

/// The number of Bernoulli numbers.
const KEPT: usize = 100;

/// The Bernoulli numbers B₂, B₄, B₆, …
pub(super) static BERNOULLI: LazyLock<Vec<Rational>> = LazyLock::new(bernoulli);

/// From the tangent numbers: B₂ₙ = (−1)ⁿ⁻¹·2n·Tₙ/(4ⁿ(4ⁿ−1)), with Tₙ by the triangle of Brent and Harvey
/// ("Fast computation of Bernoulli, tangent and secant numbers", 2013).
fn bernoulli() -> Vec<Rational> {
    let mut tangent = vec![UBig::ONE; KEPT];
    for k in 1..KEPT {
        tangent[k] = UBig::from(k) * &tangent[k - 1];
    }
    for k in 1..KEPT {
        for j in k..KEPT {
            tangent[j] = UBig::from(j - k) * &tangent[j - 1] + UBig::from(j - k + 2) * &tangent[j];
        }
    }
    (1..=KEPT)
        .zip(tangent)
        .map(|(n, t)| {
            let power = UBig::ONE << (2 * n);
            let value = Rational::from_parts((UBig::from(2 * n) * t).into(), &power * (&power - UBig::ONE));
            if n % 2 == 1 { value } else { -value }
        })
        .collect()
}

/// Γ of a real number.
pub(super) fn gamma<T: Bound>(x: &Component<T>, cx: &Context<'_>) -> Step<Component<T>> {
    if let Component::Exact(value) = x
        && value.is_int()
    {
        if sign_of(value) != Ordering::Greater {
            return Err(StepError::Undefined);
        }
        let n = value.numerator().unsigned_abs() - UBig::ONE;
        if let Some(value) = rational::factorial(cx, &n, 1)? {
            return Ok(Component::Exact(value));
        }
    }
    let half = Component::Exact(Rational::from_parts(1.into(), 2_u8.into()));
    match x.order(&half, cx)? {
        Some(Ordering::Less) => {
            // Γ(x) = π/(sin(πx)·Γ(1−x))
            let turned = x.mul(&Component::pi(Rational::ONE), cx)?;
            let sin = turned.sin_cos(cx)?.0;
            let mirrored = gamma(&Component::int(1).sub(x, cx)?, cx)?;
            Component::pi(Rational::ONE).div(&sin.mul(&mirrored, cx)?, cx)
        }
        None if x.sign() != Some(Ordering::Greater) => Err(StepError::Imprecise),
        _ => Ok(Component::Interval(positive(&x.span(cx)?, cx)?)),
    }
}

/// Γ of a positive number: shifted to where the series is sharp, and back by division.
fn positive<T: Bound>(x: &Interval<T>, cx: &Context<'_>) -> Step<Interval<T>> {
    let bits = cx.bits;
    let sharp = 8 + if bits > 400 { bits / 2 } else { bits / 6 };
    let start = x.low.to_f64(Rounding::Down);
    let mut below = Interval::small(1);
    let mut at = x.clone();
    if start < f64::from(sharp) {
        for _ in 0..sharp {
            cx.spend_arithmetic::<T>(6)?;
            below = below.mul(&at, bits);
            at = at.add(&Interval::small(1), bits);
        }
    }
    cx.spend_functions::<T>(4)?;
    // (x − 1/2)·ln x − x + ln(2π)/2 + Σ B₂ₖ/(2k(2k−1)x²ᵏ⁻¹), off by less than the first term left out.
    let half = Interval::small(1).half();
    let mut sum = at.sub(&half, bits).mul(&at.ln(bits), bits).sub(&at, bits);
    let tau = Interval::pi(bits).mul(&Interval::small(2), bits);
    sum = sum.add(&tau.ln(bits).half(), bits);
    let one = Interval::small(1);
    let mut power = one.div(&at, bits).ok_or(StepError::Imprecise)?;
    let step = power.square(bits);
    let wanted = -i64::from(bits) - 8;
    for (k, b) in (1_i32..).zip(BERNOULLI.iter()) {
        cx.spend_arithmetic::<T>(12)?;
        let weight = b / Rational::from(2 * k * (2 * k - 1));
        let term = power.mul(&Interval::of_rational(&weight, bits), bits);
        let size = term.abs().high;
        if size.exponent().is_none_or(|top| top < wanted) || k == i32::try_from(KEPT).unwrap_or(i32::MAX) {
            sum = sum.add(&Interval::around_zero(size), bits);
            break;
        }
        sum = sum.add(&term, bits);
        power = power.mul(&step, bits);
    }
    sum.exp(bits).div(&below, bits).ok_or(StepError::Imprecise)
}
