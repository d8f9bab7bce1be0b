//! Complex numbers and the two infinities: what an expression evaluates to.

use std::cmp::Ordering;

use super::bound::{Bound, Rounding};
use super::component::Component;
use super::context::{Context, Step, StepError};
use super::interval::Interval;
use crate::expr::Rational;

/// A number.
#[derive(Clone, Debug)]
pub(super) enum Number<T> {
    /// A real number.
    Real(Component<T>),
    /// A number whose imaginary part is not known to be zero.
    Complex(Component<T>, Component<T>),
    /// Plus infinity, or, if true, minus infinity.
    Infinite(bool),
}

use Number::{Complex, Infinite, Real};

impl<T: Bound> Number<T> {
    pub(super) fn int(value: i32) -> Self {
        Real(Component::int(value))
    }

    pub(super) fn exact(value: Rational) -> Self {
        Real(Component::Exact(value))
    }

    /// A real number between two bounds.
    pub(super) fn interval(span: Interval<T>) -> Self {
        Real(Component::Interval(span))
    }

    /// A bound, as a number.
    pub(super) fn point(bound: T) -> Self {
        Self::interval(Interval::point(bound))
    }

    /// A number by its parts.
    pub(super) fn of(re: Component<T>, im: Component<T>) -> Self {
        if im.is_zero() { Real(re) } else { Complex(re, im) }
    }

    /// i.
    pub(super) fn i() -> Self {
        Complex(Component::zero(), Component::int(1))
    }

    /// The real and the imaginary part; an infinity has none.
    pub(super) fn parts(self) -> Step<(Component<T>, Component<T>)> {
        match self {
            Real(re) => Ok((re, Component::zero())),
            Complex(re, im) => Ok((re, im)),
            Infinite(_) => Err(StepError::Undefined),
        }
    }

    /// The number as a real one.
    pub(super) fn real(self) -> Step<Component<T>> {
        match self {
            Real(re) => Ok(re),
            Complex(_, im) if im.sign().is_none() => Err(StepError::Imprecise),
            Complex(..) | Infinite(_) => Err(StepError::Unsupported),
        }
    }

    /// An upper bound of the absolute value, as a double.
    pub(super) fn size(&self, cx: &Context<'_>) -> Step<f64> {
        let (re, im) = self.clone().parts()?;
        let (re, im) = (re.span(cx)?.abs().high, im.span(cx)?.abs().high);
        let size = re.to_f64(Rounding::Up) + im.to_f64(Rounding::Up);
        if size.is_finite() { Ok(size) } else { Err(StepError::Unsupported) }
    }

    /// The number with its enclosure widened by a distance in both parts.
    pub(super) fn widened(&self, by: f64, cx: &Context<'_>) -> Step<Self> {
        let off = Component::Interval(Interval::around_zero(T::of_f64(by)));
        Ok(match self {
            Real(a) => Real(a.add(&off, cx)?),
            Complex(a, b) => Complex(a.add(&off, cx)?, b.add(&off, cx)?),
            Infinite(_) => self.clone(),
        })
    }

    pub(super) fn is_zero(&self) -> bool {
        matches!(self, Real(re) if re.is_zero())
    }

    pub(super) fn neg(&self) -> Self {
        match self {
            Real(re) => Real(re.neg()),
            Complex(re, im) => Complex(re.neg(), im.neg()),
            Infinite(negative) => Infinite(!negative),
        }
    }

    pub(super) fn conjugate(self) -> Self {
        match self {
            Complex(re, im) => Complex(re, im.neg()),
            other => other,
        }
    }

    pub(super) fn add(&self, other: &Self, cx: &Context<'_>) -> Step<Self> {
        cx.spend(6)?;
        Ok(match (self, other) {
            (Real(a), Real(b)) => Real(a.add(b, cx)?),
            (Infinite(a), Infinite(b)) if a != b => return Err(StepError::Undefined),
            (Infinite(a), _) | (_, Infinite(a)) => Infinite(*a),
            (Complex(a, b), Complex(c, d)) => Self::of(a.add(c, cx)?, b.add(d, cx)?),
            (Complex(a, b), Real(c)) | (Real(c), Complex(a, b)) => Complex(a.add(c, cx)?, b.clone()),
        })
    }

    pub(super) fn sub(&self, other: &Self, cx: &Context<'_>) -> Step<Self> {
        self.add(&other.neg(), cx)
    }

