//! Real intervals with outward rounding.

use std::cmp::Ordering;

use super::bound::{Bound, Pair, Rounding};
use crate::expr::Rational;

/// An interval `[low, high]`; an infinite end means that nothing bounds the number on that side.
#[derive(Clone, Debug)]
pub(super) struct Interval<T> {
    pub(super) low: T,
    pub(super) high: T,
}

impl<T: Bound> Interval<T> {
    /// The interval between two bounds.
    pub(super) fn of(pair: Pair<T>) -> Self {
        Self { low: pair.0, high: pair.1 }
    }

    /// One number.
    pub(super) fn point(value: T) -> Self {
        Self { low: value.clone(), high: value }
    }

    /// A small integer.
    pub(super) fn small(value: i32) -> Self {
        Self::point(T::small(value))
    }

    /// The tightest interval around a rational number.
    pub(super) fn of_rational(value: &Rational, bits: u32) -> Self {
        let low = T::of_rational(value, bits, Rounding::Down);
        if value.is_int() && value.numerator().is_zero() {
            return Self::point(low);
        }
        Self { high: T::of_rational(value, bits, Rounding::Up), low }
    }

    /// Everything.
    pub(super) fn all() -> Self {
        Self { low: T::infinite(true), high: T::infinite(false) }
    }

    /// The sign, where the interval is on one side of zero or is zero.
    pub(super) fn sign(&self) -> Option<Ordering> {
        match (self.low.sign(), self.high.sign()) {
            (Ordering::Greater, _) => Some(Ordering::Greater),
            (_, Ordering::Less) => Some(Ordering::Less),
            (Ordering::Equal, Ordering::Equal) => Some(Ordering::Equal),
            _ => None,
        }
    }

    /// Not below zero.
    pub(super) fn is_not_negative(&self) -> bool {
        self.low.sign() != Ordering::Less
    }

    /// Both ends are finite.
    pub(super) fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// The two have a number in common.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// The smallest interval around both.
    pub(super) fn hull(&self, other: &Self) -> Self {
        Self {
            low: if self.low <= other.low { self.low.clone() } else { other.low.clone() },
            high: if self.high >= other.high { self.high.clone() } else { other.high.clone() },
        }
    }

    /// What both have in common; either one where they have nothing.
    pub(super) fn common(&self, other: &Self) -> Self {
        let both = Self {
            low: if self.low >= other.low { self.low.clone() } else { other.low.clone() },
            high: if self.high <= other.high { self.high.clone() } else { other.high.clone() },
        };
        if both.low <= both.high { both } else { self.clone() }
    }

    pub(super) fn neg(&self) -> Self {
        Self { low: self.high.neg(), high: self.low.neg() }
    }

    pub(super) fn add(&self, other: &Self, bits: u32) -> Self {
        Self {
            low: self.low.add(&other.low, bits, Rounding::Down),
            high: self.high.add(&other.high, bits, Rounding::Up),
        }
    }

    pub(super) fn sub(&self, other: &Self, bits: u32) -> Self {
        self.add(&other.neg(), bits)
    }

    pub(super) fn mul(&self, other: &Self, bits: u32) -> Self {
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
    pub(super) fn square(&self, bits: u32) -> Self {
        let size = self.abs();
        Self {
            low: size.low.mul(&size.low, bits, Rounding::Down),
            high: size.high.mul(&size.high, bits, Rounding::Up),
        }
    }

    /// The quotient; none where the divisor may be zero.
    pub(super) fn div(&self, other: &Self, bits: u32) -> Option<Self> {
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

    pub(super) fn abs(&self) -> Self {
        match self.sign() {
            Some(Ordering::Less) => self.neg(),
            Some(_) => self.clone(),
            None => {
                let below = self.low.neg();
                Self { low: T::small(0), high: if below > self.high { below } else { self.high.clone() } }
            }
        }
    }

    pub(super) fn half(&self) -> Self {
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
    pub(super) fn sqrt(&self, bits: u32) -> Self {
        Self { low: self.low.sqrt(bits, Rounding::Down), high: self.high.sqrt(bits, Rounding::Up) }
    }

    pub(super) fn exp(&self, bits: u32) -> Self {
        self.rising(|x| x.exp(bits))
    }

    /// The logarithm; the interval is not below zero, and a low end of zero gives minus infinity.
    pub(super) fn ln(&self, bits: u32) -> Self {
        let zero = || (T::infinite(true), T::infinite(true));
        self.rising(|x| if x.sign() == Ordering::Equal { zero() } else { x.ln(bits) })
    }

    pub(super) fn atan(&self, bits: u32) -> Self {
        self.rising(|x| x.atan(bits))
    }

    /// Sine and cosine: the values at the middle, and how far they can go from there.
    pub(super) fn sin_cos(&self, bits: u32) -> (Self, Self) {
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
            let off = Self { low: far.neg(), high: far };
            value.add(&off, bits).common(&everywhere)
        };
        (widened(&sin, &cos), widened(&cos, &sin))
    }

    /// A power with an exponent above zero.
    pub(super) fn pow(&self, exponent: u64, bits: u32) -> Self {
        let even = exponent.is_multiple_of(2);
        let base = if even { self.abs() } else { self.clone() };
        let raise = |x: &T, dir: Rounding| -> T {
            // Rounding away from zero is rounding up the size.
            let negative = x.sign() == Ordering::Less;
            let (size, dir) = if negative { (x.neg(), flip(dir)) } else { (x.clone(), dir) };
            let (mut power, mut square, mut left) = (None::<T>, size, exponent);
            loop {
                if left % 2 == 1 {
                    power = Some(power.map_or_else(|| square.clone(), |p| p.mul(&square, bits, dir)));
                }
                left /= 2;
                if left == 0 {
                    break;
                }
                square = square.mul(&square, bits, dir);
            }
            let power = power.unwrap_or_else(|| T::small(1));
            if negative { power.neg() } else { power }
        };
        Self { low: raise(&base.low, Rounding::Down), high: raise(&base.high, Rounding::Up) }
    }

    /// π.
    pub(super) fn pi(bits: u32) -> Self {
        Self::of(T::pi(bits))
    }

    /// Bounds as doubles.
    pub(super) fn to_f64(&self) -> Interval<f64> {
        Interval { low: self.low.to_f64(Rounding::Down), high: self.high.to_f64(Rounding::Up) }
    }
}

fn flip(dir: Rounding) -> Rounding {
    match dir {
        Rounding::Down => Rounding::Up,
        Rounding::Up => Rounding::Down,
    }
}
