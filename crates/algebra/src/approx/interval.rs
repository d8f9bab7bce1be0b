//! Real intervals with outward rounding.

use std::cmp::Ordering;
use std::convert::Infallible;

use super::bound::{Bound, Pair, Rounding};
use crate::expr::Rational;
use crate::squaring;

/// An interval `[low, high]`; an infinite end means that the number is unbounded on that side.
#[derive(Clone, Debug)]
pub(crate) struct Interval<T> {
    pub(crate) low: T,
    pub(crate) high: T,
}

impl<T: Bound> Interval<T> {
    /// The interval between two bounds.
    pub(crate) fn of(pair: Pair<T>) -> Self {
        Self { low: pair.0, high: pair.1 }
    }

    /// One number.
    pub(crate) fn point(value: T) -> Self {
        Self { low: value.clone(), high: value }
    }

    /// A small integer.
    pub(crate) fn small(value: i32) -> Self {
        Self::point(T::small(value))
    }

    /// The tightest interval around a rational number.
    pub(crate) fn of_rational(value: &Rational, bits: u32) -> Self {
        Self {
            low: T::of_rational(value, bits, Rounding::Down),
            high: T::of_rational(value, bits, Rounding::Up),
        }
    }

    /// All numbers at most `radius` away from zero.
    pub(crate) fn around_zero(radius: T) -> Self {
        Self { low: radius.neg(), high: radius }
    }

    /// Everything.
    pub(crate) fn all() -> Self {
        Self { low: T::infinite(true), high: T::infinite(false) }
    }

    /// The sign, where the interval is on one side of zero or is zero.
    pub(crate) fn sign(&self) -> Option<Ordering> {
        match (self.low.sign(), self.high.sign()) {
            (Ordering::Greater, _) => Some(Ordering::Greater),
            (_, Ordering::Less) => Some(Ordering::Less),
            (Ordering::Equal, Ordering::Equal) => Some(Ordering::Equal),
            _ => None,
        }
    }

    /// Not below zero.
    pub(crate) fn is_not_negative(&self) -> bool {
        self.low.sign() != Ordering::Less
    }

    /// Both ends are finite.
    pub(crate) fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// An upper bound of the distance between the ends.
    pub(crate) fn width(&self, bits: u32) -> T {
        self.high.add(&self.low.neg(), bits, Rounding::Up)
    }

