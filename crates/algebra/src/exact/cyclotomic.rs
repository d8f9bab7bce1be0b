//! Roots of unity: exact values by radicals where these are short, else reduction modulo the cyclotomic
//! polynomial, with square roots of primes written as Gauss sums, so that both are comparable.

use std::collections::BTreeMap;

use dashu_int::UBig;
use dashu_int::ops::Gcd as _;

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::{Kernel, UNIT},
    poly::{Id, Mono, Poly},
};
use crate::expr::Rational;

/// The highest order of a root of unity that is reduced.
const ORDER: i64 = 1_000;

impl Field<'_> {
    /// e^{iπr}.
    pub(super) fn unit(&mut self, r: Q) -> Res<Poly> {
        self.fuel.spend(4)?;
        let den = r.den();
        if 12 % den == 0 {
            return self.short_unit(r.num().rem_euclid(2 * den) * (12 / den));
        }
        // Split the exponent into the part over 2 and 3, which radicals express, and the rest.
        let mut rough = den;
        while rough % 2 == 0 {
            rough /= 2;
        }
        while rough % 3 == 0 {
            rough /= 3;
        }
        let smooth = den / rough;
        if rough > 1 && smooth > 1 && 12 % smooth == 0 && den < 1 << 30 {
            // r = x/smooth + y/rough, with x·rough + y·smooth = num.
            let num = r.num().rem_euclid(2 * den);
            let x = (0..smooth).find(|x| (num - x * rough).rem_euclid(smooth) == 0).unwrap_or(0);
            let y = (num - x * rough) / smooth;
            let left = self.short_unit((x * (12 / smooth)).rem_euclid(24))?;
            let right = Mono::of(UNIT, Q::new(y, rough)?);
            return self.mul(&left, &self.single(right, Rational::ONE)?);
        }
        self.single(Mono::of(UNIT, r), Rational::ONE)
    }

    /// e^{iπk/12} in i, √2 and √3, as e^{iπk/3}·e^{−iπk/4}.
    fn short_unit(&mut self, k: i64) -> Res<Poly> {
        if k % 6 == 0 {
            return self.single(Mono::of(UNIT, Q::new(k, 12)?), Rational::ONE);
        }
        let half = |negative: bool| Rational::from(if negative { -1 } else { 1 }) / Rational::from(2);
        let (third, fourth) = (k.rem_euclid(6), (-k).rem_euclid(8));
        let left = if third % 3 == 0 {
            Poly::int(if third == 0 { 1 } else { -1 })
        } else {
            let root = self.intern(Kernel::Prime(UBig::from(3u8), true))?;
            let imaginary = Mono(vec![(UNIT, Q::HALF), (root, Q::HALF)]);
            Poly::constant(half(third == 2 || third == 4)).plus(&Poly::term(imaginary, half(third > 3)))
        };
        let right = if fourth % 2 == 0 {
            self.single(Mono::of(UNIT, Q::new(fourth, 4)?), Rational::ONE)?
        } else {
            let root = self.intern(Kernel::Prime(UBig::from(2u8), true))?;
            let imaginary = Mono(vec![(UNIT, Q::HALF), (root, Q::HALF)]);
            let real = Poly::term(Mono::of(root, Q::HALF), half(fourth == 3 || fourth == 5));
            real.plus(&Poly::term(imaginary, half(fourth > 4)))
        };
        self.mul(&left, &right)
    }

    /// The order of the roots of unity that occur: e^{iπr} for all r are powers of one of this order.
    fn order(p: &Poly) -> Option<i64> {
        let mut order: i64 = 2;
        for (mono, _) in &p.0 {
            let den = mono.exponent(UNIT).den().checked_mul(2)?;
            order = lcm(order, den);
            if order > ORDER {
                return None;
            }
        }
        Some(order)
    }

    /// Reduced modulo the cyclotomic polynomial, when anything beyond i occurs.
    pub(super) fn units_reduced(&self, p: &Poly) -> Res<Poly> {
        match Self::order(p) {
            Some(order) if order > 4 => self.reduced_at(p, order),
            _ => Ok(p.clone()),
        }
    }

    /// As `units_reduced`, with square roots of primes that lie in the cyclotomic field written as Gauss sums.
    /// The flag tells that all roots of unity were reduced to a basis.
    pub(super) fn cyclotomic(&self, p: &Poly) -> Res<(Poly, bool)> {
        let Some(mut order) = Self::order(p) else { return Ok((p.clone(), false)) };
        if order <= 4 {
            return Ok((p.clone(), true));
        }
        let mut current = p.clone();
        let mut open = self.square_roots(p);
        while let Some(at) =
            open.iter().position(|(_, q)| if *q == 2 { order % 8 == 0 } else { order % q == 0 })
        {
            let (id, prime) = open.remove(at);
            let root = self.gauss(prime)?;
            current = self.root_replaced(&current, id, &root)?;
            let field = if prime % 4 == 3 { 4 * prime } else { prime };
            order = lcm(order, field);
            if order > ORDER {
                return Ok((current, false));
            }
        }
        Ok((self.reduced_at(&current, order)?, true))
    }

    fn square_roots(&self, p: &Poly) -> Vec<(Id, i64)> {
        let mut out = Vec::new();
        for id in p.kernels() {
            if let Kernel::Prime(value, true) = self.table.get(id)
                && let Ok(prime) = i64::try_from(value)
                && prime < 200
                && p.0.iter().any(|(m, _)| m.exponent(id) >= Q::HALF)
            {
                out.push((id, prime));
            }
        }
        out
    }

    /// √p as a sum of roots of unity.
    fn gauss(&self, prime: i64) -> Res<Poly> {
        let unit = |num, den| Q::new(num, den);
        if prime == 2 {
            let a = self.single(Mono::of(UNIT, unit(1, 4)?), Rational::ONE)?;
            return Ok(a.plus(&self.single(Mono::of(UNIT, unit(-1, 4)?), Rational::ONE)?));
        }
        let mut square = vec![false; usize::try_from(prime).unwrap_or(0)];
        for a in 1..prime {
            if let Some(slot) = usize::try_from(a * a % prime).ok().and_then(|at| square.get_mut(at)) {
                *slot = true;
            }
        }
        let mut terms = Vec::new();
        for (a, is_square) in (0i64..).zip(square).skip(1) {
            let sign = Rational::from(if is_square { 1 } else { -1 });
            terms.extend(self.single(Mono::of(UNIT, unit(2 * a, prime)?), sign)?.0);
        }
        let sum = Poly::collect(terms);
        if prime % 4 == 1 {
            return Ok(sum);
        }
        // The sum is i√p.
        self.mul(&sum, &Poly::kernel(UNIT, Q::HALF).negated())
    }

    fn root_replaced(&self, p: &Poly, id: Id, root: &Poly) -> Res<Poly> {
        let mut terms = Vec::new();
        for (mono, value) in &p.0 {
            let exponent = mono.exponent(id);
            if exponent < Q::HALF || exponent >= Q::ONE {
                terms.push((mono.clone(), value.clone()));
                continue;
            }
            let left = Mono::of(id, exponent.minus(Q::HALF)?);
            let rest = mono.without(id).joined(&left)?;
            terms.extend(self.mul(&Poly::term(rest, value.clone()), root)?.0);
        }
        Ok(Poly::collect(terms))
    }

    fn reduced_at(&self, p: &Poly, order: i64) -> Res<Poly> {
        let modulus = cyclotomic_polynomial(order);
        let degree = modulus.len() - 1;
        let mut groups: BTreeMap<Mono, BTreeMap<usize, Rational>> = BTreeMap::new();
        for (mono, value) in &p.0 {
            let at = mono.exponent(UNIT).times(Q::int(order / 2))?.as_int().ok_or(FormError::Large)?;
            let at = usize::try_from(at).map_err(|_| FormError::Large)?;
            groups.entry(mono.without(UNIT)).or_default().insert(at, value.clone());
        }
        let mut terms = Vec::new();
        for (mono, mut row) in groups {
            while let Some((at, value)) = row.pop_last() {
                if value.is_zero() {
                    continue;
                }
                if at < degree {
                    let at = i64::try_from(at).map_err(|_| FormError::Large)?;
                    let unit = Mono::of(UNIT, Q::new(2 * at, order)?);
                    terms.extend(self.single(mono.joined(&unit)?, value)?.0);
                    continue;
                }
                self.fuel.spend(20 * degree as u64)?;
                for (k, c) in modulus[..degree].iter().enumerate() {
                    if *c != 0 {
                        let slot = row.entry(at - degree + k).or_insert(Rational::ZERO);
                        *slot -= Rational::from(*c) * &value;
                    }
                }
            }
        }
        Ok(Poly::collect(terms))
    }
}

