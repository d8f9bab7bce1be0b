//! Sums, products, integrals and limits over a bound variable.

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::{Binder, Kernel},
    poly::{Id, Mono, Poly},
};
use crate::expr::{Bind, Expr, Over, Rational, Side, Symbol};

/// The most terms of a sum or product that is written out.
const UNROLLED: i64 = 1_000;
/// The highest power summed in closed form.
const FAULHABER: i64 = 12;

/// A term of a body: a factor free of the bound variable, a power of it, and the rate of e^{rate·variable}.
pub(super) struct Part {
    pub(super) factor: Poly,
    pub(super) degree: Q,
    pub(super) rate: Poly,
}

impl Field<'_> {
    pub(super) fn bind(&mut self, bind: &Bind) -> Res<Poly> {
        self.fuel.spend(20)?;
        match &bind.over {
            Over::Sum(low, high) => self.repeated(Binder::Sum, bind, low, high),
            Over::Product(low, high) => self.repeated(Binder::Product, bind, low, high),
            Over::Integral(low, high) => {
                let bounds = [self.walk(low)?, self.walk(high)?];
                let (id, body) = self.body(&bind.variable, &bind.body)?;
                let value = self.definite(id, &body, &bounds);
                self.found_or(value, Kernel::Bind(Binder::Integral, bounds.to_vec(), body))
            }
            Over::Antiderivative => self.antiderivative(bind),
            Over::Limit(point, side) => self.limit(bind, point, *side),
            Over::Derivative(order) => self.differentiated(&bind.body, &bind.variable, *order),
        }
    }

    /// The body with a new bound kernel for its variable.
    pub(super) fn body(&mut self, variable: &Symbol, body: &Expr) -> Res<(Id, Poly)> {
        let id = self.intern(Kernel::Bound(self.binders))?;
        self.binders += 1;
        self.scope.push((variable.clone(), Poly::kernel(id, Q::ONE)));
        let out = self.walk(body).and_then(|p| self.simplified(&p));
        self.scope.pop();
        self.binders -= 1;
        Ok((id, out?))
    }

    fn repeated(&mut self, kind: Binder, bind: &Bind, low: &Expr, high: &Expr) -> Res<Poly> {
        let bounds = [self.walk(low)?, self.walk(high)?];
        if let [Some(low), Some(high)] = [bounds[0].as_int(), bounds[1].as_int()]
            && high.saturating_sub(low) < UNROLLED
        {
            return self.unrolled(kind, bind, low, high);
        }
        let (id, body) = self.body(&bind.variable, &bind.body)?;
        let closed = match kind {
            Binder::Sum => self.closed_sum(id, &body, &bounds),
            _ if !self.mentions(&body, id) => {
                let count = bounds[1].minus(&bounds[0]).plus(&Poly::one());
                self.power(&body, &count).map(Some)
            }
            _ if body == Poly::kernel(id, Q::ONE) => {
                let top = self.factorial(&bounds[1])?;
                let below = self.factorial(&bounds[0].minus(&Poly::one()));
                match below.and_then(|b| self.invert(&b)) {
                    Ok(inverse) => self.times(&top, &inverse).map(Some),
                    Err(FormError::Undefined) => Ok(None),
                    Err(stop) => Err(stop),
                }
            }
            _ => Ok(None),
        };
        self.found_or(closed, Kernel::Bind(kind, bounds.to_vec(), body))
    }

    fn unrolled(&mut self, kind: Binder, bind: &Bind, low: i64, high: i64) -> Res<Poly> {
        let mut out = if kind == Binder::Sum { Poly::zero() } else { Poly::one() };
        for k in low..=high {
            self.fuel.spend(30)?;
            self.scope.push((bind.variable.clone(), Poly::int(k)));
            let term = self.walk(&bind.body);
            self.scope.pop();
            let term = term?;
            out = if kind == Binder::Sum { self.sum(&out, &term)? } else { self.times(&out, &term)? };
        }
        Ok(out)
    }

    /// Whether a bound variable occurs in a form, at any depth.
    pub(super) fn mentions(&self, p: &Poly, id: Id) -> bool {
        self.table.bound(p) & self.table.properties(id).bound != 0
    }

    fn mono_mentions(&self, mono: &Mono, id: Id) -> bool {
        self.table.bound_mono(mono) & self.table.properties(id).bound != 0
    }

    /// The body as terms c·k^d·e^{rk}, if it is such a sum.
    pub(super) fn parts(&mut self, id: Id, body: &Poly) -> Res<Option<Vec<Part>>> {
        let mut parts = Vec::new();
        for (mono, value) in &body.0 {
            let mut factor = Mono::one();
            let mut degree = Q::ZERO;
            let mut rate = Poly::zero();
            for (kernel, e) in &mono.0 {
                if *kernel == id {
                    degree = *e;
                } else if self.table.properties(*kernel).bound & self.table.properties(id).bound == 0 {
                    factor.0.push((*kernel, *e));
                } else if let Kernel::Exp(inner) = self.table.get(*kernel) {
                    let left = inner.without(id);
                    if inner.exponent(id) != Q::ONE || self.mono_mentions(&left, id) {
                        return Ok(None);
                    }
                    rate = self.sum(&rate, &Poly::term(left, e.to_rational()))?;
                } else {
                    return Ok(None);
                }
            }
            parts.push(Part { factor: Poly::term(factor, value.clone()), degree, rate });
        }
        Ok(Some(parts))
    }

    /// Powers by Faulhaber's formula, exponentials as geometric sums.
    fn closed_sum(&mut self, id: Id, body: &Poly, bounds: &[Poly; 2]) -> Res<Option<Poly>> {
        let infinite = self.infinite(&bounds[1]);
        if self.infinite(&bounds[0]) {
            return Ok(None);
        }
        let Some(parts) = self.parts(id, body)? else { return Ok(None) };
        let mut out = Poly::zero();
        for part in parts {
            let value = if part.rate.is_empty() {
                let Some(degree @ 0..=FAULHABER) = part.degree.as_int() else { return Ok(None) };
                if infinite {
                    return Ok(None);
                }
                let high = self.power_sum(degree, &bounds[1])?;
                let low = self.power_sum(degree, &bounds[0].minus(&Poly::one()))?;
                self.difference(&high, &low)?
            } else if part.degree.is_zero() {
                let ratio = self.exponential(&part.rate)?;
                let start = self.mul(&part.rate, &bounds[0])?;
                let mut top = self.exponential(&start)?;
                if infinite {
                    let Some(region) = self.region(&ratio) else { return Ok(None) };
                    if region.largest_square() >= 0.999_999 {
                        return Ok(None);
                    }
                } else {
                    let end = self.mul(&part.rate, &bounds[1].plus(&Poly::one()))?;
                    let end = self.exponential(&end)?;
                    top = self.difference(&top, &end)?;
                }
                let inverse = self.invert(&Poly::one().minus(&ratio))?;
                self.times(&top, &inverse)?
            } else {
                return Ok(None);
            };
            let value = self.times(&part.factor, &value)?;
            out = self.sum(&out, &value)?;
        }
        Ok(Some(out))
    }

    /// Σ_{k=1}^n k^d = (B_{d+1}(n+1) − B_{d+1}(1))/(d+1), by the recurrence over lower powers:
    /// (n+1)^{d+1} − 1 = Σ_j C(d+1, j)·S_j(n).
    fn power_sum(&mut self, degree: i64, n: &Poly) -> Res<Poly> {
        let next = n.plus(&Poly::one());
        let mut sums: Vec<Poly> = Vec::new();
        for d in 0..=degree {
            let mut total = self.power_int(&next, d + 1)?.minus(&Poly::one());
            let mut choose = Rational::ONE;
            for (j, lower) in (0i64..).zip(&sums) {
                total = self.difference(&total, &lower.scaled(&choose))?;
                choose = choose * Rational::from(d + 1 - j) / Rational::from(j + 1);
            }
            sums.push(total.scaled(&(Rational::ONE / Rational::from(d + 1))));
        }
        sums.pop().ok_or(FormError::Large)
    }

    pub(super) fn infinite(&self, p: &Poly) -> bool {
        p.kernels().iter().any(|id| matches!(self.table.get(*id), Kernel::Infinity))
    }

    /// The value of a rational function at a point, after common factors with the denominator are gone.
    fn limit(&mut self, bind: &Bind, point: &Expr, side: Option<Side>) -> Res<Poly> {
        let at = self.walk(point)?;
        let (id, body) = self.body(&bind.variable, &bind.body)?;
        if !self.mentions(&body, id) {
            return Ok(body);
        }
        let value = if self.infinite(&at) { Ok(None) } else { self.continuous_value(id, &body, &at) };
        let value = if value == Err(FormError::Undefined) { Ok(None) } else { value };
        self.found_or(value, Kernel::Bind(Binder::Limit(side), vec![at], body))
    }

    fn continuous_value(&mut self, id: Id, body: &Poly, at: &Poly) -> Res<Option<Poly>> {
        let (num, below) = self.cleared(body)?;
        let Some(mut value) = self.at_point(id, &num, at)? else { return Ok(None) };
        for (kernel, e) in &below.0 {
            let Kernel::Base(inner) = self.table.get(*kernel).clone() else { return Ok(None) };
            let Some(inner) = self.at_point(id, &inner, at)? else { return Ok(None) };
            let power = self.power_int(&inner, e.num())?;
            value = self.times(&value, &power)?;
        }
        Ok(Some(value))
    }

    /// A sum of c·k^d·e^{rk} at a point.
    pub(super) fn at_point(&mut self, id: Id, p: &Poly, at: &Poly) -> Res<Option<Poly>> {
        let Some(parts) = self.parts(id, p)? else { return Ok(None) };
        let mut out = Poly::zero();
        for part in parts {
            let value = self.part_at(&part, at)?;
            out = self.sum(&out, &value)?;
        }
        Ok(Some(out))
    }

    pub(super) fn part_at(&mut self, part: &Part, at: &Poly) -> Res<Poly> {
        let power = match part.degree.as_int() {
            Some(n) => self.power_int(at, n)?,
            None => self.power_fraction(at, part.degree)?,
        };
        let rate = self.mul(&part.rate, at)?;
        let growth = self.exponential(&rate)?;
        let value = self.times(&part.factor, &power)?;
        self.times(&value, &growth)
    }
}
