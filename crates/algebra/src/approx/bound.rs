//! Interval endpoints: the trait shared by `f64` and arbitrary precision, and its implementation for `f64`.

use std::cmp::Ordering;
use std::fmt::Debug;

use dashu_int::IBig;
use dashu_int::ops::BitTest as _;

use super::big::Big;
use crate::expr::Rational;

/// Which way a result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// Never above the true value.
    Down,
    /// Never below the true value.
    Up,
}

/// A lower and an upper bound of one number.
pub(crate) type Pair<T> = (T, T);

/// A number that can be an interval endpoint. Every operation is rounded in the given direction, so that
/// intervals made of them always hold the true value. `bits` is the precision, where the type has a choice.
pub(crate) trait Bound: Clone + PartialOrd + Debug {
    /// A small integer, exactly.
    fn small(value: i32) -> Self;
    /// Plus or minus infinity.
    fn infinite(negative: bool) -> Self;
    /// A rational number.
    fn of_rational(value: &Rational, bits: u32, dir: Rounding) -> Self;
    /// A double, exactly.
    fn of_f64(value: f64) -> Self;
    /// The same number, of any precision.
    fn to_big(&self) -> Big;
    /// The nearest doubles.
    fn to_f64(&self, dir: Rounding) -> f64;
    /// The same number with the other sign.
    fn neg(&self) -> Self;
    /// The sign, as a comparison with zero.
    fn sign(&self) -> Ordering;
    /// Neither infinity.
    fn is_finite(&self) -> bool;
    /// The sum.
    fn add(&self, other: &Self, bits: u32, dir: Rounding) -> Self;
    /// The product; zero times anything is zero.
    fn mul(&self, other: &Self, bits: u32, dir: Rounding) -> Self;
    /// The quotient; the divisor is not zero.
    fn div(&self, other: &Self, bits: u32, dir: Rounding) -> Self;
    /// Half of it.
    fn half(&self) -> Self;
    /// The square root of a number not below zero.
    fn sqrt(&self, bits: u32, dir: Rounding) -> Self;
    /// e to this.
    fn exp(&self, bits: u32) -> Pair<Self>;
    /// The logarithm of a number above zero.
    fn ln(&self, bits: u32) -> Pair<Self>;
    /// Sine and cosine.
    fn sin_cos(&self, bits: u32) -> (Pair<Self>, Pair<Self>);
    /// The arc tangent.
    fn atan(&self, bits: u32) -> Pair<Self>;
    /// π.
    fn pi(bits: u32) -> Pair<Self>;
    /// Euler's constant γ.
    fn euler_gamma(bits: u32) -> Pair<Self>;
    /// The greatest integer not above it, unless it is infinite or very large.
    fn floor(&self) -> Option<IBig>;
    /// The exact value, unless it is infinite or very large or very small.
    fn exactly(&self) -> Option<Rational>;
    /// The position of the leading bit: 2^(n-1) ≤ |value| < 2^n; none for zero and infinity.
    fn exponent(&self) -> Option<i64>;
    /// The fuel that one arithmetic operation and one function cost.
    fn cost(bits: u32) -> (u64, u64);
}

/// One step outwards from a rounded result, never across zero.
fn step(value: f64, dir: Rounding) -> f64 {
    match dir {
        Rounding::Down if value > 0.0 => value.next_down().max(0.0),
        Rounding::Down => value.next_down(),
        Rounding::Up if value < 0.0 => value.next_up().min(0.0),
        Rounding::Up => value.next_up(),
    }
}

/// Replaces NaN by the trivial bound.
fn or_infinite(value: f64, dir: Rounding) -> f64 {
    match dir {
        _ if !value.is_nan() => value,
        Rounding::Down => f64::NEG_INFINITY,
        Rounding::Up => f64::INFINITY,
    }
}

/// A result of `libm`, which is within one unit of the last place, widened by two.
fn around(value: f64) -> Pair<f64> {
    (
        or_infinite(step(step(value, Rounding::Down), Rounding::Down), Rounding::Down),
        or_infinite(step(step(value, Rounding::Up), Rounding::Up), Rounding::Up),
    )
}

fn clipped(pair: Pair<f64>, least: f64, most: f64) -> Pair<f64> {
    (pair.0.max(least), pair.1.min(most))
}

impl Bound for f64 {
    fn small(value: i32) -> Self {
        Self::from(value)
    }

    fn infinite(negative: bool) -> Self {
        if negative { Self::NEG_INFINITY } else { Self::INFINITY }
    }

    fn of_rational(value: &Rational, _bits: u32, dir: Rounding) -> Self {
        let (n, d) = (value.numerator(), value.denominator());
        if n.bit_len() <= 53
            && d.bit_len() <= 53
            && let (Ok(n), Ok(d)) = (i64::try_from(n), i64::try_from(d))
        {
            let quotient = n as Self / d as Self;
            return if d == 1 || n == 0 { quotient } else { step(quotient, dir) };
        }
        Big::of_rational(value, 60, dir).to_f64(dir)
    }

