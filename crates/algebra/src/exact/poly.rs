//! Sparse polynomials with rational coefficients in numbered kernels; exponents may be negative or fractions.

use std::cmp::Ordering;
use std::convert::Infallible;

use dashu_int::{IBig, UBig, ops::Gcd};

use super::exponent::Q;
use super::field::Res;
use crate::expr::Rational;

/// A kernel's number in the table.
pub(super) type Id = u32;

/// A product of kernel powers, sorted by kernel, no exponent zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mono(pub(super) Vec<(Id, Q)>);

impl Mono {
    pub(super) fn one() -> Self {
        Self(Vec::new())
    }

    pub(super) fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn of(kernel: Id, exponent: Q) -> Self {
        if exponent.is_zero() { Self::one() } else { Self(vec![(kernel, exponent)]) }
    }

    /// The exponent of a kernel, zero when it does not occur.
    pub(super) fn exponent(&self, kernel: Id) -> Q {
        self.0.iter().find(|(id, _)| *id == kernel).map_or(Q::ZERO, |(_, e)| *e)
    }

    pub(super) fn without(&self, kernel: Id) -> Self {
        Self(self.0.iter().filter(|(id, _)| *id != kernel).copied().collect())
    }

    /// The product with exponents added and nothing else done; an error when an exponent overflows.
    pub(super) fn joined(&self, other: &Self) -> Res<Self> {
        let add = |a: &Q, b: &Q| a.plus(*b).map(|sum| (!sum.is_zero()).then_some(sum));
        merged(&self.0, &other.0, Id::cmp, add).map(Self)
    }

    /// All exponents multiplied by one number.
    pub(super) fn raised(&self, by: Q) -> Res<Self> {
        self.0.iter().map(|(id, e)| Ok((*id, e.times(by)?))).collect::<Res<Vec<_>>>().map(Self)
    }

    /// One over it.
    pub(super) fn inverse(&self) -> Res<Self> {
        self.raised(Q::int(-1))
    }
}

impl PartialOrd for Mono {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Lexicographic with absent kernels counted as exponent zero, so that the order respects multiplication.
impl Ord for Mono {
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut left, mut right) = (self.0.as_slice(), other.0.as_slice());
        loop {
            let order = match (left.first(), right.first()) {
                (None, None) => return Ordering::Equal,
                (Some(x), Some(y)) if x.0 == y.0 => {
                    (left, right) = (&left[1..], &right[1..]);
                    x.1.cmp(&y.1)
                }
                (Some(x), Some(y)) if x.0 > y.0 => {
                    right = &right[1..];
                    Q::ZERO.cmp(&y.1)
                }
                (Some(x), _) => {
                    left = &left[1..];
                    x.1.cmp(&Q::ZERO)
                }
                (None, Some(y)) => {
                    right = &right[1..];
                    Q::ZERO.cmp(&y.1)
                }
            };
            if order != Ordering::Equal {
                return order;
            }
        }
    }
}

/// A sum of monomials with non-zero coefficients, the largest monomial first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Poly(pub(super) Vec<(Mono, Rational)>);

impl Poly {
    pub(super) fn zero() -> Self {
        Self(Vec::new())
    }

    pub(super) fn one() -> Self {
        Self::constant(Rational::ONE)
    }

    pub(super) fn int(value: i64) -> Self {
        Self::constant(Rational::from(value))
    }

    pub(super) fn constant(value: Rational) -> Self {
        Self::term(Mono::one(), value)
    }

    pub(super) fn term(mono: Mono, value: Rational) -> Self {
        if value.is_zero() { Self::zero() } else { Self(vec![(mono, value)]) }
    }

    pub(super) fn kernel(id: Id, exponent: Q) -> Self {
        Self::term(Mono::of(id, exponent), Rational::ONE)
    }

