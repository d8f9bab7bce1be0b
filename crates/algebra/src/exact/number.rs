//! Rational numbers under powers and roots: trial division, and prime kernels for what is not rational.

use dashu_int::{IBig, UBig, ops::BitTest};

use super::{
    exponent::Q,
    field::{BITS, Field, FormError, Res},
    kernel::{Kernel, UNIT},
    poly::{Mono, Poly},
};
use crate::expr::Rational;

/// A factor of an integer, how often it occurs, and whether it is proved prime.
pub(super) struct Factor {
    pub(super) base: UBig,
    pub(super) count: i64,
    pub(super) prime: bool,
}

/// Divisors tried for numbers of two words; for longer ones, `SHORT`.
const LONG: u64 = 1 << 14;
const SHORT: u64 = 1 << 8;

impl Field<'_> {
    /// The factors of a positive integer: complete for small ones, with an unsplit rest for large ones.
    pub(super) fn factors(&self, n: &UBig) -> Res<Vec<Factor>> {
        let mut out = Vec::new();
        let mut rest = n.clone();
        self.fuel.spend(4)?;
        if rest.bit_len() > 64 {
            let bound = if rest.bit_len() > 2048 { 32 } else { SHORT };
            for d in candidates(bound) {
                self.fuel.spend(2 + rest.bit_len() as u64 / 64)?;
                let divisor = UBig::from(d);
                let count = rest.remove(&divisor).unwrap_or(0);
                if count > 0 {
                    out.push(Factor { base: divisor, count: i64::try_from(count).unwrap_or(0), prime: true });
                }
            }
        }
        let Ok(mut small) = u64::try_from(&rest) else {
            self.push_rest(&mut out, rest, false)?;
            return Ok(out);
        };
        let mut prime = true;
        for d in candidates(LONG) {
            if d * d > small {
                break;
            }
            if d & 63 == 1 {
                self.fuel.spend(8)?;
            }
            let mut count = 0;
            while small.is_multiple_of(d) {
                small /= d;
                count += 1;
            }
            if count > 0 {
                out.push(Factor { base: UBig::from(d), count, prime: true });
            }
        }
        if small > LONG * LONG {
            prime = false;
        }
        self.push_rest(&mut out, UBig::from(small), prime)?;
        Ok(out)
    }

    /// The unsplit rest, as a power of its smallest root.
    fn push_rest(&self, out: &mut Vec<Factor>, rest: UBig, prime: bool) -> Res<()> {
        if rest.is_one() {
            return Ok(());
        }
        if !prime {
            for degree in [7usize, 5, 3, 2] {
                self.fuel.spend(rest.bit_len() as u64)?;
                let root = rest.nth_root(degree);
                if root.pow(degree) == rest {
                    let count = i64::try_from(degree).unwrap_or(1);
                    let mut inner = Vec::new();
                    self.push_rest(&mut inner, root, false)?;
                    out.extend(inner.into_iter().map(|f| Factor { count: f.count * count, ..f }));
                    return Ok(());
                }
            }
        }
        out.push(Factor { base: rest, count: 1, prime });
        Ok(())
    }

    /// A rational number to a rational power: real for odd roots of negative numbers, else principal.
    pub(super) fn number_power(&mut self, value: &Rational, r: Q) -> Res<Poly> {
        if value.is_zero() {
            return if r > Q::ZERO { Ok(Poly::zero()) } else { Err(FormError::Undefined) };
        }
        if value.is_one() || r.is_zero() {
            return Ok(Poly::one());
        }
        let size = value.numerator().bit_len().max(value.denominator().bit_len());
        if let Some(n) = r.as_int() {
            let times = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX);
            if size <= 1 {
                let odd = n.rem_euclid(2) == 1 && *value < Rational::ZERO;
                return Ok(Poly::int(if odd { -1 } else { 1 }));
            }
            let bits = size.saturating_mul(times);
            if bits <= BITS {
                let words = bits as u64 / 64;
                self.fuel.spend(2 + words * words / 4)?;
                let power = value.pow(isize::try_from(n).map_err(|_| FormError::Large)?);
                return Ok(Poly::constant(power));
            }
        }
        if size > BITS {
            return Err(FormError::Large);
        }
        let mut mono = Mono::one();
        if *value < Rational::ZERO {
            if r.den() % 2 == 0 {
                mono = Mono::of(UNIT, r);
            } else if r.num() % 2 != 0 {
                mono = Mono::of(UNIT, Q::ONE);
            }
        }
        let (num, den) = value.clone().into_parts();
        let num = num.into_parts().1;
        for (part, sign) in [(num, 1), (den, -1)] {
            for factor in self.factors(&part)? {
                let exponent = Q::int(factor.count * sign).times(r)?;
                let id = self.intern(Kernel::Prime(factor.base, factor.prime))?;
                mono = mono.joined(&Mono::of(id, exponent))?;
            }
        }
        let unit = mono.exponent(UNIT);
        let real = self.single(mono.without(UNIT), Rational::ONE)?;
        if unit.is_zero() {
            return Ok(real);
        }
        let unit = self.unit(unit)?;
        self.mul(&real, &unit)
    }

    /// The square root of a rational number that is a square.
    pub(super) fn rational_root(value: &Rational) -> Option<Rational> {
        if *value < Rational::ZERO
            || value.numerator().bit_len() > 4096
            || value.denominator().bit_len() > 4096
        {
            return None;
        }
        let (num, den) = value.clone().into_parts();
        let num = num.into_parts().1;
        let (a, b) = (num.nth_root(2), den.nth_root(2));
        (a.pow(2) == num && b.pow(2) == den).then(|| Rational::from_parts(IBig::from(a), b))
    }
}

/// 2, 3 and the numbers coprime to 6, up to a bound.
fn candidates(bound: u64) -> impl Iterator<Item = u64> {
    [2, 3].into_iter().chain((1..).flat_map(|k| [6 * k - 1, 6 * k + 1])).take_while(move |d| *d < bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuel::Fuel;

    #[test]
    fn factors_multiply_back() {
        let fuel = Fuel::new(1_000_000);
        let field = Field::new(&fuel);
        for n in [1u64, 2, 12, 97, 1024, 999_999_000_001, 18_446_744_073_709_551_557, 600_851_475_143] {
            let product = field
                .factors(&UBig::from(n))
                .unwrap()
                .iter()
                .fold(UBig::ONE, |p, f| p * f.base.pow(usize::try_from(f.count).unwrap()));
            assert_eq!(product, UBig::from(n));
        }
    }
}
