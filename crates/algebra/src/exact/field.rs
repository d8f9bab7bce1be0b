//! Arithmetic of canonical forms: reduced products, inverses, integer powers, common denominators.

use dashu_int::{IBig, ops::BitTest};

use super::{
    exponent::Q,
    kernel::{Kernel, Table, UNIT},
    poly::{Id, Mono, Poly, words},
    zero::ZeroTest,
};
use crate::{
    expr::{Rational, Symbol},
    fuel::{Fuel, OutOfFuel},
    squaring,
};

/// Why an expression has no canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormError {
    /// The fuel is spent.
    Fuel,
    /// The expression has no value, as 1/0.
    Undefined,
    /// The expanded form would be too large: the caller keeps the expression unexpanded.
    Large,
}

impl From<OutOfFuel> for FormError {
    fn from(_: OutOfFuel) -> Self {
        Self::Fuel
    }
}

pub(super) type Res<T> = Result<T, FormError>;

/// The most term products of one multiplication, which bounds its memory.
const PAIRS: usize = 20_000;
/// The most terms of an expanded polynomial.
pub(super) const TERMS: usize = 2_000;
/// The most bits of a coefficient.
pub(super) const BITS: usize = 1 << 15;
/// The most kernels of one call.
const KERNELS: usize = 4_000;
/// The most coefficient words of one polynomial.
const WORDS: u64 = 100_000;

/// The state of one call: its kernels, its fuel, and the values of bound variables.
pub(super) struct Field<'f> {
    pub(super) fuel: &'f Fuel,
    pub(super) table: Table,
    pub(super) scope: Vec<(Symbol, Poly)>,
    pub(super) binders: u32,
    pub(super) depth: u32,
}

impl<'f> Field<'f> {
    pub(super) fn new(fuel: &'f Fuel) -> Self {
        Self { fuel, table: Table::new(), scope: Vec::new(), binders: 0, depth: 0 }
    }

    pub(super) fn intern(&mut self, kernel: Kernel) -> Res<Id> {
        // Kernels are kept until the call ends: their size costs fuel, so that the fuel bounds the memory.
        self.fuel.spend(30 + 60 * kernel.terms())?;
        if self.table.len() > KERNELS {
            return Err(FormError::Fuel);
        }
        Ok(self.table.intern(kernel))
    }

    /// The value if one was found, or else a kernel; also where the value would be too large.
    pub(super) fn found_or(&mut self, found: Res<Option<Poly>>, kernel: Kernel) -> Res<Poly> {
        match found {
            Ok(Some(value)) => Ok(value),
            Ok(None) | Err(FormError::Large) => self.atom(kernel),
            Err(stop) => Err(stop),
        }
    }

    /// A kernel to the first power, as a polynomial.
    pub(super) fn atom(&mut self, kernel: Kernel) -> Res<Poly> {
        Ok(Poly::kernel(self.intern(kernel)?, Q::ONE))
    }

    /// The imaginary unit.
    pub(super) fn i() -> Poly {
        Poly::kernel(UNIT, Q::HALF)
    }

    /// Brings the exponents of roots of unity and of numbers into [0, 1); the rest becomes a factor.
    pub(super) fn reduce(&self, mono: &mut Mono) -> Res<Option<Rational>> {
        let mut factor: Option<Rational> = None;
        for (id, exponent) in &mut mono.0 {
            if !self.table.reduces(*id) {
                continue;
            }
            let whole = exponent.floor();
            if whole == 0 {
                continue;
            }
            let rest = exponent.minus(Q::int(whole))?;
            let part = match self.table.get(*id) {
                Kernel::Prime(prime, _) => {
                    let size = usize::try_from(whole.unsigned_abs()).unwrap_or(usize::MAX);
                    let bits = prime.bit_len().saturating_mul(size);
                    if bits > BITS {
                        continue;
                    }
                    self.fuel.spend(bits as u64 / 8)?;
                    let power = Rational::from(IBig::from(prime.pow(size)));
                    if whole < 0 { Rational::ONE / power } else { power }
                }
                _ if whole.rem_euclid(2) == 1 => Rational::from(-1),
                _ => Rational::ONE,
            };
            *exponent = rest;
            factor = Some(factor.map_or(part.clone(), |f| f * part));
        }
        if factor.is_some() {
            mono.0.retain(|(_, e)| !e.is_zero());
        }
        Ok(factor)
    }