    pub(super) fn mul(&self, other: &Self, cx: &Context<'_>) -> Step<Self> {
        cx.spend(6)?;
        Ok(match (self, other) {
            (Real(a), Real(b)) => Real(a.mul(b, cx)?),
            (Infinite(a), Infinite(b)) => Infinite(a != b),
            (Infinite(a), Real(b)) | (Real(b), Infinite(a)) => match b.sign() {
                Some(Ordering::Equal) => return Err(StepError::Undefined),
                Some(sign) => Infinite(*a != (sign == Ordering::Less)),
                None => return Err(StepError::Imprecise),
            },
            (Infinite(_), Complex(..)) | (Complex(..), Infinite(_)) => return Err(StepError::Undefined),
            (Real(r), Complex(a, b)) | (Complex(a, b), Real(r)) => Self::of(a.mul(r, cx)?, b.mul(r, cx)?),
            (Complex(a, b), Complex(c, d)) => {
                Self::of(a.mul(c, cx)?.sub(&b.mul(d, cx)?, cx)?, a.mul(d, cx)?.add(&b.mul(c, cx)?, cx)?)
            }
        })
    }

    pub(super) fn square(&self, cx: &Context<'_>) -> Step<Self> {
        match self {
            Real(a) => Ok(Real(a.square(cx)?)),
            other => other.mul(other, cx),
        }
    }

    /// One over it; one over infinity is zero.
    pub(super) fn inverse(&self, cx: &Context<'_>) -> Step<Self> {
        Ok(match self {
            Real(a) => Real(a.inverse(cx)?),
            Infinite(_) => Self::int(0),
            Complex(a, b) => {
                let size = a.square(cx)?.add(&b.square(cx)?, cx)?;
                Self::of(a.div(&size, cx)?, b.neg().div(&size, cx)?)
            }
        })
    }

    pub(super) fn div(&self, other: &Self, cx: &Context<'_>) -> Step<Self> {
        match (self, other) {
            (Real(a), Real(b)) => Ok(Real(a.div(b, cx)?)),
            (Infinite(_), Infinite(_)) => Err(StepError::Undefined),
            _ => self.mul(&other.inverse(cx)?, cx),
        }
    }

    pub(super) fn half(&self, cx: &Context<'_>) -> Step<Self> {
        self.mul(&Self::exact(Rational::from_parts(1.into(), 2_u8.into())), cx)
    }

    /// The absolute value.
    pub(super) fn abs(self, cx: &Context<'_>) -> Step<Self> {
        Ok(match self {
            Real(a) => Real(a.abs()),
            Infinite(_) => Infinite(false),
            Complex(a, b) => Real(a.square(cx)?.add(&b.square(cx)?, cx)?.sqrt(cx)?),
        })
    }

    /// The angle in (−π, π].
    pub(super) fn arg(self, cx: &Context<'_>) -> Step<Component<T>> {
        let (re, im) = self.parts()?;
        let quarters = |n: i32| Component::pi(Rational::from_parts(n.into(), 4_u8.into()));
        if let (Component::Exact(a), Component::Exact(b)) = (&re, &im)
            && (a == b || *a == -b)
        {
            return Ok(match (re.sign(), im.sign()) {
                (Some(Ordering::Greater), Some(Ordering::Greater)) => quarters(1),
                (Some(Ordering::Greater), _) => quarters(-1),
                (Some(Ordering::Less), Some(Ordering::Greater)) => quarters(3),
                (Some(Ordering::Less), _) => quarters(-3),
                _ => return Err(StepError::Undefined),
            });
        }
        let turn = |ratio: Component<T>| ratio.map_interval(cx, Interval::atan);
        match (re.sign(), im.sign()) {
            (Some(Ordering::Greater), Some(Ordering::Equal)) => Ok(Component::zero()),
            (Some(Ordering::Less), Some(Ordering::Equal)) => Ok(quarters(4)),
            (Some(Ordering::Equal), Some(Ordering::Greater)) => Ok(quarters(2)),
            (Some(Ordering::Equal), Some(Ordering::Less)) => Ok(quarters(-2)),
            (Some(Ordering::Greater), _) => turn(im.div(&re, cx)?),
            (_, Some(Ordering::Greater)) => quarters(2).sub(&turn(re.div(&im, cx)?)?, cx),
            (_, Some(Ordering::Less)) => quarters(-2).sub(&turn(re.div(&im, cx)?)?, cx),
            _ => Err(StepError::Imprecise),
        }
    }
}
