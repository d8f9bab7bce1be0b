//! Interval endpoints of any precision: an integer times a power of two, or an infinity.
//!
//! Where a number would leave the range 2^±2^40 it is rounded to the end of that range, to infinity or to zero, so that
//! exponents and shifts stay bounded.

use std::cmp::Ordering;

use dashu_int::ops::{BitTest as _, DivRem as _, SquareRoot as _};
use dashu_int::{IBig, Sign, UBig};

use super::bound::{Bound, Pair, Rounding};
use super::constant::{EULER_GAMMA, PI};
use super::kernel;
use crate::expr::Rational;

/// The largest exponent.
const RANGE: i64 = 1 << 40;
/// The exponent that marks infinity.
const INFINITE_EXPONENT: i64 = i64::MAX;
/// Numbers with more binary places than this before or after the point are not written out exactly.
const MAX_PLACES: i64 = 100_000;

/// A number `mantissa · 2^exponent`, or an infinity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Big {
    mantissa: IBig,
    exponent: i64,
}

impl Big {
    pub(super) const ZERO: Self = Self { mantissa: IBig::ZERO, exponent: 0 };

    /// Mantissa times two to the exponent, rounded to `bits`.
    pub(super) fn rounded(mantissa: IBig, exponent: i64, bits: u32, dir: Rounding) -> Self {
        if mantissa.is_zero() {
            return Self::ZERO;
        }
        let length = mantissa.bit_len();
        let surplus = length.saturating_sub(bits as usize);
        let top = exponent.saturating_add(signed(length));
        let (mantissa, exponent) = if surplus == 0 {
            (mantissa, exponent)
        } else {
            (shift_right(mantissa, surplus, dir), exponent.saturating_add(signed(surplus)))
        };
        if top.abs() < RANGE {
            return Self { mantissa, exponent };
        }
        let negative = mantissa.sign() == Sign::Negative;
        let outwards = negative == (dir == Rounding::Down);
        match (top > 0, outwards) {
            (true, true) => Self::infinite(negative),
            (false, false) => Self::ZERO,
            (large, _) => Self { mantissa: unit(negative), exponent: if large { RANGE } else { -RANGE } },
        }
    }

    fn quotient(n: &IBig, n_exponent: i64, d: &IBig, d_exponent: i64, bits: u32, dir: Rounding) -> Self {
        let wanted = bits as usize + d.bit_len() + 2;
        let shift = wanted.saturating_sub(n.bit_len());
        let (mut quotient, rest) = (n << shift).div_rem(d);
        let mut exponent = n_exponent - d_exponent - signed(shift);
        if !rest.is_zero() {
            // Division truncates; a sticky bit makes the rounding correct.
            let negative = (n.sign() == Sign::Negative) != (d.sign() == Sign::Negative);
            quotient = (quotient << 1) + unit(negative);
            exponent -= 1;
        }
        Self::rounded(quotient, exponent, bits, dir)
    }

    /// The value as mantissa and exponent; none for an infinity.
    pub(super) fn parts(&self) -> Option<(&IBig, i64)> {
        self.is_finite().then_some((&self.mantissa, self.exponent))
    }

    /// In units of 2^-`places`, rounded down.
    pub(super) fn fixed(&self, places: i64) -> IBig {
        let shift = self.exponent.saturating_add(places);
        if shift >= 0 {
            &self.mantissa << unsigned(shift)
        } else {
            &self.mantissa >> unsigned(-shift).min(self.mantissa.bit_len() + 2)
        }
    }
}

impl Bound for Big {
    fn small(value: i32) -> Self {
        Self { mantissa: IBig::from(value), exponent: 0 }
    }

    fn infinite(negative: bool) -> Self {
        Self { mantissa: unit(negative), exponent: INFINITE_EXPONENT }
    }

    fn of_rational(value: &Rational, bits: u32, dir: Rounding) -> Self {
        let (n, d) = (value.numerator(), value.denominator());
        if d.is_one() {
            return Self::rounded(n.clone(), 0, bits, dir);
        }
        Self::quotient(n, 0, d.as_ibig(), 0, bits, dir)
    }