    /// The order of the numbers of one to those of the other, if it is the same for all.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        if self.high < other.low {
            return Some(Ordering::Less);
        }
        (self.low > other.high).then_some(Ordering::Greater)
    }

    /// The two have a number in common.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// The smallest interval around both.
    pub(crate) fn hull(&self, other: &Self) -> Self {
        Self {
            low: if self.low <= other.low { self.low.clone() } else { other.low.clone() },
            high: if self.high >= other.high { self.high.clone() } else { other.high.clone() },
        }
    }

    /// The intersection; one of the intervals if it is empty.
    pub(crate) fn common(&self, other: &Self) -> Self {
        let both = Self {
            low: if self.low >= other.low { self.low.clone() } else { other.low.clone() },
            high: if self.high <= other.high { self.high.clone() } else { other.high.clone() },
        };
        if both.low <= both.high { both } else { self.clone() }
    }

    pub(crate) fn neg(&self) -> Self {
        Self { low: self.high.neg(), high: self.low.neg() }
    }

    pub(crate) fn add(&self, other: &Self, bits: u32) -> Self {
        Self {
            low: self.low.add(&other.low, bits, Rounding::Down),
            high: self.high.add(&other.high, bits, Rounding::Up),
        }
    }

    pub(crate) fn sub(&self, other: &Self, bits: u32) -> Self {
        self.add(&other.neg(), bits)
    }

    pub(crate) fn mul(&self, other: &Self, bits: u32) -> Self {
        if other.is_not_negative() {
            return self.scaled(other, bits);
        }
        if self.is_not_negative() {
            return other.scaled(self, bits);
        }
        if self.high.sign() != Ordering::Greater {
            return other.scaled(&self.neg(), bits).neg();
        }
        if other.high.sign() != Ordering::Greater {
            return self.scaled(&other.neg(), bits).neg();
        }
        let product =
            |a: &T, b: &T| Self { low: a.mul(b, bits, Rounding::Down), high: a.mul(b, bits, Rounding::Up) };
        let cross = product(&self.low, &other.high).hull(&product(&self.high, &other.low));
        cross.hull(&product(&self.low, &other.low)).hull(&product(&self.high, &other.high))
    }

    /// The product with an interval not below zero.
    fn scaled(&self, by: &Self, bits: u32) -> Self {
        let (small, large) = (&by.low, &by.high);
        let for_low = if self.low.sign() == Ordering::Less { large } else { small };
        let for_high = if self.high.sign() == Ordering::Less { small } else { large };
        Self {
            low: self.low.mul(for_low, bits, Rounding::Down),
            high: self.high.mul(for_high, bits, Rounding::Up),
        }
    }

    /// The square, which is never below zero.
    pub(crate) fn square(&self, bits: u32) -> Self {
        let size = self.abs();
        Self {
            low: size.low.mul(&size.low, bits, Rounding::Down),
            high: size.high.mul(&size.high, bits, Rounding::Up),
        }
    }

    /// The quotient; none where the divisor may be zero.
    pub(crate) fn div(&self, other: &Self, bits: u32) -> Option<Self> {
        match other.sign()? {
            Ordering::Equal => None,
            Ordering::Less => self.neg().div(&other.neg(), bits),
            Ordering::Greater => {
                let for_low = if self.low.sign() == Ordering::Less { &other.low } else { &other.high };
                let for_high = if self.high.sign() == Ordering::Less { &other.high } else { &other.low };
                Some(Self {
                    low: self.low.div(for_low, bits, Rounding::Down),
                    high: self.high.div(for_high, bits, Rounding::Up),
                })
            }
        }
    }

    pub(crate) fn abs(&self) -> Self {
        match self.sign() {
            Some(Ordering::Less) => self.neg(),
            Some(_) => self.clone(),
            None => {
                let below = self.low.neg();
                Self { low: T::small(0), high: if below > self.high { below } else { self.high.clone() } }
            }
        }
    }

    pub(crate) fn half(&self) -> Self {
        Self { low: self.low.half(), high: self.high.half() }
    }

    /// A rising function, from its bounds at single numbers.
    fn rising(&self, f: impl Fn(&T) -> Pair<T>) -> Self {
        if self.low == self.high {
            return Self::of(f(&self.low));
        }
        Self { low: f(&self.low).0, high: f(&self.high).1 }
    }

    /// The square root; the interval is not below zero.
    pub(crate) fn sqrt(&self, bits: u32) -> Self {
        Self { low: self.low.sqrt(bits, Rounding::Down), high: self.high.sqrt(bits, Rounding::Up) }
    }

    pub(crate) fn exp(&self, bits: u32) -> Self {
        self.rising(|x| x.exp(bits))
    }

    /// The logarithm; the interval is not below zero, and a low end of zero gives minus infinity.
    pub(crate) fn ln(&self, bits: u32) -> Self {
        let zero = || (T::infinite(true), T::infinite(true));
        self.rising(|x| if x.sign() == Ordering::Equal { zero() } else { x.ln(bits) })
    }

    pub(crate) fn atan(&self, bits: u32) -> Self {
        self.rising(|x| x.atan(bits))
    }

    /// Sine and cosine: the values at the middle, and how far they can go from there.
    pub(crate) fn sin_cos(&self, bits: u32) -> (Self, Self) {
        if self.low == self.high {
            let (sin, cos) = self.low.sin_cos(bits);
            return (Self::of(sin), Self::of(cos));
        }
        let everywhere = Self { low: T::small(-1), high: T::small(1) };
        if !self.is_bounded() {
            return (everywhere.clone(), everywhere);
        }
        let middle = self.low.add(&self.high, bits, Rounding::Up).half();
        let reach = self.sub(&Self::point(middle.clone()), bits).abs().high;
        if reach >= T::small(2) {
            return (everywhere.clone(), everywhere);
        }
        let (sin, cos) = middle.sin_cos(bits);
        let (sin, cos) = (Self::of(sin), Self::of(cos));
        // |f(x) − f(m)| ≤ |f'(m)|·r + r²/2, since the second derivative is at most one.
        let curve = reach.mul(&reach, bits, Rounding::Up).half();
        let widened = |value: &Self, slope: &Self| {
            let far = slope.abs().high.mul(&reach, bits, Rounding::Up).add(&curve, bits, Rounding::Up);
            value.add(&Self::around_zero(far), bits).common(&everywhere)
        };
        (widened(&sin, &cos), widened(&cos, &sin))
    }

    /// A power with an exponent above zero.
    pub(crate) fn pow(&self, exponent: u64, bits: u32) -> Self {
        let even = exponent.is_multiple_of(2);
        let base = if even { self.abs() } else { self.clone() };
        let raise = |x: &T, dir: Rounding| -> T {
            // Rounding away from zero is rounding up the size.
            let negative = x.sign() == Ordering::Less;
            let (size, dir) = if negative { (x.neg(), flip(dir)) } else { (x.clone(), dir) };
            let Ok(power) =
                squaring::power(size, exponent.into(), |a: &T, b| Ok::<_, Infallible>(a.mul(b, bits, dir)));
            if negative { power.neg() } else { power }
        };
        Self { low: raise(&base.low, Rounding::Down), high: raise(&base.high, Rounding::Up) }
    }

    /// π.
    pub(crate) fn pi(bits: u32) -> Self {
        Self::of(T::pi(bits))
    }

    /// Bounds as doubles.
    pub(crate) fn to_f64(&self) -> Interval<f64> {
        Interval { low: self.low.to_f64(Rounding::Down), high: self.high.to_f64(Rounding::Up) }
    }
}

fn flip(dir: Rounding) -> Rounding {
    match dir {
        Rounding::Down => Rounding::Up,
        Rounding::Up => Rounding::Down,
    }
}

/// The arc sine of an interval inside (−1, 1).
pub(crate) fn arcsin<T: Bound>(x: &Interval<T>, bits: u32) -> Interval<T> {
    let at = |end: &T| -> Interval<T> {
        let end = Interval::point(end.clone());
        let one = Interval::small(1);
        let root = one.sub(&end, bits).mul(&one.add(&end, bits), bits).sqrt(bits);
        end.div(&root, bits).map_or_else(Interval::all, |ratio| ratio.atan(bits))
    };
    Interval { low: at(&x.low).low, high: at(&x.high).high }
}