    fn of_f64(value: f64) -> Self {
        value
    }

    fn to_big(&self) -> Big {
        Big::of_f64(*self)
    }

    fn to_f64(&self, _dir: Rounding) -> f64 {
        *self
    }

    fn neg(&self) -> Self {
        -self
    }

    fn sign(&self) -> Ordering {
        self.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
    }

    fn is_finite(&self) -> bool {
        Self::is_finite(*self)
    }

    fn add(&self, other: &Self, _bits: u32, dir: Rounding) -> Self {
        let (a, b) = (*self, *other);
        let sum = a + b;
        if !sum.is_finite() {
            // An overflow of finite numbers is still below infinity.
            let step = if a.is_finite() && b.is_finite() { step(sum, dir) } else { sum };
            return or_infinite(step, dir);
        }
        // The rounding error of a sum is itself a double (Knuth's two-sum): step only where it is not zero.
        let rest = sum - a;
        let error = (a - (sum - rest)) + (b - rest);
        match dir {
            Rounding::Down if error < 0.0 => sum.next_down(),
            Rounding::Up if error > 0.0 => sum.next_up(),
            _ => sum,
        }
    }

    fn mul(&self, other: &Self, _bits: u32, dir: Rounding) -> Self {
        if *self == 0.0 || *other == 0.0 {
            return 0.0;
        }
        let product = self * other;
        if product == 0.0 {
            return underflow((*self > 0.0) == (*other > 0.0), dir);
        }
        if Self::is_finite(*self) && Self::is_finite(*other) { step(product, dir) } else { product }
    }

    fn div(&self, other: &Self, _bits: u32, dir: Rounding) -> Self {
        if *self == 0.0 {
            return 0.0;
        }
        let quotient = self / other;
        if quotient == 0.0 {
            return underflow((*self > 0.0) == (*other > 0.0), dir);
        }
        if Self::is_finite(*self) {
            or_infinite(step(quotient, dir), dir)
        } else {
            or_infinite(quotient, dir)
        }
    }

    fn half(&self) -> Self {
        self * 0.5
    }

    fn sqrt(&self, _bits: u32, dir: Rounding) -> Self {
        let root = Self::sqrt(*self);
        if root == 0.0 || !root.is_finite() { root } else { step(root, dir) }
    }

    fn exp(&self, _bits: u32) -> Pair<Self> {
        if *self == 0.0 {
            return (1.0, 1.0);
        }
        let value = libm::exp(*self);
        if value == 0.0 {
            return (0.0, Self::MIN_POSITIVE);
        }
        let (low, high) = clipped(around(value), 0.0, Self::INFINITY);
        (low.min(Self::MAX), high)
    }

    fn ln(&self, _bits: u32) -> Pair<Self> {
        if !self.is_finite() {
            return (709.7, Self::INFINITY);
        }
        around(libm::log(*self))
    }

    fn sin_cos(&self, _bits: u32) -> (Pair<Self>, Pair<Self>) {
        if *self == 0.0 {
            return ((0.0, 0.0), (1.0, 1.0));
        }
        if !self.is_finite() {
            return ((-1.0, 1.0), (-1.0, 1.0));
        }
        let (sin, cos) = libm::sincos(*self);
        (clipped(around(sin), -1.0, 1.0), clipped(around(cos), -1.0, 1.0))
    }

    fn atan(&self, _bits: u32) -> Pair<Self> {
        if *self == 0.0 { (0.0, 0.0) } else { around(libm::atan(*self)) }
    }

    fn pi(_bits: u32) -> Pair<Self> {
        (std::f64::consts::PI, std::f64::consts::PI.next_up())
    }

    fn euler_gamma(_bits: u32) -> Pair<Self> {
        around(0.577_215_664_901_532_9)
    }

    fn floor(&self) -> Option<IBig> {
        if self.abs() < 1e15 {
            Some(whole(libm::floor(*self)))
        } else {
            self.exactly().map(|exact| exact.floor())
        }
    }

    fn exactly(&self) -> Option<Rational> {
        Rational::try_from(*self).ok()
    }

    fn exponent(&self) -> Option<i64> {
        if *self == 0.0 || !self.is_finite() {
            return None;
        }
        let (_, exponent) = libm::frexp(*self);
        Some(i64::from(exponent))
    }

    fn cost(_bits: u32) -> (u64, u64) {
        (10, 40)
    }
}

fn underflow(positive: bool, dir: Rounding) -> f64 {
    match (positive, dir) {
        (true, Rounding::Up) => f64::MIN_POSITIVE,
        (false, Rounding::Down) => -f64::MIN_POSITIVE,
        _ => 0.0,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the caller keeps it below 10^15")]
fn whole(value: f64) -> IBig {
    IBig::from(value as i64)
}