    /// Sorts terms and adds those of equal monomial.
    pub(super) fn collect(mut terms: Vec<(Mono, Rational)>) -> Self {
        if terms.len() > 1 {
            terms.sort_by(|a, b| b.0.cmp(&a.0));
            let mut out: Vec<(Mono, Rational)> = Vec::with_capacity(terms.len());
            for (mono, value) in terms {
                match out.last_mut() {
                    Some(last) if last.0 == mono => last.1 += value,
                    _ => out.push((mono, value)),
                }
            }
            terms = out;
        }
        terms.retain(|(_, value)| !value.is_zero());
        Self(terms)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The rational number this is, if it has no kernel.
    pub(super) fn as_rational(&self) -> Option<Rational> {
        match self.0.as_slice() {
            [] => Some(Rational::ZERO),
            [(mono, value)] if mono.is_one() => Some(value.clone()),
            _ => None,
        }
    }

    /// The integer this is, if it is one and short.
    pub(super) fn as_int(&self) -> Option<i64> {
        let value = self.as_rational()?;
        if value.is_int() { i64::try_from(value.numerator()).ok() } else { None }
    }

    pub(super) fn negated(&self) -> Self {
        Self(self.0.iter().map(|(m, c)| (m.clone(), -c.clone())).collect())
    }

    pub(super) fn scaled(&self, by: &Rational) -> Self {
        if by.is_zero() {
            return Self::zero();
        }
        if by.is_one() {
            return self.clone();
        }
        Self(self.0.iter().map(|(m, c)| (m.clone(), c * by)).collect())
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let add = |a: &Rational, b: &Rational| {
            let sum = a + b;
            Ok::<_, Infallible>((!sum.is_zero()).then_some(sum))
        };
        let Ok(terms) = merged(&self.0, &other.0, |a, b| b.cmp(a), add);
        Self(terms)
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.plus(&other.negated())
    }

    /// The kernels that occur, in order.
    pub(super) fn kernels(&self) -> Vec<Id> {
        let mut out: Vec<Id> = self.0.iter().flat_map(|(m, _)| m.0.iter().map(|(id, _)| *id)).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    pub(super) fn has(&self, kernel: Id) -> bool {
        self.0.iter().any(|(m, _)| !m.exponent(kernel).is_zero())
    }

    /// The positive rational c such that the coefficients of self/c are coprime integers.
    pub(super) fn content(&self) -> Rational {
        let mut num = UBig::ZERO;
        let mut den = UBig::ONE;
        for (_, c) in &self.0 {
            let top = c.numerator().clone().into_parts().1;
            num = if num.is_zero() { top } else { num.gcd(top) };
            let common = (&den).gcd(c.denominator());
            den = den / common * c.denominator();
        }
        if num.is_zero() { Rational::ONE } else { Rational::from_parts(IBig::from(num), den) }
    }

    /// The largest monomial that divides every term: the least exponent of every kernel.
    pub(super) fn common_mono(&self) -> Mono {
        let Some((first, _)) = self.0.first() else { return Mono::one() };
        let mut least: Vec<(Id, Q)> = self.kernels().into_iter().map(|id| (id, first.exponent(id))).collect();
        for (mono, _) in &self.0[1..] {
            for (id, low) in &mut least {
                *low = (*low).min(mono.exponent(*id));
            }
        }
        least.retain(|(_, e)| !e.is_zero());
        Mono(least)
    }

    /// How many words the coefficients take, for the fuel.
    pub(super) fn words(&self) -> u64 {
        self.0.iter().map(|(_, c)| words(c)).sum()
    }
}

/// Two lists sorted by their keys as one, with the values of equal keys added; `add` gives `None` for a sum of zero,
/// which is left out.
fn merged<K: Clone, V: Clone, E>(
    a: &[(K, V)],
    b: &[(K, V)],
    order: impl Fn(&K, &K) -> Ordering,
    add: impl Fn(&V, &V) -> Result<Option<V>, E>,
) -> Result<Vec<(K, V)>, E> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a, b);
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        match order(&x.0, &y.0) {
            Ordering::Less => {
                out.push(x.clone());
                a = a_rest;
            }
            Ordering::Greater => {
                out.push(y.clone());
                b = b_rest;
            }
            Ordering::Equal => {
                out.extend(add(&x.1, &y.1)?.map(|sum| (x.0.clone(), sum)));
                (a, b) = (a_rest, b_rest);
            }
        }
    }
    out.extend_from_slice(a);
    out.extend_from_slice(b);
    Ok(out)
}

/// How many machine words a rational number takes.
pub(super) fn words(value: &Rational) -> u64 {
    use dashu_int::ops::BitTest;
    ((value.numerator().bit_len() + value.denominator().bit_len()) as u64) / 64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mono(parts: &[(Id, i64)]) -> Mono {
        Mono(parts.iter().map(|(id, e)| (*id, Q::int(*e))).collect())
    }

    #[test]
    fn order_respects_multiplication() {
        let all =
            [mono(&[]), mono(&[(1, 2)]), mono(&[(2, 1)]), mono(&[(1, -1), (2, 3)]), mono(&[(1, 1), (3, 1)])];
        for a in &all {
            for b in &all {
                for c in &all {
                    assert_eq!(
                        a.cmp(b),
                        a.joined(c).unwrap().cmp(&b.joined(c).unwrap()),
                        "{a:?} {b:?} {c:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn content_and_common_monomial() {
        // 4/3 x² y − 2 x = 2/3 x (2 x y − 3)
        let p = Poly::collect(vec![
            (mono(&[(1, 2), (2, 1)]), Rational::from_parts(4.into(), 3u8.into())),
            (mono(&[(1, 1)]), Rational::from(-2)),
        ]);
        assert_eq!(p.content(), Rational::from_parts(2.into(), 3u8.into()));
        assert_eq!(p.common_mono(), mono(&[(1, 1)]));
    }
}
