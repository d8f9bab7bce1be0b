//! Coarse certified enclosures in `f64`, to find signs and to choose between conjugates.

use super::{
    exponent::Q,
    field::Field,
    kernel::Kernel,
    poly::{Id, Mono, Poly},
};
use crate::expr::{Function, Rational};

/// A closed interval that certainly contains a real number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A rectangle that certainly contains a complex number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) re: Interval,
    pub(super) im: Interval,
}

impl Interval {
    const ZERO: Self = Self { low: 0.0, high: 0.0 };

    /// Around a value computed with an error of a few units in the last place.
    fn near(value: f64) -> Self {
        Self { low: value, high: value }.widened()
    }

    fn widened(self) -> Self {
        let slop = |v: f64| v.abs() * 8.0 * f64::EPSILON + f64::MIN_POSITIVE;
        Self { low: self.low - slop(self.low), high: self.high + slop(self.high) }
    }

    fn plus(self, other: Self) -> Self {
        if self == Self::ZERO {
            return other;
        }
        Self { low: self.low + other.low, high: self.high + other.high }.widened()
    }

    fn times(self, other: Self) -> Self {
        if self == Self::ZERO || other == Self::ZERO {
            return Self::ZERO;
        }
        let all =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { low, high }.widened()
    }

    /// A function that grows with its argument.
    fn through(self, f: impl Fn(f64) -> f64) -> Option<Self> {
        Self { low: f(self.low), high: f(self.high) }.widened().finite()
    }

    fn finite(self) -> Option<Self> {
        (self.low.is_finite() && self.high.is_finite()).then_some(self)
    }

    pub(super) fn excludes_zero(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    pub(super) fn middle(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }
}

fn real(re: Interval) -> Region {
    Region { re, im: Interval::ZERO }
}

impl Region {
    fn times(self, other: Self) -> Option<Self> {
        let minus = |s: Interval| Interval { low: -s.high, high: -s.low };
        let re = self.re.times(other.re).plus(minus(self.im.times(other.im)));
        let im = self.re.times(other.im).plus(self.im.times(other.re));
        Some(Self { re: re.finite()?, im: im.finite()? })
    }
}

fn to_f64(value: &Rational) -> Option<f64> {
    use dashu_int::ops::BitTest;
    if value.numerator().bit_len() > 1000 || value.denominator().bit_len() > 1000 {
        return None;
    }
    Some(value.to_f64_fast()).filter(|v| v.is_finite())
}

fn exponent_f64(q: Q) -> f64 {
    q.num() as f64 / q.den() as f64
}

impl Field<'_> {
    /// The value of a form without variables, enclosed.
    pub(super) fn region(&self, p: &Poly) -> Option<Region> {
        self.region_at(p, 0)
    }

    /// The value of a real form without variables, enclosed.
    pub(super) fn span(&self, p: &Poly) -> Option<Interval> {
        self.region(p).filter(|r| r.im == Interval::ZERO).map(|r| r.re)
    }

    /// Surely above zero.
    pub(super) fn positive(&self, p: &Poly) -> bool {
        self.span(p).is_some_and(|s| s.low > 0.0)
    }

    fn region_at(&self, p: &Poly, depth: u32) -> Option<Region> {
        if depth > 8 || p.len() > 200 {
            return None;
        }
        let mut sum = real(Interval::ZERO);
        for (mono, value) in &p.0 {
            let mut term = real(Interval::near(to_f64(value)?));
            for (id, exponent) in &mono.0 {
                term = term.times(self.kernel_region(*id, *exponent, depth)?)?;
            }
            sum = Region { re: sum.re.plus(term.re).finite()?, im: sum.im.plus(term.im).finite()? };
        }
        Some(sum)
    }

    fn kernel_region(&self, id: Id, exponent: Q, depth: u32) -> Option<Region> {
        self.fuel.spend(20).ok()?;
        let e = exponent_f64(exponent);
        let inner = |p: &Poly| self.region_at(p, depth + 1).filter(|r| r.im == Interval::ZERO).map(|r| r.re);
        let base = match self.table.get(id) {
            Kernel::Unit => {
                if exponent == Q::HALF {
                    return Some(Region { re: Interval::ZERO, im: Interval { low: 1.0, high: 1.0 } });
                }
                let angle = e * std::f64::consts::PI;
                let part = |v: f64| Interval { low: v - 1e-14, high: v + 1e-14 };
                return (e.abs() < 4.0)
                    .then(|| Region { re: part(libm::cos(angle)), im: part(libm::sin(angle)) });
            }
            Kernel::Pi => Interval::near(std::f64::consts::PI),
            Kernel::Prime(value, _) => Interval::near(to_f64(&Rational::from(value.clone()))?),
            Kernel::Exp(mono) => inner(&Poly::term(mono.clone(), Rational::ONE))?.through(libm::exp)?,
            Kernel::Ln(p) => {
                let span = inner(p).filter(|s| s.low > 0.0)?;
                Interval { low: libm::log(span.low), high: libm::log(span.high) }.loosened(1e-15)
            }
            Kernel::Base(p) => inner(p)?,
            Kernel::Call(Function::Arctan, args) => inner(args.first()?)?.through(libm::atan)?,
            Kernel::Call(Function::Arcsin, args) => {
                let span = inner(args.first()?).filter(|s| s.low > -0.99 && s.high < 0.99)?;
                span.through(libm::asin)?
            }
            _ => return None,
        };
        if exponent == Q::ONE {
            return Some(real(base));
        }
        if base.low <= 0.0 || e.abs() > 1e6 {
            return None;
        }
        // pow's error is a few units in the last place for moderate results, which `widened` covers.
        let (a, b) = (libm::pow(base.low, e), libm::pow(base.high, e));
        Interval { low: a.min(b), high: a.max(b) }.widened().finite().map(real)
    }

    /// The sign of a real number, if the enclosure tells.
    pub(super) fn sign_of(&self, p: &Poly) -> Option<i64> {
        if let Some(value) = p.as_rational() {
            return Some(if value.is_zero() {
                0
            } else if value > Rational::ZERO {
                1
            } else {
                -1
            });
        }
        let span = self.span(p)?;
        span.excludes_zero().then_some(if span.low > 0.0 { 1 } else { -1 })
    }

    /// Whether one monomial is a positive number.
    pub(super) fn positive_mono(&self, mono: &Mono) -> bool {
        self.positive(&Poly::term(mono.clone(), Rational::ONE))
    }
}

impl Interval {
    /// Wider by an absolute amount, for functions with a root, where relative error says little.
    fn loosened(self, by: f64) -> Self {
        let wide = self.widened();
        Self { low: wide.low - by, high: wide.high + by }
    }
}