    /// A coefficient times a monomial, reduced.
    pub(super) fn single(&self, mut mono: Mono, value: Rational) -> Res<Poly> {
        let factor = self.reduce(&mut mono)?;
        Ok(Poly::term(mono, factor.map_or(value.clone(), |f| f * value)))
    }

    /// The expanded product.
    pub(super) fn mul(&self, a: &Poly, b: &Poly) -> Res<Poly> {
        let pairs = a.len().saturating_mul(b.len());
        if pairs > PAIRS {
            return Err(FormError::Large);
        }
        let (wide_a, wide_b) = (a.words(), b.words());
        self.fuel.spend(20 + 30 * pairs as u64 + wide_a.saturating_mul(wide_b) * 6)?;
        if (wide_a * b.len() as u64).saturating_add(wide_b * a.len() as u64) > WORDS {
            return Err(FormError::Large);
        }
        let mut terms = Vec::with_capacity(pairs);
        for (ma, ca) in &a.0 {
            for (mb, cb) in &b.0 {
                let mut mono = ma.joined(mb)?;
                let mut value = ca * cb;
                if let Some(factor) = self.reduce(&mut mono)? {
                    value *= factor;
                }
                if words(&value) > 2 * BITS as u64 / 64 + 2 {
                    return Err(FormError::Large);
                }
                terms.push((mono, value));
            }
        }
        let out = Poly::collect(terms);
        if out.len() > TERMS { Err(FormError::Large) } else { Ok(out) }
    }

    /// The product, with factors too large to multiply out kept as kernels.
    pub(super) fn times(&mut self, a: &Poly, b: &Poly) -> Res<Poly> {
        match self.mul(a, b) {
            Err(FormError::Large) => {
                let (a, b) = (self.folded(a)?, self.folded(b)?);
                self.mul(&a, &b)
            }
            other => other,
        }
    }

    /// The polynomial as one term: its content and a kernel for the rest.
    pub(super) fn folded(&mut self, p: &Poly) -> Res<Poly> {
        if p.len() < 2 {
            return Ok(p.clone());
        }
        let (value, mono, rest) = self.split(p, true)?;
        let id = self.intern(Kernel::Base(rest))?;
        self.mul(&Poly::term(mono, value), &Poly::kernel(id, Q::ONE))
    }

    pub(super) fn sum(&self, a: &Poly, b: &Poly) -> Res<Poly> {
        self.fuel.spend(10 + 8 * (a.len() + b.len()) as u64 + 8 * (a.words() + b.words()))?;
        let out = a.plus(b);
        if out.len() > 4 * TERMS { Err(FormError::Fuel) } else { Ok(out) }
    }

    pub(super) fn difference(&self, a: &Poly, b: &Poly) -> Res<Poly> {
        self.sum(a, &b.negated())
    }

    /// Coefficient, monomial and primitive rest of a polynomial; the rest starts positive if given, and is 1
    /// for a single term.
    pub(super) fn split(&self, p: &Poly, fix_sign: bool) -> Res<(Rational, Mono, Poly)> {
        self.fuel.spend(20 + 20 * p.len() as u64 + 4 * p.words())?;
        let common = p.common_mono();
        let mut rest = p.clone();
        if !common.is_one() {
            let inverse = common.inverse()?;
            rest = self.mul(p, &Poly::term(inverse, Rational::ONE))?;
        }
        let mut content = rest.content();
        if (fix_sign || rest.len() == 1) && rest.0.first().is_some_and(|(_, c)| *c < Rational::ZERO) {
            content = -content;
        }
        if !content.is_one() {
            rest = rest.scaled(&(Rational::ONE / content.clone()));
        }
        Ok((content, common, rest))
    }

