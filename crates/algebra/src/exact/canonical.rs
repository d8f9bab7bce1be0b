//! The public canonical form, and comparison by it.

use std::fmt;

use super::{
    display,
    field::{Field, FormError, Res},
    kernel::{Kernel, Table},
    poly::{Mono, Poly},
    zero::ZeroTest,
};
use crate::{
    expr::{Expr, Rational},
    fuel::{Fuel, OutOfFuel},
};

/// The canonical form: a polynomial in kernels (variables, radicals, π, logarithms, exponentials …), or
/// undefined, as 1/0 is.
#[derive(Clone, Debug)]
pub struct CanonicalForm {
    /// `None` when the expression has no value.
    form: Option<Poly>,
    table: Table,
}

impl CanonicalForm {
    /// The rational number this is, if it is one.
    pub fn as_rational(&self) -> Option<Rational> {
        self.form.as_ref().and_then(Poly::as_rational)
    }
}

/// Whether only variables occur, to whole powers, so that different forms are different functions.
fn rational_function(table: &Table, p: &Poly) -> bool {
    p.0.iter().all(|(m, _)| {
        m.0.iter().all(|(id, e)| {
            e.is_int()
                && match table.get(*id) {
                    Kernel::Symbol(_) => true,
                    Kernel::Base(inner) => rational_function(table, inner),
                    _ => false,
                }
        })
    })
}

impl fmt::Display for CanonicalForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.form {
            Some(form) => f.write_str(&display::poly(&self.table, form)),
            None => f.write_str("undefined"),
        }
    }
}

/// `None` for every failure but a lack of fuel.
fn settled<T>(result: Res<T>) -> Result<Option<T>, OutOfFuel> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(FormError::Fuel) => Err(OutOfFuel),
        Err(FormError::Large | FormError::Undefined) => Ok(None),
    }
}

/// The canonical form of an expression.
pub fn canonical_form(expr: &Expr, fuel: &Fuel) -> Result<CanonicalForm, OutOfFuel> {
    let mut field = Field::new(fuel);
    let form = field.walk(expr).and_then(|p| field.simplified(&p));
    Ok(CanonicalForm { form: settled(form)?, table: field.table })
}

/// Whether two expressions are the same: `Some(true)` and `Some(false)` are proved, `None` is not known.
pub fn same(a: &Expr, b: &Expr, fuel: &Fuel) -> Result<Option<bool>, OutOfFuel> {
    answered(Field::new(fuel).same(a, b))
}

/// Whether one expression is a non-zero constant times the other, as equations allow.
pub fn proportional(a: &Expr, b: &Expr, fuel: &Fuel) -> Result<Option<bool>, OutOfFuel> {
    answered(Field::new(fuel).proportional(a, b))
}

/// An expression without a value is not equal to any other.
fn answered(answer: Res<Option<bool>>) -> Result<Option<bool>, OutOfFuel> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(FormError::Undefined) => Ok(Some(false)),
        Err(FormError::Large) => Ok(None),
        Err(FormError::Fuel) => Err(OutOfFuel),
    }
}

fn verdict(answer: ZeroTest) -> Option<bool> {
    match answer {
        ZeroTest::Zero => Some(true),
        ZeroTest::NonZero => Some(false),
        ZeroTest::Unknown => None,
    }
}

impl Field<'_> {
    fn same(&mut self, a: &Expr, b: &Expr) -> Res<Option<bool>> {
        let (a, b) = (self.walk(a)?, self.walk(b)?);
        let gap = self.difference(&a, &b)?;
        if gap.is_empty() {
            return Ok(Some(true));
        }
        if let Some(answer) = self.infinities(&a, &b) {
            return Ok(Some(answer));
        }
        Ok(verdict(self.decide(&gap)?))
    }

    /// Infinity is equal to itself, and differs from minus infinity and every number.
    fn infinities(&self, a: &Poly, b: &Poly) -> Option<bool> {
        let end = |p: &Poly| p.len() == 1 && p.0[0].0.0.len() == 1 && self.infinite(p);
        match (end(a), end(b)) {
            (true, true) => Some(a == b),
            (true, false) if self.region(b).is_some() => Some(false),
            (false, true) if self.region(a).is_some() => Some(false),
            _ => None,
        }
    }

    fn proportional(&mut self, a: &Expr, b: &Expr) -> Res<Option<bool>> {
        let (a, b) = (self.walk(a)?, self.walk(b)?);
        // Cross-multiplied with the denominators, the ratio stays.
        let (na, below_a) = self.cleared(&a)?;
        let (nb, below_b) = self.cleared(&b)?;
        let x = self.mul(&na, &Poly::term(below_b.inverse()?, Rational::ONE))?;
        let y = self.mul(&nb, &Poly::term(below_a.inverse()?, Rational::ONE))?;
        let (x, y) = (self.expanded(&x)?, self.expanded(&y)?);
        match (self.decide(&x)?, self.decide(&y)?) {
            (ZeroTest::Zero, ZeroTest::Zero) => return Ok(Some(true)),
            (ZeroTest::Zero, ZeroTest::NonZero) | (ZeroTest::NonZero, ZeroTest::Zero) => {
                return Ok(Some(false));
            }
            (ZeroTest::Zero, _) | (_, ZeroTest::Zero) => return Ok(None),
            _ => {}
        }
        let Some(lead) = y.0.iter().map(|(m, _)| self.variable_part(m)).max() else { return Ok(None) };
        let (cx, cy) = (self.coefficient(&x, &lead), self.coefficient(&y, &lead));
        let gap = self.difference(&self.mul(&x, &cy)?, &self.mul(&y, &cx)?)?;
        let plain = rational_function(&self.table, &x) && rational_function(&self.table, &y);
        match self.decide(&gap)? {
            ZeroTest::Zero if self.decide(&cx)? == ZeroTest::NonZero => Ok(Some(true)),
            ZeroTest::NonZero if plain => Ok(Some(false)),
            _ => Ok(None),
        }
    }

    /// The factors of a monomial that are not numbers.
    fn variable_part(&self, mono: &Mono) -> Mono {
        let number = |id| self.region(&Poly::kernel(id, super::exponent::Q::HALF)).is_some();
        Mono(mono.0.iter().filter(|(id, _)| !number(*id)).copied().collect())
    }

    /// The coefficient of a product of variables.
    fn coefficient(&self, p: &Poly, variables: &Mono) -> Poly {
        let mut terms = Vec::new();
        for (mono, value) in &p.0 {
            if self.variable_part(mono) == *variables {
                let rest =
                    mono.0.iter().filter(|(id, _)| variables.exponent(*id).is_zero()).copied().collect();
                terms.push((Mono(rest), value.clone()));
            }
        }
        Poly::collect(terms)
    }
}
