//! A floating-point number of any precision: the ends of arbitrary precision's intervals.
//!
//! An integer times a power of two. Where a number would leave the range 2^±2^40 it is rounded to the end of
//! that range or to infinity or zero, so that exponents and shifts stay bounded.

use std::cmp::Ordering;

use dashu_int::ops::{BitTest as _, DivRem as _, SquareRoot as _};
use dashu_int::{IBig, Sign, UBig};

use super::bound::Rounding;
use crate::expr::Rational;

/// The largest exponent.
const RANGE: i64 = 1 << 40;
/// The exponent that marks infinity.
const ENDLESS: i64 = i64::MAX;

/// A number `mantissa · 2^exponent`, or an infinity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Big {
    mantissa: IBig,
    exponent: i64,
}

impl Big {
    pub(super) const ZERO: Self = Self { mantissa: IBig::ZERO, exponent: 0 };

    /// The infinity of a sign.
    pub(super) fn infinity(negative: bool) -> Self {
        Self { mantissa: if negative { IBig::NEG_ONE } else { IBig::ONE }, exponent: ENDLESS }
    }

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
            (true, true) => Self::infinity(negative),
            (false, false) => Self::ZERO,
            (large, _) => Self {
                mantissa: if negative { IBig::NEG_ONE } else { IBig::ONE },
                exponent: if large { RANGE } else { -RANGE },
            },
        }
    }

    /// A rational number.
    pub(super) fn of_rational(value: &Rational, bits: u32, dir: Rounding) -> Self {
        let (n, d) = (value.numerator(), value.denominator());
        if d.is_one() {
            return Self::rounded(n.clone(), 0, bits, dir);
        }
        Self::quotient(n, 0, d.as_ibig(), 0, bits, dir)
    }

    /// The value as mantissa and exponent; none for an infinity.
    pub(super) fn parts(&self) -> Option<(&IBig, i64)> {
        self.is_finite().then_some((&self.mantissa, self.exponent))
    }

    pub(super) fn is_finite(&self) -> bool {
        self.exponent != ENDLESS
    }

    pub(super) fn sign(&self) -> Ordering {
        match self.mantissa.sign() {
            _ if self.mantissa.is_zero() => Ordering::Equal,
            Sign::Positive => Ordering::Greater,
            Sign::Negative => Ordering::Less,
        }
    }

    pub(super) fn neg(&self) -> Self {
        Self { mantissa: -&self.mantissa, exponent: self.exponent }
    }

    /// The position of the leading bit, as `Bound::exponent`.
    pub(super) fn top(&self) -> Option<i64> {
        (self.is_finite() && !self.mantissa.is_zero())
            .then(|| self.exponent + signed(self.mantissa.bit_len()))
    }

    pub(super) fn add(&self, other: &Self, bits: u32, dir: Rounding) -> Self {
        let (Some(top), Some(under)) = (self.top(), other.top()) else {
            return match (self.is_finite(), other.is_finite()) {
                (true, true) if self.mantissa.is_zero() => other.clone(),
                (_, true) => self.clone(),
                (true, false) => other.clone(),
                (false, false) if self.sign() == other.sign() => self.clone(),
                (false, false) => Self::infinity(dir == Rounding::Down),
            };
        };
        let (large, small) = if top >= under { (self, other) } else { (other, self) };
        let gap = (top - under).abs();
        if gap > 2 * i64::from(bits) + 64 && gap > 2 * signed(large.mantissa.bit_len()) + 64 {
            // The small one only decides which way the large one is nudged.
            let room = bits as usize + 8;
            let mantissa = (&large.mantissa << room) + small.mantissa.signum();
            return Self::rounded(mantissa, large.exponent - signed(room), bits, dir);
        }
        let exponent = self.exponent.min(other.exponent);
        let at = |x: &Self| &x.mantissa << unsigned(x.exponent - exponent);
        Self::rounded(at(self) + at(other), exponent, bits, dir)
    }

    pub(super) fn mul(&self, other: &Self, bits: u32, dir: Rounding) -> Self {
        if self.mantissa.is_zero() || other.mantissa.is_zero() {
            return Self::ZERO;
        }
        if !self.is_finite() || !other.is_finite() {
            return Self::infinity(self.sign() != other.sign());
        }
        Self::rounded(&self.mantissa * &other.mantissa, self.exponent + other.exponent, bits, dir)
    }

    /// The quotient; the divisor is not zero.
    pub(super) fn div(&self, other: &Self, bits: u32, dir: Rounding) -> Self {
        let negative = (self.sign() == Ordering::Less) != (other.sign() == Ordering::Less);
        if self.mantissa.is_zero() {
            return Self::ZERO;
        }
        if other.mantissa.is_zero() || (!self.is_finite() && !other.is_finite()) {
            return Self::infinity(dir == Rounding::Down);
        }
        if !self.is_finite() {
            return Self::infinity(negative);
        }
        if !other.is_finite() {
            let tiny = if negative { IBig::NEG_ONE } else { IBig::ONE };
            return Self::rounded(tiny, -4 * RANGE, bits, dir);
        }
        Self::quotient(&self.mantissa, self.exponent, &other.mantissa, other.exponent, bits, dir)
    }

    fn quotient(n: &IBig, n_exponent: i64, d: &IBig, d_exponent: i64, bits: u32, dir: Rounding) -> Self {
        let wanted = bits as usize + d.bit_len() + 2;
        let shift = wanted.saturating_sub(n.bit_len());
        let (mut quotient, rest) = (n << shift).div_rem(d);
        let mut exponent = n_exponent - d_exponent - signed(shift);
        if !rest.is_zero() {
            // Division truncates; a last bit that says "and more" keeps the rounding honest.
            let negative = (n.sign() == Sign::Negative) != (d.sign() == Sign::Negative);
            quotient = (quotient << 1) + if negative { IBig::NEG_ONE } else { IBig::ONE };
            exponent -= 1;
        }
        Self::rounded(quotient, exponent, bits, dir)
    }

    pub(super) fn half(&self) -> Self {
        match self.parts() {
            Some((mantissa, exponent)) if !mantissa.is_zero() => {
                Self { mantissa: mantissa.clone(), exponent: exponent - 1 }
            }
            _ => self.clone(),
        }
    }

    /// The square root of a number not below zero.
    pub(super) fn sqrt(&self, bits: u32, dir: Rounding) -> Self {
        if !self.is_finite() || self.sign() != Ordering::Greater {
            return if self.is_finite() { Self::ZERO } else { self.clone() };
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

    /// A double, exactly.
    pub(super) fn of_f64(value: f64) -> Self {
        if value.is_infinite() || value.is_nan() {
            return Self::infinity(value < 0.0);
        }
        let (fraction, exponent) = libm::frexp(value);
        #[expect(clippy::cast_possible_truncation, reason = "a double times 2^53 is a whole number")]
        let mantissa = libm::ldexp(fraction, 53) as i64;
        Self::rounded(IBig::from(mantissa), i64::from(exponent) - 53, 64, Rounding::Down)
    }

    /// The nearest double in a direction.
    pub(super) fn to_f64(&self, dir: Rounding) -> f64 {
        let Some((mantissa, exponent)) = self.parts() else {
            return if self.sign() == Ordering::Less { f64::NEG_INFINITY } else { f64::INFINITY };
        };
        let surplus = mantissa.bit_len().saturating_sub(53);
        let short = shift_right(mantissa.clone(), surplus, dir);
        let Ok(short) = i64::try_from(short) else { return 0.0 };
        let exponent = exponent + signed(surplus);
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

    /// The value at a fixed point: an integer that counts units of 2^-`places`, rounded.
    pub(super) fn fixed(&self, places: i64, dir: Rounding) -> IBig {
        let shift = self.exponent.saturating_add(places);
        if shift >= 0 {
            &self.mantissa << unsigned(shift)
        } else {
            let gone = unsigned(-shift).min(self.mantissa.bit_len() + 2);
            shift_right(self.mantissa.clone(), gone, dir)
        }
    }

    /// The exact value where it is of a reasonable size.
    pub(super) fn exactly(&self) -> Option<Rational> {
        let (mantissa, exponent) = self.parts()?;
        match exponent {
            0..=100_000 => Some(Rational::from(mantissa << unsigned(exponent))),
            -100_000..0 => Some(Rational::from_parts(mantissa.clone(), UBig::ONE << unsigned(-exponent))),
            _ => None,
        }
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign != Ordering::Equal || self.sign() == Ordering::Equal {
            return Some(by_sign);
        }
        let by_size = match (self.top(), other.top()) {
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

/// Drops low bits, rounding in a direction.
pub(super) fn shift_right(value: IBig, by: usize, dir: Rounding) -> IBig {
    if by == 0 {
        return value;
    }
    match dir {
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
