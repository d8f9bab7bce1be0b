//! Exact answers.

use std::fmt;

/// A reduced fraction; integers have denominator 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    numerator: i128,
    denominator: i128,
}

impl Value {
    /// A whole number.
    pub const fn whole(number: i128) -> Self {
        Self { numerator: number, denominator: 1 }
    }

    /// A quotient in lowest terms; `None` if the denominator is zero or a value is too large.
    pub fn ratio(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 || numerator == i128::MIN || denominator == i128::MIN {
            return None;
        }
        let shared = gcd(numerator, denominator) * denominator.signum();
        Some(Self { numerator: numerator / shared, denominator: denominator / shared })
    }

    /// The integer, if it is one.
    pub fn as_whole(self) -> Option<i128> {
        (self.denominator == 1).then_some(self.numerator)
    }

    /// The numerator.
    pub fn numerator(self) -> i128 {
        self.numerator
    }

    /// The denominator, at least 1.
    pub fn denominator(self) -> i128 {
        self.denominator
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

/// The greatest common divisor, never negative.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_in_lowest_terms_with_the_sign_above() {
        let shown = |n, d| Value::ratio(n, d).map(|value| value.to_string());
        assert_eq!(shown(6, -4).as_deref(), Some("-3/2"));
        assert_eq!(shown(-6, -3).as_deref(), Some("2"));
        assert_eq!(shown(0, -3).as_deref(), Some("0"));
        assert_eq!(shown(1, 0), None);
    }
}
