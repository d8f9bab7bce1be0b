//! The real or imaginary component of a number: exact, a rational multiple of π, or an interval.

use std::cmp::Ordering;

use dashu_int::ops::BitTest as _;
use dashu_int::{IBig, Sign};

use super::bound::Bound;
use super::context::{Context, Step, StepError};
use super::interval::Interval;
use super::rational;
use crate::expr::Rational;

/// A real number.
///
/// Multiples of π are kept because the trigonometric functions are exact at some of them: tan(π/2) has no
/// value, and no enclosure of π/2 could tell.
#[derive(Clone, Debug)]
pub(super) enum Component<T> {
    /// A rational number.
    Exact(Rational),
    /// A rational multiple of π other than zero.
    Pi(Rational),
    /// Somewhere between two bounds.
    Interval(Interval<T>),
}

/// The sign of a rational.
pub(super) fn sign_of(value: &Rational) -> Ordering {
    match value.sign() {
        _ if value.is_zero() => Ordering::Equal,
        Sign::Positive => Ordering::Greater,
        Sign::Negative => Ordering::Less,
    }
}

impl<T: Bound> Component<T> {
    pub(super) fn zero() -> Self {
        Self::Exact(Rational::ZERO)
    }

    pub(super) fn int(value: i32) -> Self {
        Self::Exact(Rational::from(value))
    }

    /// A multiple of π.
    pub(super) fn pi(multiple: Rational) -> Self {
        if multiple.is_zero() { Self::zero() } else { Self::Pi(multiple) }
    }

    pub(super) fn is_zero(&self) -> bool {
        matches!(self, Self::Exact(value) if value.is_zero())
    }

    pub(super) fn is_one(&self) -> bool {
        matches!(self, Self::Exact(value) if value.is_one())
    }

    /// The integer, if it is known to be one.
    pub(super) fn integer(&self) -> Option<&IBig> {
        match self {
            Self::Exact(value) if value.is_int() => Some(value.numerator()),
            _ => None,
        }
    }

    /// The enclosure.
    pub(super) fn span(&self, cx: &Context<'_>) -> Step<Interval<T>> {
        if let Self::Exact(value) | Self::Pi(value) = self {
            cx.spend(8 + 2 * (rational::size(value) / 64) as u64)?;
        }
        Ok(self.unpaid_span(cx.bits))
    }

    /// The enclosure, without counting fuel.
    pub(super) fn unpaid_span(&self, bits: u32) -> Interval<T> {
        match self {
            Self::Interval(span) => span.clone(),
            Self::Exact(value) => Interval::of_rational(value, bits),
            Self::Pi(value) => Interval::of_rational(value, bits).mul(&Interval::pi(bits), bits),
        }
    }

    /// The sign, where it is known.
    pub(super) fn sign(&self) -> Option<Ordering> {
        match self {
            Self::Exact(value) | Self::Pi(value) => Some(sign_of(value)),
            Self::Interval(span) => span.sign(),
        }
    }

    /// The order of two numbers, where it is known.
    pub(super) fn order(&self, other: &Self, cx: &Context<'_>) -> Step<Option<Ordering>> {
        Ok(match (self, other) {
            (Self::Exact(a), Self::Exact(b)) | (Self::Pi(a), Self::Pi(b)) => Some(a.cmp(b)),
            _ => self.span(cx)?.order(&other.span(cx)?),
        })
    }

    pub(super) fn neg(&self) -> Self {
        match self {
            Self::Exact(value) => Self::Exact(-value),
            Self::Pi(value) => Self::Pi(-value),
            Self::Interval(span) => Self::Interval(span.neg()),
        }
    }

    pub(super) fn abs(&self) -> Self {
        match (self, self.sign()) {
            (_, Some(Ordering::Less)) => self.neg(),
            (Self::Interval(span), None) => Self::Interval(span.abs()),
            _ => self.clone(),
        }
    }

    pub(super) fn add(&self, other: &Self, cx: &Context<'_>) -> Step<Self> {
        let exact = match (self, other) {
            _ if self.is_zero() => Some(other.clone()),
            _ if other.is_zero() => Some(self.clone()),
            (Self::Exact(a), Self::Exact(b)) => rational::add(cx, a, b)?.map(Self::Exact),
            (Self::Pi(a), Self::Pi(b)) => rational::add(cx, a, b)?.map(Self::pi),
            _ => None,
        };
        if let Some(exact) = exact {
            return Ok(exact);
        }
        cx.spend_arithmetic::<T>(2)?;
        Ok(Self::Interval(self.span(cx)?.add(&other.span(cx)?, cx.bits)))
    }

    pub(super) fn sub(&self, other: &Self, cx: &Context<'_>) -> Step<Self> {
        self.add(&other.neg(), cx)
    }

    pub(super) fn mul(&self, other: &Self, cx: &Context<'_>) -> Step<Self> {
        let exact = match (self, other) {
            _ if self.is_zero() || other.is_zero() => Some(Self::zero()),
            _ if self.is_one() => Some(other.clone()),
            _ if other.is_one() => Some(self.clone()),
            (Self::Exact(a), Self::Exact(b)) => rational::mul(cx, a, b)?.map(Self::Exact),
            (Self::Exact(a), Self::Pi(b)) | (Self::Pi(a), Self::Exact(b)) => {
                rational::mul(cx, a, b)?.map(Self::pi)
            }
            _ => None,
        };
        if let Some(exact) = exact {
            return Ok(exact);
        }
        cx.spend_arithmetic::<T>(3)?;
        Ok(Self::Interval(self.span(cx)?.mul(&other.span(cx)?, cx.bits)))
    }

