//! Exponentials and logarithms.

use dashu_int::{IBig, UBig};

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::{Kernel, PI, UNIT},
    poly::{Id, Mono, Poly},
};
use crate::expr::{Function, Rational};

impl Field<'_> {
    /// e to a form: one factor per term, so that e^{a+b} = e^a·e^b and e^{2a} = (e^a)².
    pub(super) fn exponential(&mut self, p: &Poly) -> Res<Poly> {
        let p = self.simplified(p)?;
        let mut out = Poly::one();
        for (mono, value) in &p.0 {
            self.fuel.spend(4)?;
            let exponent = Q::from_rational(value).ok_or(FormError::Large)?;
            let part = match mono.0.as_slice() {
                [(UNIT, Q::HALF), (PI, Q::ONE)] => self.unit(exponent)?,
                [(id, Q::ONE)] if matches!(self.table.get(*id), Kernel::Ln(_)) => {
                    self.of_logarithm(*id, exponent)?
                }
                [(UNIT, Q::HALF), (id, Q::ONE)] if exponent.is_int() && exponent.num().abs() <= 12 => {
                    match self.on_circle(*id)? {
                        Some(point) => self.power_int(&point, exponent.num())?,
                        None => self.exp_kernel(mono, exponent)?,
                    }
                }
                _ => self.exp_kernel(mono, exponent)?,
            };
            out = self.times(&out, &part)?;
        }
        Ok(out)
    }

    fn exp_kernel(&mut self, mono: &Mono, exponent: Q) -> Res<Poly> {
        let id = self.intern(Kernel::Exp(mono.clone()))?;
        Ok(Poly::kernel(id, exponent))
    }

    /// e^{r·ln p} = p^r.
    fn of_logarithm(&mut self, id: Id, r: Q) -> Res<Poly> {
        let Kernel::Ln(inner) = self.table.get(id).clone() else { return Err(FormError::Large) };
        if r.is_int() { self.power_int(&inner, r.num()) } else { self.power_fraction(&inner, r) }
    }

    /// e^{iθ} for θ an inverse function: (1 + iu)/√(1+u²) for arctan u, √(1−u²) + iu for arcsin u.
    fn on_circle(&mut self, id: Id) -> Res<Option<Poly>> {
        let Kernel::Call(function, args) = self.table.get(id).clone() else { return Ok(None) };
        let ([u], Function::Arctan | Function::Arcsin) = (args.as_slice(), function) else { return Ok(None) };
        if !self.real(u) {
            return Ok(None);
        }
        let square = self.mul(u, u)?;
        let up = self.mul(u, &Self::i())?;
        if function == Function::Arctan {
            let root = self.power_fraction(&Poly::one().plus(&square), Q::HALF)?;
            let inverse = self.invert(&root)?;
            return self.times(&Poly::one().plus(&up), &inverse).map(Some);
        }
        let root = self.power_fraction(&Poly::one().minus(&square), Q::HALF)?;
        Ok(Some(root.plus(&up)))
    }

    /// The natural logarithm. Products of variables split, since equality is decided on the real numbers:
    /// there ln of a product is the sum of the logarithms of absolute values.
    pub(super) fn logarithm(&mut self, p: &Poly) -> Res<Poly> {
        let p = self.simplified(p)?;
        if p.is_empty() {
            return Err(FormError::Undefined);
        }
        let number = self.region(&p).is_some();
        if !self.real(&p) && !number {
            return self.atom(Kernel::Ln(p));
        }
        if number && self.real(&p) {
            match self.sign_of(&p) {
                Some(1) => {}
                Some(-1) => {
                    let turn = Poly::term(Mono(vec![(UNIT, Q::HALF), (PI, Q::ONE)]), Rational::ONE);
                    let size = self.logarithm(&p.negated())?;
                    return self.sum(&turn, &size);
                }
                _ => return self.atom(Kernel::Ln(p)),
            }
        }
        let (num, below) = self.cleared(&p)?;
        let (value, mono, rest) = self.split(&num, false)?;
        let mut mono = mono.joined(&below)?;
        let mut turn = mono.exponent(UNIT);
        mono = mono.without(UNIT);
        let mut negative = value < Rational::ZERO;
        let size = if negative { -value } else { value };
        let numeric = (rest.len() == 1 || self.positive(&rest)) && self.positive_mono(&mono);
        let mut factors = self.oriented(&mono, &rest, &mut negative);
        if !turn.is_zero() || negative || rest.has(UNIT) {
            if !numeric || rest.has(UNIT) {
                // The sign stays inside: only the size of the coefficient leaves.
                let inside = p.scaled(&(Rational::ONE / size.clone()));
                let kernel = self.atom(Kernel::Ln(inside))?;
                let number = self.number_logarithm(&size)?;
                return self.sum(&number, &kernel);
            }
            if negative {
                // −e^{iπs} = e^{iπ(s−1)}, or e^{iπ} itself for s = 0.
                turn = if turn.is_zero() { Q::ONE } else { turn.minus(Q::ONE)? };
            }
        }
        let mut out = self.number_logarithm(&size)?;
        if !turn.is_zero() {
            out = out.plus(&Poly::term(Mono(vec![(UNIT, Q::HALF), (PI, Q::ONE)]), turn.to_rational()));
        }
        for (factor, e) in factors.drain(..) {
            let part = match factor.0.as_slice() {
                [(one, _)] => match one.0.as_slice() {
                    [(id, _)] => self.kernel_logarithm(*id)?,
                    _ => Poly::zero(),
                },
                _ => self.atom(Kernel::Ln(factor))?,
            };
            out = self.sum(&out, &part.scaled(&e.to_rational()))?;
        }
        Ok(out)
    }

    /// The factors under a logarithm, each with a sign such that their product has the sign asked for,
    /// if any choice does: long factors prefer a positive constant term.
    fn oriented(&self, mono: &Mono, rest: &Poly, negative: &mut bool) -> Vec<(Poly, Q)> {
        let mut factors: Vec<(Poly, Q)> = Vec::new();
        for (id, e) in &mono.0 {
            let factor = match self.table.get(*id) {
                Kernel::Base(inner) if e.den() % 2 == 1 => inner.clone(),
                _ => Poly::kernel(*id, Q::ONE),
            };
            factors.push((factor, *e));
        }
        if rest.len() > 1 {
            factors.push((rest.clone(), Q::ONE));
        }
        let flips =
            |(p, e): &(Poly, Q)| p.len() > 1 && e.is_int() && e.num() % 2 != 0 && self.sign_of(p).is_none();
        let below = |term: Option<&(Mono, Rational)>| term.is_some_and(|(_, c)| *c < Rational::ZERO);
        for factor in &mut factors {
            // A negative number under an odd root, or in a denominator, changes its sign.
            let known = if factor.0.len() > 1 { self.sign_of(&factor.0) } else { None };
            let constant = factor.0.0.iter().find(|(m, _)| m.is_one());
            let turns = match known {
                Some(sign) => sign < 0,
                None => flips(factor) && below(constant.or(factor.0.0.first())),
            };
            if turns {
                factor.0 = factor.0.negated();
                *negative ^= factor.1.num() % 2 != 0;
            }
        }
        if *negative {
            let at = factors.iter().position(|f| flips(f) && below(f.0.0.first()));
            if let Some(at) = at.or_else(|| factors.iter().position(flips)) {
                factors[at].0 = factors[at].0.negated();
                *negative = false;
            }
        }
        factors
    }

    fn kernel_logarithm(&mut self, id: Id) -> Res<Poly> {
        match self.table.get(id).clone() {
            Kernel::Exp(mono) if self.real_mono(&mono) => Ok(Poly::term(mono, Rational::ONE)),
            Kernel::Prime(value, _) => {
                let id = self.prime_logarithm(value)?;
                Ok(Poly::kernel(id, Q::ONE))
            }
            Kernel::Abs(inner) if inner.len() == 1 => self.logarithm(&inner),
            Kernel::Base(inner) => self.logarithm(&inner),
            _ => self.atom(Kernel::Ln(Poly::kernel(id, Q::ONE))),
        }
    }

    /// The logarithm of a positive rational number, by its prime factors.
    fn number_logarithm(&mut self, value: &Rational) -> Res<Poly> {
        if value.is_one() {
            return Ok(Poly::zero());
        }
        let (num, den) = value.clone().into_parts();
        let mut out = Poly::zero();
        for (part, sign) in [(num.into_parts().1, 1), (den, -1)] {
            for factor in self.factors(&part)? {
                let id = self.prime_logarithm(factor.base)?;
                out =
                    self.sum(&out, &Poly::term(Mono::of(id, Q::ONE), Rational::from(factor.count * sign)))?;
            }
        }
        Ok(out)
    }

    fn prime_logarithm(&mut self, prime: UBig) -> Res<Id> {
        self.intern(Kernel::Ln(Poly::constant(Rational::from(IBig::from(prime)))))
    }
}