    /// One over a polynomial.
    pub(super) fn invert(&mut self, p: &Poly) -> Res<Poly> {
        self.fuel.spend(4)?;
        match p.0.as_slice() {
            [] => return Err(FormError::Undefined),
            [(mono, value)] => {
                let mono = mono.inverse()?;
                return self.single(mono, Rational::ONE / value.clone());
            }
            _ => {}
        }
        let (num, below) = self.cleared(p)?;
        let num = self.expanded_or_same(&num)?;
        let num = self.units_reduced(&num)?;
        let upper = Poly::term(below.inverse()?, Rational::ONE);
        if num.len() < 2 {
            let inverse = self.invert(&num)?;
            return self.mul(&upper, &inverse);
        }
        if let Some((conjugate, norm)) = self.conjugate_root(&num)? {
            let inverse = self.invert(&norm)?;
            let product = self.times(&conjugate, &inverse)?;
            return self.times(&upper, &product);
        }
        let (value, mono, rest) = self.split(&num, true)?;
        if !self.only_symbols(&rest) && self.decide(&rest)? == ZeroTest::Zero {
            return Err(FormError::Undefined);
        }
        let id = self.intern(Kernel::Base(rest))?;
        let mono = mono.inverse().and_then(|m| m.joined(&Mono::of(id, Q::int(-1))))?;
        let inverse = self.single(mono, Rational::ONE / value)?;
        self.mul(&upper, &inverse)
    }

    /// For a number in square roots and i: a conjugate, and the product with it, in which one root is gone.
    fn conjugate_root(&self, p: &Poly) -> Res<Option<(Poly, Poly)>> {
        let kernels = p.kernels();
        let square_root = |id: Id| {
            matches!(self.table.get(id), Kernel::Unit | Kernel::Prime(..))
                && p.0.iter().all(|(m, _)| matches!(m.exponent(id), Q::ZERO | Q::HALF))
        };
        if p.len() > 16 || kernels.is_empty() || !kernels.iter().all(|id| square_root(*id)) {
            return Ok(None);
        }
        let id = kernels[kernels.len() - 1];
        let flip = |(m, c): &(Mono, Rational)| {
            (m.clone(), if m.exponent(id).is_zero() { c.clone() } else { -c.clone() })
        };
        let conjugate = Poly(p.0.iter().map(flip).collect());
        let norm = self.mul(p, &conjugate)?;
        Ok((!norm.has(id) && !norm.is_empty()).then_some((conjugate, norm)))
    }

    pub(super) fn only_symbols(&self, p: &Poly) -> bool {
        p.0.iter().all(|(m, _)| m.0.iter().all(|(id, _)| matches!(self.table.get(*id), Kernel::Symbol(_))))
    }

    /// A whole power, expanded while small.
    pub(super) fn power_int(&mut self, p: &Poly, n: i64) -> Res<Poly> {
        self.fuel.spend(4)?;
        match (p.0.as_slice(), n) {
            // 0^0 is 1, as in sums and binomial coefficients.
            (_, 0) => return Ok(Poly::one()),
            (_, 1) => return Ok(p.clone()),
            ([], _) if n < 0 => return Err(FormError::Undefined),
            ([], _) => return Ok(Poly::zero()),
            ([(mono, value)], _) => {
                let value = self.number_power(value, Q::int(n))?;
                let mono = mono.raised(Q::int(n))?;
                return self.mul(&self.single(mono, Rational::ONE)?, &value);
            }
            _ => {}
        }
        let size = n.unsigned_abs();
        if n > 0 && self.small_power(p, size) {
            match squaring::power(p.clone(), size.into(), |a, b| self.mul(a, b)) {
                Err(FormError::Large) => {}
                other => return other,
            }
        }
        let inverse = if n < 0 { self.invert(p)? } else { self.folded(p)? };
        if inverse.len() == 1 || n < 0 {
            return self.power_int(&inverse, i64::try_from(size).map_err(|_| FormError::Large)?);
        }
        Err(FormError::Large)
    }

    /// Whether the expansion stays below the term and coefficient limits.
    fn small_power(&self, p: &Poly, n: u64) -> bool {
        let numeric = p.0.iter().all(|(m, _)| m.0.iter().all(|(id, _)| self.table.reduces(*id)));
        let bits = p.words().saturating_mul(64).saturating_mul(n);
        if numeric {
            return bits < BITS as u64 * 4 && n < 400;
        }
        let extra = p.len() as u64 - 1;
        let mut count: u64 = 1;
        for k in 1..=extra.min(n) {
            count = count.saturating_mul(extra.max(n) + k) / k;
            if count > 400 {
                return false;
            }
        }
        n <= 64 && bits < BITS as u64 * 4
    }
}
