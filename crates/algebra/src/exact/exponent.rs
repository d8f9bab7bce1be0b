//! Exponents: small rational numbers that never overflow silently.

use std::cmp::Ordering;

use dashu_int::IBig;
use dashu_int::ops::Gcd as _;

use super::field::{FormError, Res};
use crate::expr::Rational;

/// A rational number of two machine words in lowest terms, the denominator positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Q {
    num: i64,
    den: i64,
}

impl Q {
    pub(super) const ZERO: Self = Self { num: 0, den: 1 };
    pub(super) const ONE: Self = Self { num: 1, den: 1 };
    pub(super) const HALF: Self = Self { num: 1, den: 2 };

    pub(super) const fn int(num: i64) -> Self {
        Self { num, den: 1 }
    }

    /// A quotient of two numbers, unless the denominator is zero or the result too long.
    pub(super) fn new(num: i64, den: i64) -> Res<Self> {
        Self::reduced(i128::from(num), i128::from(den))
    }

    fn reduced(num: i128, den: i128) -> Res<Self> {
        let common = match den {
            0 => return Err(FormError::Large),
            1 => 1,
            _ => num.unsigned_abs().gcd(den.unsigned_abs()).cast_signed() * den.signum(),
        };
        let short = |part: i128| i64::try_from(part / common).map_err(|_| FormError::Large);
        Ok(Self { num: short(num)?, den: short(den)? })
    }

    pub(super) fn from_rational(value: &Rational) -> Option<Self> {
        let num = i64::try_from(value.numerator()).ok()?;
        let den = i64::try_from(value.denominator()).ok()?;
        Some(Self { num, den })
    }

    pub(super) fn to_rational(self) -> Rational {
        Rational::from_parts_signed(IBig::from(self.num), IBig::from(self.den))
    }

    pub(super) fn num(self) -> i64 {
        self.num
    }

    pub(super) fn den(self) -> i64 {
        self.den
    }

    pub(super) fn is_zero(self) -> bool {
        self.num == 0
    }

    pub(super) fn is_int(self) -> bool {
        self.den == 1
    }

    /// The integer this is, if it is one.
    pub(super) fn as_int(self) -> Option<i64> {
        (self.den == 1).then_some(self.num)
    }

    pub(super) fn floor(self) -> i64 {
        self.num.div_euclid(self.den)
    }

    pub(super) fn plus(self, other: Self) -> Res<Self> {
        if self.den == 1 && other.den == 1 {
            return Ok(Self::int(self.num.checked_add(other.num).ok_or(FormError::Large)?));
        }
        let (a, b) = (i128::from(self.num), i128::from(other.num));
        let (c, d) = (i128::from(self.den), i128::from(other.den));
        Self::reduced(a * d + b * c, c * d)
    }

    pub(super) fn minus(self, other: Self) -> Res<Self> {
        self.plus(other.negated()?)
    }

    pub(super) fn negated(self) -> Res<Self> {
        let num = self.num.checked_neg().ok_or(FormError::Large)?;
        Ok(Self { num, den: self.den })
    }

    pub(super) fn times(self, other: Self) -> Res<Self> {
        let (a, b) = (i128::from(self.num), i128::from(other.num));
        Self::reduced(a * b, i128::from(self.den) * i128::from(other.den))
    }
}

impl PartialOrd for Q {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Q {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = i128::from(self.num) * i128::from(other.den);
        left.cmp(&(i128::from(other.num) * i128::from(self.den)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_reduces() {
        let third = Q::new(1, 3).unwrap();
        assert_eq!(third.plus(Q::new(1, 6).unwrap()), Ok(Q::HALF));
        assert_eq!(third.times(Q::int(-3)), Ok(Q::int(-1)));
        assert_eq!(Q::new(-3, 2).unwrap().floor(), -2);
        assert_eq!(Q::int(i64::MAX).plus(Q::ONE), Err(FormError::Large));
        assert!(Q::new(-1, 2).unwrap() < Q::new(-1, 3).unwrap());
        assert_eq!(Q::new(3, -6), Q::new(-1, 2));
    }
}
