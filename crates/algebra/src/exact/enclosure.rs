//! Enclosures of canonical forms without variables, in doubles, to find signs and to choose between conjugates.

use std::cmp::Ordering;

use super::{
    exponent::Q,
    field::Field,
    kernel::Kernel,
    poly::{Id, Mono, Poly},
};
use crate::approx::interval::{Interval, arcsin};
use crate::expr::{Function, Rational};

/// The precision of doubles.
const BITS: u32 = 53;

/// A rectangle that certainly contains a complex number.
#[derive(Clone, Debug)]
pub(super) struct Region {
    re: Interval<f64>,
    im: Interval<f64>,
}

impl Region {
    fn real(re: Interval<f64>) -> Self {
        Self { re, im: Interval::small(0) }
    }

    /// The real part, where there is no other.
    fn into_real(self) -> Option<Interval<f64>> {
        (self.im.sign() == Some(Ordering::Equal)).then_some(self.re)
    }

    fn bounded(self) -> Option<Self> {
        (self.re.is_bounded() && self.im.is_bounded()).then_some(self)
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        Self { re: self.re.add(&other.re, BITS), im: self.im.add(&other.im, BITS) }.bounded()
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let mul = |a: &Interval<f64>, b: &Interval<f64>| a.mul(b, BITS);
        let re = mul(&self.re, &other.re).sub(&mul(&self.im, &other.im), BITS);
        let im = mul(&self.re, &other.im).add(&mul(&self.im, &other.re), BITS);
        Self { re, im }.bounded()
    }

    /// Surely not zero.
    pub(super) fn excludes_zero(&self) -> bool {
        [&self.re, &self.im]
            .iter()
            .any(|part| matches!(part.sign(), Some(Ordering::Less | Ordering::Greater)))
    }

    /// An upper bound of the square of the absolute value.
    pub(super) fn largest_square(&self) -> f64 {
        self.re.square(BITS).add(&self.im.square(BITS), BITS).high
    }
}

impl Field<'_> {
    /// The value of a form without variables, enclosed.
    pub(super) fn region(&self, p: &Poly) -> Option<Region> {
        self.region_at(p, 0)
    }

    /// The value of a real form without variables, enclosed.
    pub(super) fn span(&self, p: &Poly) -> Option<Interval<f64>> {
        self.region(p)?.into_real()
    }

    /// Surely above zero.
    pub(super) fn positive(&self, p: &Poly) -> bool {
        self.span(p).is_some_and(|span| span.sign() == Some(Ordering::Greater))
    }

    fn region_at(&self, p: &Poly, depth: u32) -> Option<Region> {
        if depth > 8 || p.len() > 200 {
            return None;
        }
        let mut sum = Region::real(Interval::small(0));
        for (mono, value) in &p.0 {
            let mut term = Region::real(Interval::of_rational(value, BITS));
            for (id, exponent) in &mono.0 {
                term = term.times(&self.kernel_region(*id, *exponent, depth)?)?;
            }
            sum = sum.plus(&term)?;
        }
        Some(sum)
    }

    fn kernel_region(&self, id: Id, exponent: Q, depth: u32) -> Option<Region> {
        self.fuel.spend(20).ok()?;
        let inner = |p: &Poly| self.region_at(p, depth + 1)?.into_real();
        let by = Interval::<f64>::of_rational(&exponent.to_rational(), BITS);
        let base = match self.table.get(id) {
            Kernel::Unit if exponent == Q::HALF => {
                return Some(Region { re: Interval::small(0), im: Interval::small(1) });
            }
            Kernel::Unit => {
                let (im, re) = by.mul(&Interval::pi(BITS), BITS).sin_cos(BITS);
                return Some(Region { re, im });
            }
            Kernel::Pi => Interval::pi(BITS),
            Kernel::Prime(value, _) => Interval::of_rational(&Rational::from(value.clone()), BITS),
            Kernel::Exp(mono) => inner(&Poly::term(mono.clone(), Rational::ONE))?.exp(BITS),
            Kernel::Ln(p) => inner(p).filter(|span| span.sign() == Some(Ordering::Greater))?.ln(BITS),
            Kernel::Base(p) => inner(p)?,
            Kernel::Call(Function::Arctan, args) => inner(args.first()?)?.atan(BITS),
            Kernel::Call(Function::Arcsin, args) => {
                arcsin(&inner(args.first()?).filter(|span| span.low > -0.99 && span.high < 0.99)?, BITS)
            }
            _ => return None,
        };
        if exponent == Q::ONE {
            return Region::real(base).bounded();
        }
        if base.sign() != Some(Ordering::Greater) {
            return None;
        }
        let power =
            if exponent == Q::HALF { base.sqrt(BITS) } else { base.ln(BITS).mul(&by, BITS).exp(BITS) };
        Region::real(power).bounded()
    }

    /// The sign of a real number, if the enclosure tells.
    pub(super) fn sign_of(&self, p: &Poly) -> Option<i64> {
        let order = match p.as_rational() {
            Some(value) => value.cmp(&Rational::ZERO),
            None => self.span(p)?.sign()?,
        };
        Some(order as i64)
    }

    /// Whether one monomial is a positive number.
    pub(super) fn positive_mono(&self, mono: &Mono) -> bool {
        self.positive(&Poly::term(mono.clone(), Rational::ONE))
    }
}
