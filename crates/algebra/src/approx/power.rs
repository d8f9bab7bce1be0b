//! Exponentials, logarithms and powers.

use std::cmp::Ordering;

use dashu_int::ops::{BitTest as _, UnsignedAbs as _};
use dashu_int::{IBig, Sign};

use super::bound::Bound;
use super::component::{Component, sign_of};
use super::context::{Context, Step, StepError};
use super::interval::Interval;
use super::number::Number::{self, Complex, Infinite, Real};
use super::rational;
use crate::expr::Rational;
use crate::squaring;

impl<T: Bound> Number<T> {
    /// e to this.
    pub(super) fn exp(&self, cx: &Context<'_>) -> Step<Self> {
        match self {
            Infinite(false) => Ok(Infinite(false)),
            Infinite(true) => Ok(Self::int(0)),
            Real(x) if x.is_zero() => Ok(Self::int(1)),
            Real(x) => Ok(Real(x.map_interval(cx, Interval::exp)?)),
            Complex(x, y) => {
                let size = Real(x.clone()).exp(cx)?;
                let (sin, cos) = y.sin_cos(cx)?;
                size.mul(&Self::of(cos, sin), cx)
            }
        }
    }

    /// The principal logarithm.
    pub(super) fn ln(&self, cx: &Context<'_>) -> Step<Self> {
        match self {
            Infinite(false) => Ok(Infinite(false)),
            Infinite(true) => Err(StepError::Undefined),
            Real(x) => match x.sign() {
                Some(Ordering::Equal) => Err(StepError::Undefined),
                Some(Ordering::Greater) if x.is_one() => Ok(Self::int(0)),
                Some(Ordering::Greater) => Ok(Real(x.map_interval(cx, Interval::ln)?)),
                Some(Ordering::Less) => {
                    let size = Real(x.neg()).ln(cx)?;
                    Ok(Self::of(size.real()?, Component::pi(Rational::ONE)))
                }
                None => Err(StepError::Imprecise),
            },
            Complex(a, b) => {
                let angle = self.clone().arg(cx)?;
                let square = Real(a.square(cx)?.add(&b.square(cx)?, cx)?);
                Ok(Self::of(square.ln(cx)?.half(cx)?.real()?, angle))
            }
        }
    }

    /// The principal square root.
    pub(super) fn sqrt(&self, cx: &Context<'_>) -> Step<Self> {
        match self {
            Infinite(false) => Ok(Infinite(false)),
            Infinite(true) => Err(StepError::Undefined),
            Real(x) => real_sqrt(x, cx),
            Complex(a, b) => {
                // With r = |z|: √((r+a)/2) ± i·√((r−a)/2), the sign being that of b.
                let negative = match (b.sign(), a.sign()) {
                    (Some(sign), _) => sign == Ordering::Less,
                    (None, Some(Ordering::Greater)) => return self.ln(cx)?.half(cx)?.exp(cx),
                    _ => return Err(StepError::Imprecise),
                };
                let size = self.clone().abs(cx)?.real()?;
                let half = Component::Exact(Rational::from_parts(1.into(), 2_u8.into()));
                let root = |x: Component<T>| x.mul(&half, cx)?.clamped_below().sqrt(cx);
                let (re, im) = (root(size.add(a, cx)?)?, root(size.sub(a, cx)?)?);
                Ok(Self::of(re, if negative { im.neg() } else { im }))
            }
        }
    }