    fn of_f64(value: f64) -> Self {
        if value.is_infinite() || value.is_nan() {
            return Self::infinite(value < 0.0);
        }
        let (fraction, exponent) = libm::frexp(value);
        #[expect(clippy::cast_possible_truncation, reason = "a double times 2^53 is a whole number")]
        let mantissa = libm::ldexp(fraction, 53) as i64;
        Self::rounded(IBig::from(mantissa), i64::from(exponent) - 53, 64, Rounding::Down)
    }

    fn to_big(&self) -> Self {
        self.clone()
    }

    fn to_f64(&self, dir: Rounding) -> f64 {
        if !self.is_finite() {
            return f64::infinite(self.sign() == Ordering::Less);
        }
        let surplus = self.mantissa.bit_len().saturating_sub(53);
        let short = shift_right(self.mantissa.clone(), surplus, dir);
        let Ok(short) = i64::try_from(short) else { return 0.0 };
        let exponent = self.exponent + signed(surplus);
        let clamped = i32::try_from(exponent.clamp(-3000, 3000)).unwrap_or(0);
        let value = libm::ldexp(short as f64, clamped);
        match dir {
            Rounding::Down if value == f64::INFINITY => f64::MAX,
            Rounding::Up if value == f64::NEG_INFINITY => f64::MIN,
            _ if value.abs() > f64::MIN_POSITIVE => value,
            // Below the normal range bits are lost in the scaling.
            Rounding::Up if short > 0 => f64::MIN_POSITIVE,
            Rounding::Down if short < 0 => -f64::MIN_POSITIVE,
            _ => 0.0,
        }
    }

    fn neg(&self) -> Self {
        Self { mantissa: -&self.mantissa, exponent: self.exponent }
    }

    fn sign(&self) -> Ordering {
        self.mantissa.cmp(&IBig::ZERO)
    }

    fn is_finite(&self) -> bool {
        self.exponent != INFINITE_EXPONENT
    }

    fn add(&self, other: &Self, bits: u32, dir: Rounding) -> Self {
        let (Some(top), Some(under)) = (self.exponent(), other.exponent()) else {
            return match (self.is_finite(), other.is_finite()) {
                (true, true) if self.mantissa.is_zero() => other.clone(),
                (_, true) => self.clone(),
                (true, false) => other.clone(),
                (false, false) if self.sign() == other.sign() => self.clone(),
                (false, false) => Self::infinite(dir == Rounding::Down),
            };
        };
        let (large, small) = if top >= under { (self, other) } else { (other, self) };
        let gap = (top - under).abs();
        if gap > 2 * i64::from(bits) + 64 && gap > 2 * signed(large.mantissa.bit_len()) + 64 {
            // The small number only affects the rounding of the large one.
            let room = bits as usize + 8;
            let mantissa = (&large.mantissa << room) + small.mantissa.signum();
            return Self::rounded(mantissa, large.exponent - signed(room), bits, dir);
        }
        let exponent = self.exponent.min(other.exponent);
        let at = |x: &Self| &x.mantissa << unsigned(x.exponent - exponent);
        Self::rounded(at(self) + at(other), exponent, bits, dir)
    }

    fn mul(&self, other: &Self, bits: u32, dir: Rounding) -> Self {
        if self.mantissa.is_zero() || other.mantissa.is_zero() {
            return Self::ZERO;
        }
        if !self.is_finite() || !other.is_finite() {
            return Self::infinite(self.sign() != other.sign());
        }
        Self::rounded(&self.mantissa * &other.mantissa, self.exponent + other.exponent, bits, dir)
    }

    fn div(&self, other: &Self, bits: u32, dir: Rounding) -> Self {
        let negative = (self.sign() == Ordering::Less) != (other.sign() == Ordering::Less);
        match (self.is_finite(), other.is_finite()) {
            _ if self.mantissa.is_zero() => Self::ZERO,
            (false, false) => Self::infinite(dir == Rounding::Down),
            (false, true) => Self::infinite(negative),
            (true, false) => Self::rounded(unit(negative), -4 * RANGE, bits, dir),
            (true, true) => {
                Self::quotient(&self.mantissa, self.exponent, &other.mantissa, other.exponent, bits, dir)
            }
        }
    }

