//! Integrals of sums of c·x^d·e^{rx}, which covers polynomials, sines, cosines and exponentials.

use super::{
    bind::Part,
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::{Binder, Kernel},
    poly::{Id, Poly},
    symbolic::derivative,
};
use crate::expr::{Bind, Expr, Rational, Symbol};

impl Field<'_> {
    /// Terms whose sum differentiates to the body; the logarithm of the variable apart.
    fn primitive(&mut self, id: Id, body: &Poly) -> Res<Option<(Vec<Part>, Poly)>> {
        let Some(parts) = self.parts(id, body)? else { return Ok(None) };
        let mut out = Vec::new();
        let mut log = Poly::zero();
        for part in parts {
            if part.rate.is_empty() {
                if part.degree == Q::int(-1) {
                    log = self.sum(&log, &part.factor)?;
                    continue;
                }
                let degree = part.degree.plus(Q::ONE)?;
                let factor = part.factor.scaled(&(Rational::ONE / degree.to_rational()));
                out.push(Part { factor, degree, rate: part.rate });
                continue;
            }
            let Some(mut degree @ 0..=12) = part.degree.as_int() else { return Ok(None) };
            // By parts: ∫ x^d e^{rx} = x^d e^{rx}/r − d/r ∫ x^{d−1} e^{rx}.
            let inverse = self.invert(&part.rate)?;
            let mut factor = self.times(&part.factor, &inverse)?;
            loop {
                out.push(Part { factor: factor.clone(), degree: Q::int(degree), rate: part.rate.clone() });
                if degree == 0 {
                    break;
                }
                factor = self.times(&factor, &inverse)?.scaled(&Rational::from(-degree));
                degree -= 1;
            }
        }
        Ok(Some((out, log)))
    }

    /// The integral between two bounds, where the antiderivative is continuous between them.
    pub(super) fn definite(&mut self, id: Id, body: &Poly, bounds: &[Poly; 2]) -> Res<Option<Poly>> {
        if bounds.iter().any(|b| self.infinite(b)) {
            return Ok(None);
        }
        let Some((parts, log)) = self.primitive(id, body)? else { return Ok(None) };
        let rough = !log.is_empty() || parts.iter().any(|p| !p.degree.is_int() || p.degree < Q::ZERO);
        if rough {
            let open = log.is_empty() && parts.iter().all(|p| p.degree > Q::ZERO);
            let fine = |sign: Option<i64>| sign.is_some_and(|s| s > 0 || (s == 0 && open));
            if !bounds.iter().all(|b| fine(self.sign_of(b))) {
                return Ok(None);
            }
        }
        let high = self.primitive_at(&parts, &log, &bounds[1])?;
        let low = self.primitive_at(&parts, &log, &bounds[0])?;
        self.difference(&high, &low).map(Some)
    }

    fn primitive_at(&mut self, parts: &[Part], log: &Poly, at: &Poly) -> Res<Poly> {
        let mut out = Poly::zero();
        for part in parts {
            let value = self.part_at(part, at)?;
            out = self.sum(&out, &value)?;
        }
        if log.is_empty() {
            return Ok(out);
        }
        let ln = self.logarithm(at)?;
        self.sum(&out, &self.mul(&ln, log)?)
    }

    /// An antiderivative in the variable itself, without a constant.
    pub(super) fn antiderivative(&mut self, bind: &Bind) -> Res<Poly> {
        let at = self.walk(&Expr::Symbol(bind.variable.clone()))?;
        let (id, body) = self.body(&bind.variable, &bind.body)?;
        match self.primitive(id, &body) {
            Ok(Some((parts, log))) => self.primitive_at(&parts, &log, &at),
            Ok(None) | Err(FormError::Large) => {
                self.atom(Kernel::Bind(Binder::Antiderivative, vec![at], body))
            }
            Err(stop) => Err(stop),
        }
    }

    /// A derivative, by symbolic differentiation before anything is normalised.
    pub(super) fn differentiated(&mut self, body: &Expr, variable: &Symbol, order: u8) -> Res<Poly> {
        let mut current = body.clone();
        for _ in 0..order {
            let before = current.size();
            self.fuel.spend(10 * before)?;
            if before > 5_000 {
                return Err(FormError::Fuel);
            }
            current = derivative(&current, variable);
        }
        if current.size() > 20_000 {
            return Err(FormError::Fuel);
        }
        self.walk(&current)
    }
}