    /// This to the power of another; 0^0 is one.
    pub(super) fn power(&self, exponent: &Self, cx: &Context<'_>) -> Step<Self> {
        match (self, exponent) {
            (Infinite(negative), Real(w)) => infinite_base(*negative, w),
            (Real(x), Infinite(negative)) => infinite_exponent(x, *negative, cx),
            (Infinite(_), _) | (_, Infinite(_)) => Err(StepError::Undefined),
            (_, Real(Component::Exact(w))) if w.is_int() => whole_power(self, w.numerator(), cx),
            (Real(x), Real(Component::Exact(w))) => fraction_power(x, w, cx),
            (Real(x), w) if x.is_zero() => match w.clone().parts()?.0.sign() {
                Some(Ordering::Greater) => Ok(Self::int(0)),
                Some(_) => Err(StepError::Undefined),
                None => Err(StepError::Imprecise),
            },
            (Real(x), _) if x.is_one() => Ok(Self::int(1)),
            (Real(Component::Interval(x)), Real(w)) if x.sign().is_none() && x.is_not_negative() => {
                // The base may be zero: the power is small where the exponent is surely positive.
                if w.sign() != Some(Ordering::Greater) {
                    return Err(StepError::Imprecise);
                }
                let top = Real(Component::Interval(Interval::point(x.high.clone()))).power(exponent, cx)?;
                let top = top.real()?.span(cx)?;
                let zero = Interval::small(0);
                Ok(Real(Component::Interval(zero.hull(&top))))
            }
            (Complex(..), Real(Component::Exact(w))) if *w.denominator() == 2_u8.into() => {
                whole_power(&self.sqrt(cx)?, w.numerator(), cx)
            }
            _ => self.ln(cx)?.mul(exponent, cx)?.exp(cx),
        }
    }
}

impl<T: Bound> Component<T> {
    /// The non-negative part of an enclosure, for a number that is not negative.
    fn clamped_below(self) -> Self {
        match self {
            Self::Interval(span) if !span.is_not_negative() => Self::Interval(Interval {
                low: T::small(0),
                high: if span.high.sign() == Ordering::Less { T::small(0) } else { span.high },
            }),
            other => other,
        }
    }
}

fn real_sqrt<T: Bound>(x: &Component<T>, cx: &Context<'_>) -> Step<Number<T>> {
    match x.sign() {
        Some(Ordering::Less) => Ok(Number::of(Component::zero(), x.neg().sqrt(cx)?)),
        Some(_) => Ok(Real(x.sqrt(cx)?)),
        None => {
            let span = x.span(cx)?;
            if span.is_not_negative() {
                return Ok(Real(Component::Interval(span.sqrt(cx.bits))));
            }
            // Either a small real number or a small imaginary one.
            cx.spend_arithmetic::<T>(8)?;
            let to = |end: T| Interval { low: T::small(0), high: Interval::point(end).sqrt(cx.bits).high };
            Ok(Complex(Component::Interval(to(span.high.clone())), Component::Interval(to(span.low.neg()))))
        }
    }
}

fn infinite_base<T: Bound>(negative: bool, w: &Component<T>) -> Step<Number<T>> {
    match w.sign() {
        Some(Ordering::Less) => Ok(Number::int(0)),
        Some(Ordering::Greater) if !negative => Ok(Infinite(false)),
        Some(Ordering::Greater) => match w.integer() {
            Some(n) => Ok(Infinite(n.bit(0))),
            None => Err(StepError::Undefined),
        },
        Some(Ordering::Equal) => Err(StepError::Undefined),
        None => Err(StepError::Imprecise),
    }
}

fn infinite_exponent<T: Bound>(x: &Component<T>, negative: bool, cx: &Context<'_>) -> Step<Number<T>> {
    let size = x.abs().order(&Component::int(1), cx)?;
    let positive = x.sign() == Some(Ordering::Greater);
    match size {
        None => Err(StepError::Imprecise),
        Some(Ordering::Equal) => Err(StepError::Undefined),
        Some(order) if (order == Ordering::Less) != negative && !(negative && x.is_zero()) => {
            Ok(Number::int(0))
        }
        Some(_) if positive => Ok(Infinite(false)),
        Some(_) => Err(StepError::Undefined),
    }
}

