//! Exact arithmetic on rationals up to a size, charged to fuel by machine word.
//!
//! Each function returns `None` if the result would be too large or is not rational: the caller continues with
//! enclosures.

use dashu_int::ops::{BitTest as _, Gcd as _, UnsignedAbs as _};
use dashu_int::{IBig, Sign, UBig};

use super::context::{Context, Step};
use crate::expr::Rational;
use crate::integer;

/// No exact number grows beyond this.
const MAX_BITS: usize = 100_000;
/// No exact fraction grows beyond this: their arithmetic takes a greatest common divisor each time.
const MAX_FRACTION_BITS: usize = 20_000;

type Exact<T = Rational> = Step<Option<T>>;

/// The size of a rational in bits.
pub(super) fn size(value: &Rational) -> usize {
    value.numerator().bit_len() + value.denominator().bit_len()
}

/// Spends the fuel of an operation on two numbers. Returns their words, and whether both are integers; `None` if the
/// result would be too large.
fn spend_on(cx: &Context<'_>, a: &Rational, b: &Rational) -> Exact<(u64, bool)> {
    let whole = a.is_int() && b.is_int();
    let bits = size(a) + size(b);
    if bits > if whole { MAX_BITS } else { MAX_FRACTION_BITS } {
        return Ok(None);
    }
    let words = (bits / 64) as u64;
    cx.spend(if whole { 20 + words } else { 100 + 2 * words * words })?;
    Ok(Some((words, whole)))
}

pub(super) fn add(cx: &Context<'_>, a: &Rational, b: &Rational) -> Exact {
    let Some((_, whole)) = spend_on(cx, a, b)? else { return Ok(None) };
    Ok(Some(if whole { Rational::from(a.numerator() + b.numerator()) } else { a + b }))
}

pub(super) fn mul(cx: &Context<'_>, a: &Rational, b: &Rational) -> Exact {
    let Some((words, whole)) = spend_on(cx, a, b)? else { return Ok(None) };
    cx.spend(words * words.min(64) / 2)?;
    Ok(Some(if whole { Rational::from(a.numerator() * b.numerator()) } else { a * b }))
}

/// One over a number that is not zero.
pub(super) fn inverse(value: &Rational) -> Rational {
    let (n, d) = (value.numerator(), value.denominator());
    Rational::from_parts(IBig::from_parts(n.sign(), d.clone()), n.unsigned_abs())
}

/// An integer power; the base is not zero where the exponent is below it.
pub(super) fn pow(cx: &Context<'_>, base: &Rational, exponent: &IBig) -> Exact {
    let (n, d) = (base.numerator(), base.denominator());
    if exponent.is_zero() || base.is_one() {
        return Ok(Some(Rational::ONE));
    }
    if base.is_zero() {
        return Ok(Some(Rational::ZERO));
    }
    if d.is_one() && *n == IBig::NEG_ONE {
        let odd = exponent.bit(0);
        return Ok(Some(if odd { Rational::NEG_ONE } else { Rational::ONE }));
    }
    let Ok(count) = usize::try_from(exponent.unsigned_abs()) else {
        return Ok(None);
    };
    let longest = n.bit_len().max(d.bit_len());
    // The division below takes a greatest common divisor, which is nothing where one of them is one.
    let proper = !d.is_one() && n.bit_len() > 1;
    if longest.saturating_mul(count) > if proper { MAX_FRACTION_BITS / 2 } else { MAX_BITS } {
        return Ok(None);
    }
    let words = (longest * count / 64) as u64;
    cx.spend(20 + words * words.min(64) / 2 + if proper { 2 * words * words } else { 0 })?;
    // Powers of coprime numbers are coprime.
    let power = Rational::from_parts(n.pow(count), UBig::ONE);
    let under = d.pow(count);
    let power = power / Rational::from(under);
    Ok(Some(if exponent.sign() == Sign::Negative { inverse(&power) } else { power }))
}

