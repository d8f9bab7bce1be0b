//! Simplification: cleared denominators, reduced powers of kernels, exact division.

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::Kernel,
    poly::{Id, Mono, Poly},
};
use crate::expr::Rational;

impl Field<'_> {
    /// The polynomial without denominators, and the monomial it has to be multiplied with.
    pub(super) fn cleared(&self, p: &Poly) -> Res<(Poly, Mono)> {
        let mut below = self.least_powers(p, |kernel| matches!(kernel, Kernel::Base(_)));
        below.0.retain(|(_, least)| *least < Q::ZERO);
        if below.is_one() {
            return Ok((p.clone(), below));
        }
        let upper = below.inverse()?;
        Ok((self.mul(p, &Poly::term(upper, Rational::ONE))?, below))
    }

    /// The least whole exponents, other than zero, of some kernels.
    pub(super) fn least_powers(&self, p: &Poly, of: impl Fn(&Kernel) -> bool) -> Mono {
        let least = |id| p.0.iter().map(|(m, _)| m.exponent(id).floor()).min().unwrap_or(0);
        let kernels = p.kernels().into_iter().filter(|id| of(self.table.get(*id)));
        Mono(kernels.map(|id| (id, Q::int(least(id)))).filter(|(_, least)| !least.is_zero()).collect())
    }

    fn unfolds(&self, id: Id, exponent: Q) -> bool {
        match self.table.get(id) {
            Kernel::Base(_) => exponent >= Q::ONE,
            Kernel::Abs(_) => exponent >= Q::int(2) || exponent < Q::ZERO,
            _ => false,
        }
    }

    /// Every whole power of a base and every even power of an absolute value multiplied out.
    pub(super) fn expanded(&mut self, p: &Poly) -> Res<Poly> {
        let mut current = p.clone();
        for _ in 0..6 {
            if !current.0.iter().any(|(m, _)| m.0.iter().any(|(id, e)| self.unfolds(*id, *e))) {
                break;
            }
            let mut sum = Vec::new();
            for (mono, value) in &current.0 {
                let mut rest = Mono::one();
                let mut factors = Vec::new();
                for (id, exponent) in &mono.0 {
                    if !self.unfolds(*id, *exponent) {
                        rest.0.push((*id, *exponent));
                        continue;
                    }
                    let (inner, whole) = match self.table.get(*id) {
                        Kernel::Base(inner) => (inner.clone(), exponent.floor()),
                        Kernel::Abs(inner) => (inner.clone(), exponent.floor().div_euclid(2) * 2),
                        _ => continue,
                    };
                    let left = exponent.minus(Q::int(whole))?;
                    if !left.is_zero() {
                        rest.0.push((*id, left));
                    }
                    factors.push((inner, whole));
                }
                let mut term = Poly::term(rest, value.clone());
                for (inner, whole) in factors {
                    let power = self.power_int(&inner, whole)?;
                    if power.len() == 1 && inner.len() > 1 && whole > 0 {
                        return Err(FormError::Large);
                    }
                    term = self.mul(&term, &power)?;
                }
                self.fuel.spend(term.len() as u64)?;
                sum.extend(term.0);
                if sum.len() > 20_000 {
                    return Err(FormError::Large);
                }
            }
            current = Poly::collect(sum);
        }
        Ok(current)
    }

    /// As `expanded`, or the polynomial as it is when that would be too large.
    pub(super) fn expanded_or_same(&mut self, p: &Poly) -> Res<Poly> {
        match self.expanded(p) {
            Err(FormError::Large) => Ok(p.clone()),
            other => other,
        }
    }

    /// A shorter equal form: common factors of numerator and denominator cancelled.
    pub(super) fn simplified(&mut self, p: &Poly) -> Res<Poly> {
        match self.try_simplify(p) {
            Err(FormError::Large) => Ok(p.clone()),
            other => other,
        }
    }

    fn try_simplify(&mut self, p: &Poly) -> Res<Poly> {
        let (num, mut below) = self.cleared(p)?;
        let num = self.expanded(&num)?;
        let mut num = self.units_reduced(&num)?;
        if num.is_empty() || below.is_one() {
            return Ok(num);
        }
        let mut replaced = Vec::new();
        for (id, exponent) in &mut below.0 {
            let Kernel::Base(factor) = self.table.get(*id).clone() else { continue };
            while exponent.num() < 0 {
                let Some(quotient) = self.divided(&num, &factor)? else { break };
                num = quotient;
                *exponent = exponent.plus(Q::ONE)?;
            }
            if exponent.num() < 0 && num.len() > 1 && num.len() < factor.len() {
                let (value, mono, rest) = self.split(&num, true)?;
                if let Some(quotient) = self.divided(&factor, &rest)? {
                    num = Poly::term(mono, value);
                    *exponent = exponent.plus(Q::ONE)?;
                    replaced.push(quotient);
                }
            }
        }
        below.0.retain(|(_, e)| !e.is_zero());
        let mut out = self.mul(&num, &Poly::term(below, Rational::ONE))?;
        for factor in replaced {
            let inverse = self.invert(&factor)?;
            out = self.mul(&out, &inverse)?;
        }
        Ok(out)
    }

    /// The exact quotient, if there is one.
    pub(super) fn divided(&self, num: &Poly, den: &Poly) -> Res<Option<Poly>> {
        let (Some(lead), Some(tail)) = (den.0.first(), den.0.last()) else { return Ok(None) };
        let Some(last) = num.0.last() else { return Ok(Some(Poly::zero())) };
        if num.len() > 300 || den.len() > 60 {
            return Ok(None);
        }
        let lead_inverse = lead.0.inverse()?;
        // The least term of a product is the product of the least terms: below this, no quotient.
        let bound = last.0.joined(&tail.0.inverse()?)?;
        let mut rest = num.clone();
        let mut quotient = Vec::new();
        while let Some((mono, value)) = rest.0.first() {
            let mono = mono.joined(&lead_inverse)?;
            if mono < bound || quotient.len() > 200 {
                return Ok(None);
            }
            let step = self.single(mono, value.clone() / &lead.1)?;
            let before = rest.0.first().map(|(m, _)| m.clone());
            rest = self.difference(&rest, &self.mul(den, &step)?)?;
            if rest.0.first().is_some_and(|(m, _)| before.is_none_or(|b| *m >= b)) {
                return Ok(None);
            }
            quotient.extend(step.0);
        }
        Ok(Some(Poly::collect(quotient)))
    }
}