    fn half(&self) -> Self {
        let shift = i64::from(self.is_finite() && !self.mantissa.is_zero());
        Self { mantissa: self.mantissa.clone(), exponent: self.exponent - shift }
    }

    fn sqrt(&self, bits: u32, dir: Rounding) -> Self {
        if !self.is_finite() || self.mantissa.is_zero() {
            return self.clone();
        }
        let mut shift = (2 * bits as usize + 4).saturating_sub(self.mantissa.bit_len());
        if (self.exponent - signed(shift)) % 2 != 0 {
            shift += 1;
        }
        let square = &self.mantissa << shift;
        let root = square.sqrt();
        let exact = IBig::from(&root * &root) == square;
        let more = if exact { IBig::ZERO } else { IBig::ONE };
        let mantissa = (IBig::from(root) << 1) + more;
        Self::rounded(mantissa, (self.exponent - signed(shift)) / 2 - 1, bits, dir)
    }

    fn exp(&self, bits: u32) -> Pair<Self> {
        kernel::exp(self, bits)
    }

    fn ln(&self, bits: u32) -> Pair<Self> {
        kernel::ln(self, bits)
    }

    fn sin_cos(&self, bits: u32) -> (Pair<Self>, Pair<Self>) {
        kernel::sin_cos(self, bits)
    }

    fn atan(&self, bits: u32) -> Pair<Self> {
        kernel::atan(self, bits)
    }

    fn pi(bits: u32) -> Pair<Self> {
        kernel::constant(&PI, bits)
    }

    fn euler_gamma(bits: u32) -> Pair<Self> {
        kernel::constant(&EULER_GAMMA, bits)
    }

    fn floor(&self) -> Option<IBig> {
        (self.exponent <= MAX_PLACES).then(|| self.fixed(0))
    }

    fn exactly(&self) -> Option<Rational> {
        match self.exponent {
            0..=MAX_PLACES => Some(Rational::from(&self.mantissa << unsigned(self.exponent))),
            exponent @ ..0 if exponent >= -MAX_PLACES => {
                Some(Rational::from_parts(self.mantissa.clone(), UBig::ONE << unsigned(-exponent)))
            }
            _ => None,
        }
    }

    fn exponent(&self) -> Option<i64> {
        (self.is_finite() && !self.mantissa.is_zero())
            .then(|| self.exponent + signed(self.mantissa.bit_len()))
    }

    fn cost(bits: u32) -> (u64, u64) {
        let words = u64::from(bits / 64 + 1);
        (24 + 2 * words, 300 * words + 60 * words * words)
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign != Ordering::Equal || self.mantissa.is_zero() {
            return Some(by_sign);
        }
        let by_size = match (self.exponent(), other.exponent()) {
            (Some(a), Some(b)) if a != b => a.cmp(&b),
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(_), Some(_)) => {
                let least = self.exponent.min(other.exponent);
                let at = |x: &Self| &x.mantissa << unsigned(x.exponent - least);
                return Some(at(self).cmp(&at(other)));
            }
        };
        Some(if self.sign() == Ordering::Less { by_size.reverse() } else { by_size })
    }
}

fn unit(negative: bool) -> IBig {
    if negative { IBig::NEG_ONE } else { IBig::ONE }
}

/// Drops low bits, rounding in a direction.
fn shift_right(value: IBig, by: usize, dir: Rounding) -> IBig {
    match dir {
        _ if by == 0 => value,
        Rounding::Down => value >> by,
        Rounding::Up => -(-value >> by),
    }
}

#[expect(clippy::cast_possible_wrap, reason = "a length in bits is far below 2^63")]
fn signed(bits: usize) -> i64 {
    bits as i64
}

fn unsigned(bits: i64) -> usize {
    usize::try_from(bits).unwrap_or(0)
}
