//! Absolute values, real and imaginary parts, conjugates.

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::{Kernel, UNIT},
    poly::{Mono, Poly},
};
use crate::expr::{Function, Rational};

impl Field<'_> {
    pub(super) fn real_mono(&self, mono: &Mono) -> bool {
        self.table.real_mono(mono)
    }

    pub(super) fn real(&self, p: &Poly) -> bool {
        self.table.real(p)
    }

    /// |p|^r.
    pub(super) fn absolute_power(&mut self, p: &Poly, r: Q) -> Res<Poly> {
        self.fuel.spend(4)?;
        if p.is_empty() {
            return if r > Q::ZERO { Ok(Poly::zero()) } else { Err(FormError::Undefined) };
        }
        if !self.real(p) {
            return self.complex_size(p, r);
        }
        if r.is_int() && r.num() % 2 == 0 {
            return self.power_int(p, r.num());
        }
        if let Some(sign) = self.sign_of(p).filter(|s| *s != 0) {
            let size = p.scaled(&Rational::from(sign));
            return if r.is_int() { self.power_int(&size, r.num()) } else { self.power_fraction(&size, r) };
        }
        let (num, below) = self.cleared(p)?;
        let (value, mono, rest) = self.split(&num, true)?;
        let mono = mono.joined(&below)?;
        let size = if value < Rational::ZERO { -value } else { value };
        let mut out = self.number_power(&size, r)?;
        for (id, e) in &mono.0 {
            let power = e.times(r)?;
            let part = if e.den() % 2 == 0 || self.never_negative(*id) {
                self.single(Mono::of(*id, power), Rational::ONE)?
            } else {
                let inner = match self.table.get(*id) {
                    Kernel::Base(inner) => inner.clone(),
                    _ => Poly::kernel(*id, Q::ONE),
                };
                self.absolute_kernel(inner, power)?
            };
            out = self.mul(&out, &part)?;
        }
        if rest.len() > 1 {
            let part = self.absolute_kernel(rest, r)?;
            out = self.mul(&out, &part)?;
        }
        self.expanded_or_same(&out)
    }

    fn absolute_kernel(&mut self, inner: Poly, power: Q) -> Res<Poly> {
        let id = self.intern(Kernel::Abs(inner))?;
        self.expanded_or_same(&Poly::kernel(id, power))
    }

    /// |a + bi|^r = (a² + b²)^{r/2} where both parts are real.
    fn complex_size(&mut self, p: &Poly, r: Q) -> Res<Poly> {
        let half = r.times(Q::HALF)?;
        let Some(conjugate) = self.conjugated(p)? else {
            let id = self.intern(Kernel::Call(Function::Abs, vec![p.clone()]))?;
            return Ok(Poly::kernel(id, r));
        };
        let square = self.mul(p, &conjugate)?;
        let square = self.simplified(&square)?;
        let square = self.units_reduced(&square)?;
        match half.as_int() {
            Some(n) => self.power_int(&square, n),
            None if square.has(UNIT) => {
                let id = self.intern(Kernel::Call(Function::Abs, vec![p.clone()]))?;
                Ok(Poly::kernel(id, r))
            }
            None => self.power_fraction(&square, half),
        }
    }

    /// The complex conjugate, when every kernel's is known.
    pub(super) fn conjugated(&mut self, p: &Poly) -> Res<Option<Poly>> {
        let mut out = Poly::zero();
        for (mono, value) in &p.0 {
            let mut term = Poly::constant(value.clone());
            for (id, e) in &mono.0 {
                let part = if *id == UNIT {
                    self.single(Mono::of(UNIT, e.negated()?), Rational::ONE)?
                } else if self.table.properties(*id).real {
                    Poly::kernel(*id, *e)
                } else if let Kernel::Exp(inner) = self.table.get(*id).clone() {
                    let Some(inner) = self.conjugated(&Poly::term(inner, Rational::ONE))? else {
                        return Ok(None);
                    };
                    self.exponential(&inner.scaled(&e.to_rational()))?
                } else if let (Kernel::Base(inner), true) = (self.table.get(*id).clone(), e.is_int()) {
                    let Some(inner) = self.conjugated(&inner)? else { return Ok(None) };
                    self.power_int(&inner, e.num())?
                } else {
                    return Ok(None);
                };
                term = self.mul(&term, &part)?;
            }
            out = self.sum(&out, &term)?;
        }
        Ok(Some(out))
    }
}