/// The exact root of a number not below zero, where it is rational.
pub(super) fn root(cx: &Context<'_>, value: &Rational, degree: &UBig) -> Exact {
    let Ok(degree) = usize::try_from(degree) else {
        return Ok(None);
    };
    if value.is_zero() || value.is_one() || degree == 1 {
        return Ok(Some(value.clone()));
    }
    if degree == 0 || size(value) > MAX_FRACTION_BITS {
        return Ok(None);
    }
    let words = (size(value) / 64) as u64;
    cx.spend(40 + if degree == 2 { words * words } else { 20 * words * words })?;
    let whole = |n: &UBig| -> Option<UBig> {
        if n.is_one() {
            return Some(UBig::ONE);
        }
        // The search for a high root of a long number takes about as many steps as the degree.
        if n.bit_len() <= degree || degree > 8 && n.bit_len() > 1024 {
            return None;
        }
        let root = n.nth_root(degree);
        (root.pow(degree) == *n).then_some(root)
    };
    Ok(whole(&value.numerator().unsigned_abs())
        .and_then(|n| Some(Rational::from_parts(n.into(), whole(value.denominator())?))))
}

/// `n!`, or `n!!` with a step of two.
pub(super) fn factorial(cx: &Context<'_>, n: &UBig, step: u64) -> Exact {
    let Some(n) = u64::try_from(n).ok().filter(|n| *n <= 9_000 * step) else {
        return Ok(None);
    };
    let words = n * 14 / 64 / step;
    cx.spend(20 + 2 * n + words * words / 4)?;
    Ok(Some(Rational::from(integer::factorial(n, step))))
}

/// `n` choose `k` for any rational `n`.
pub(super) fn binomial(cx: &Context<'_>, n: &Rational, k: &IBig) -> Exact {
    if k.sign() == Sign::Negative {
        return Ok(Some(Rational::ZERO));
    }
    let top = Rational::from(k.clone());
    let natural = n.is_int() && n.sign() == Sign::Positive;
    if natural && *n < top {
        return Ok(Some(Rational::ZERO));
    }
    let other = n.numerator() - k;
    let k = if natural && other < *k { &other } else { k };
    let Some(count) = u64::try_from(k).ok().filter(|k| *k <= 20_000) else {
        return Ok(None);
    };
    if natural && let Ok(top) = u64::try_from(n.numerator()) {
        let words = count * u64::from(u64::BITS - top.leading_zeros()) / 64;
        cx.spend(20 + 8 * count + words * words / 3)?;
        return Ok(
            Some(Rational::from(integer::binomial(top, count))).filter(|value| size(value) <= MAX_BITS)
        );
    }
    let mut value = Rational::ONE;
    let mut factor = n.clone();
    for i in 1..=count {
        // After each step this is n choose i: whole for a whole n.
        if n.is_int() {
            let words = (size(&value) / 64) as u64;
            cx.spend(40 + 4 * words)?;
            value = Rational::from(value.numerator() * factor.numerator() / IBig::from(i));
        } else {
            let Some(next) = mul(cx, &value, &(&factor / Rational::from(i)))? else {
                return Ok(None);
            };
            value = next;
        }
        if size(&value) > MAX_BITS {
            return Ok(None);
        }
        factor -= Rational::ONE;
    }
    Ok(Some(value))
}

/// The greatest common divisor of two integers.
pub(super) fn gcd(cx: &Context<'_>, a: &IBig, b: &IBig) -> Step<IBig> {
    let words = ((a.bit_len() + b.bit_len()) / 64) as u64;
    cx.spend(20 + words * words / 4)?;
    if a.is_zero() && b.is_zero() {
        return Ok(IBig::ZERO);
    }
    Ok(a.gcd(b).into())
}

/// The least common multiple of two integers.
pub(super) fn lcm(cx: &Context<'_>, a: &IBig, b: &IBig) -> Exact<IBig> {
    let divisor = gcd(cx, a, b)?;
    if divisor.is_zero() {
        return Ok(Some(IBig::ZERO));
    }
    let product = mul(cx, &Rational::from(a / divisor), &Rational::from(b.clone()))?;
    Ok(product.map(|p| p.numerator().unsigned_abs().into()))
}