fn lcm(a: i64, b: i64) -> i64 {
    a / a.unsigned_abs().gcd(b.unsigned_abs()).cast_signed() * b
}

/// The coefficients of Φ_n, the constant first.
fn cyclotomic_polynomial(n: i64) -> Vec<i64> {
    let mut out = vec![-1, 1];
    let mut left = n;
    let mut p = 2;
    while left > 1 {
        if left % p == 0 {
            let step = usize::try_from(p).unwrap_or(1);
            // Φ_{mp}(x) = Φ_m(x^p) / Φ_m(x) for p not in m, and Φ_m(x^p) for p in m.
            out = exact_quotient(&spread(&out, step), &out);
            left /= p;
            while left % p == 0 {
                out = spread(&out, step);
                left /= p;
            }
        }
        p += 1;
    }
    out
}

fn spread(poly: &[i64], step: usize) -> Vec<i64> {
    let mut out = vec![0; (poly.len() - 1) * step + 1];
    for (k, c) in poly.iter().enumerate() {
        out[k * step] = *c;
    }
    out
}

fn exact_quotient(num: &[i64], den: &[i64]) -> Vec<i64> {
    let mut rest = num.to_vec();
    let degree = num.len() - den.len();
    let mut out = vec![0; degree + 1];
    for k in (0..=degree).rev() {
        // Both are monic.
        let c = rest[k + den.len() - 1];
        out[k] = c;
        for (j, d) in den.iter().enumerate() {
            rest[k + j] -= c * d;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Degrees are Euler's φ; Φ_12 and the famous Φ_105 with its −2 from sympy.
    #[test]
    fn cyclotomic_polynomials() {
        assert_eq!(cyclotomic_polynomial(12), vec![1, 0, -1, 0, 1]);
        let big = cyclotomic_polynomial(105);
        assert_eq!((big.len() - 1, big[7]), (48, -2));
        for n in 1..60i64 {
            let phi = (1..=n).filter(|k| k.unsigned_abs().gcd(n.unsigned_abs()) == 1).count();
            assert_eq!(cyclotomic_polynomial(n).len() - 1, phi);
        }
    }
}
