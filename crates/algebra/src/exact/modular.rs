//! Arithmetic modulo an odd number below 2^63, in Montgomery's form.

/// A modulus with what multiplication needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Modulus {
    n: u64,
    /// −1/n modulo 2^64.
    inverse: u64,
    /// 2^128 modulo n.
    square: u64,
}

/// A residue in Montgomery's form: a·2^64 modulo n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Residue(u64);

impl Modulus {
    pub(super) fn new(n: u64) -> Self {
        // Newton's iteration doubles the correct bits: 3, 6, 12, 24, 48, 96.
        let mut inverse = n;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(n.wrapping_mul(inverse)));
        }
        let once = (u128::from(u64::MAX) + 1) % u128::from(n);
        let square = u64::try_from(once * once % u128::from(n)).unwrap_or(0);
        Self { n, inverse: inverse.wrapping_neg(), square }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low and the high half are meant")]
    pub(super) fn mul(&self, a: Residue, b: Residue) -> Residue {
        let wide = u128::from(a.0) * u128::from(b.0);
        let factor = (wide as u64).wrapping_mul(self.inverse);
        let high = ((wide + u128::from(factor) * u128::from(self.n)) >> 64) as u64;
        Residue(if high >= self.n { high - self.n } else { high })
    }

    pub(super) fn residue(&self, value: u64) -> Residue {
        self.mul(Residue(value % self.n), Residue(self.square))
    }

    pub(super) fn one(&self) -> Residue {
        self.residue(1)
    }

    pub(super) fn add(&self, a: Residue, b: Residue) -> Residue {
        let sum = a.0 + b.0;
        Residue(if sum >= self.n { sum - self.n } else { sum })
    }

    pub(super) fn negated(&self, a: Residue) -> Residue {
        Residue(if a.0 == 0 { 0 } else { self.n - a.0 })
    }

    pub(super) fn is_zero(a: Residue) -> bool {
        a.0 == 0
    }

    pub(super) fn power(&self, base: Residue, mut exponent: u64) -> Residue {
        let (mut out, mut square) = (self.one(), base);
        while exponent > 0 {
            if exponent & 1 == 1 {
                out = self.mul(out, square);
            }
            square = self.mul(square, square);
            exponent >>= 1;
        }
        out
    }

    /// One over a residue, for a prime modulus.
    pub(super) fn inverted(&self, a: Residue) -> Option<Residue> {
        (a.0 != 0).then(|| self.power(a, self.n - 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_plain_arithmetic() {
        for n in [3u64, 97, 1_000_003, (1 << 61) - 1] {
            let m = Modulus::new(n);
            for a in [0u64, 1, 2, 96, 12_345_678_901] {
                for b in [0u64, 1, 5, 98_765_432_109] {
                    let product =
                        u64::try_from(u128::from(a % n) * u128::from(b % n) % u128::from(n)).unwrap();
                    assert_eq!(m.mul(m.residue(a), m.residue(b)), m.residue(product));
                }
                if a % n != 0 {
                    let inverse = m.inverted(m.residue(a)).unwrap();
                    assert_eq!(m.mul(inverse, m.residue(a)), m.one());
                }
            }
        }
    }
}