/// An integer power of any finite number.
pub(super) fn whole_power<T: Bound>(base: &Number<T>, n: &IBig, cx: &Context<'_>) -> Step<Number<T>> {
    if n.is_zero() {
        return Ok(Number::int(1));
    }
    if n.is_one() {
        return Ok(base.clone());
    }
    let negative = n.sign() == Sign::Negative;
    if negative && base.is_zero() {
        return Err(StepError::Undefined);
    }
    if let Real(Component::Exact(value)) = base
        && let Some(power) = rational::pow(cx, value, n)?
    {
        return Ok(Number::exact(power));
    }
    let count = u64::try_from(n.unsigned_abs()).ok().filter(|count| *count < 1 << 50);
    let power = match (base, count) {
        (Real(x), Some(count)) => {
            cx.spend_arithmetic::<T>(4 * u64::from(count.ilog2() + 1))?;
            Real(Component::Interval(x.span(cx)?.pow(count, cx.bits)))
        }
        (Real(x), None) => match x.sign() {
            Some(sign) => {
                let size = Real(x.abs()).ln(cx)?.mul(&Number::exact(n.unsigned_abs().into()), cx)?.exp(cx)?;
                if sign == Ordering::Less && n.bit(0) { size.neg() } else { size }
            }
            None => return Err(StepError::Imprecise),
        },
        (_, Some(count)) if count <= 4096 => {
            squaring::power(base.clone(), count.into(), |a, b| a.mul(b, cx))?
        }
        _ => return base.ln(cx)?.mul(&Number::exact(n.clone().into()), cx)?.exp(cx),
    };
    if negative { power.inverse(cx) } else { Ok(power) }
}

/// A real number to the power of a fraction that is no integer.
fn fraction_power<T: Bound>(x: &Component<T>, w: &Rational, cx: &Context<'_>) -> Step<Number<T>> {
    let (p, q) = (w.numerator(), w.denominator());
    let odd_root = q.bit(0);
    match x.sign() {
        Some(Ordering::Equal) if sign_of(w) == Ordering::Less => Err(StepError::Undefined),
        Some(Ordering::Equal) => Ok(Number::int(0)),
        Some(Ordering::Greater) => Ok(Real(positive_power(x, w, cx)?)),
        Some(Ordering::Less) => {
            let size = positive_power(&x.neg(), w, cx)?;
            if odd_root {
                return Ok(Real(if p.bit(0) { size.neg() } else { size }));
            }
            let (sin, cos) = Component::pi(w.clone()).sin_cos(cx)?;
            Real(size).mul(&Number::of(cos, sin), cx)
        }
        None if sign_of(w) == Ordering::Less => Err(StepError::Imprecise),
        None if *q == 2_u8.into() => whole_power(&real_sqrt(x, cx)?, p, cx),
        None => {
            // Close to zero from either side: the hull of what both sides give.
            let span = x.span(cx)?;
            let end = |end: T| -> Step<Number<T>> {
                if end.sign() == Ordering::Equal {
                    return Ok(Number::int(0));
                }
                fraction_power(&Component::Interval(Interval::point(end)), w, cx)
            };
            let (below, above) = (end(span.low)?.parts()?, end(span.high)?.parts()?);
            let hull = |a: &Component<T>, b: &Component<T>| -> Step<Component<T>> {
                if a.is_zero() && b.is_zero() {
                    return Ok(Component::zero());
                }
                Ok(Component::Interval(a.span(cx)?.hull(&b.span(cx)?).hull(&Interval::small(0))))
            };
            Ok(Number::of(hull(&below.0, &above.0)?, hull(&below.1, &above.1)?))
        }
    }
}

/// A positive number to the power of a fraction.
fn positive_power<T: Bound>(x: &Component<T>, w: &Rational, cx: &Context<'_>) -> Step<Component<T>> {
    if let Component::Exact(value) = x
        && let Some(root) = rational::root(cx, value, w.denominator())?
        && let Some(power) = rational::pow(cx, &root, w.numerator())?
    {
        return Ok(Component::Exact(power));
    }
    if *w.denominator() == 2_u8.into() {
        let root = Real(x.sqrt(cx)?);
        return whole_power(&root, w.numerator(), cx)?.real();
    }
    Real(x.clone()).ln(cx)?.mul(&Number::exact(w.clone()), cx)?.exp(cx)?.real()
}