    pub(super) fn square(&self, cx: &Context<'_>) -> Step<Self> {
        if let Self::Exact(_) = self {
            return self.mul(self, cx);
        }
        cx.spend_arithmetic::<T>(2)?;
        Ok(Self::Interval(self.span(cx)?.square(cx.bits)))
    }

    /// One over it.
    pub(super) fn inverse(&self, cx: &Context<'_>) -> Step<Self> {
        match self {
            Self::Exact(value) if value.is_zero() => Err(StepError::Undefined),
            Self::Exact(value) => Ok(Self::Exact(rational::inverse(value))),
            _ => Self::int(1).div(self, cx),
        }
    }

    pub(super) fn div(&self, other: &Self, cx: &Context<'_>) -> Step<Self> {
        match (self, other) {
            (_, Self::Exact(_)) => return self.mul(&other.inverse(cx)?, cx),
            (Self::Pi(a), Self::Pi(b)) => {
                if let Some(ratio) = rational::mul(cx, a, &rational::inverse(b))? {
                    return Ok(Self::Exact(ratio));
                }
            }
            _ => {}
        }
        cx.spend_arithmetic::<T>(4)?;
        let quotient = self.span(cx)?.div(&other.span(cx)?, cx.bits);
        quotient.map(Self::Interval).ok_or(StepError::Imprecise)
    }

    /// A function of the enclosure.
    pub(super) fn map_interval(
        &self,
        cx: &Context<'_>,
        f: impl FnOnce(&Interval<T>, u32) -> Interval<T>,
    ) -> Step<Self> {
        cx.spend_functions::<T>(2)?;
        Ok(Self::Interval(f(&self.span(cx)?, cx.bits)))
    }

    /// The square root of a number not below zero.
    pub(super) fn sqrt(&self, cx: &Context<'_>) -> Step<Self> {
        if let Self::Exact(value) = self
            && let Some(root) = rational::root(cx, value, &2_u8.into())?
        {
            return Ok(Self::Exact(root));
        }
        cx.spend_arithmetic::<T>(8)?;
        Ok(Self::Interval(self.span(cx)?.sqrt(cx.bits)))
    }

    /// The greatest integer not above it.
    pub(super) fn floor(&self, cx: &Context<'_>) -> Step<Self> {
        if let Self::Exact(value) = self {
            cx.spend(10 + (rational::size(value) / 64) as u64)?;
            return Ok(Self::Exact(Rational::from(value.floor())));
        }
        let span = self.span(cx)?;
        cx.spend_arithmetic::<T>(2)?;
        match (span.low.floor(), span.high.floor()) {
            (Some(low), Some(high)) if low == high => Ok(Self::Exact(Rational::from(low))),
            _ => Err(StepError::Imprecise),
        }
    }

    /// Sine and cosine; exact at the multiples of π where they are rational.
    pub(super) fn sin_cos(&self, cx: &Context<'_>) -> Step<(Self, Self)> {
        let Self::Pi(multiple) = self else {
            if self.is_zero() {
                return Ok((Self::zero(), Self::int(1)));
            }
            cx.spend_functions::<T>(2)?;
            let (sin, cos) = self.span(cx)?.sin_cos(cx.bits);
            return Ok((Self::Interval(sin), Self::Interval(cos)));
        };
        cx.spend(30 + (rational::size(multiple) / 64) as u64)?;
        let (n, d) = (multiple.numerator(), multiple.denominator());
        let special = d.bit_len() <= 3 && u8::try_from(d).is_ok_and(|d| 6 % d == 0);
        // Whole turns go, so that a large multiple is as sharp as a small one.
        let rest = if special || n.bit_len() > d.bit_len() + 2 {
            let two = Rational::from(2);
            multiple - Rational::from((multiple / &two).floor()) * two
        } else {
            multiple.clone()
        };
        let quarter = Rational::from_parts(1.into(), 2_u8.into());
        let exact = |q: &Rational| special.then(|| rational_sine(q)).flatten();
        let (sin, cos) = (exact(&rest), exact(&(&rest + quarter)));
        if let (Some(sin), Some(cos)) = (&sin, &cos) {
            return Ok((Self::Exact(sin.clone()), Self::Exact(cos.clone())));
        }
        cx.spend_functions::<T>(2)?;
        let spans = Self::pi(rest).span(cx)?.sin_cos(cx.bits);
        Ok((
            sin.map_or(Self::Interval(spans.0), Self::Exact),
            cos.map_or(Self::Interval(spans.1), Self::Exact),
        ))
    }
}

/// sin(qπ) where it is rational, for 0 ≤ q < 5/2.
fn rational_sine(q: &Rational) -> Option<Rational> {
    let sixths = q * Rational::from(6);
    let sixth = u8::try_from(sixths.is_int().then(|| sixths.numerator().clone())?).ok()? % 12;
    let half = |n: i32| Some(Rational::from_parts(n.into(), 2_u8.into()));
    match sixth {
        0 | 6 => half(0),
        1 | 5 => half(1),
        3 => half(2),
        7 | 11 => half(-1),
        9 => half(-2),
        _ => None,
    }
}
