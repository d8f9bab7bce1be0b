//! Integrals that have a simple closed form: powers, exponentials, sines and cosines of linear expressions.

use std::cmp::Ordering;

use super::bound::Bound;
use super::component::Component;
use super::context::{Context, Step};
use super::function;
use super::number::Number::{self, Real};
use super::operator::Body;
use super::rational;
use super::series::mentions;
use super::walk::Scope;
use crate::expr::{Constant, Expr, Function, Rational, Symbol};

/// The integral between two finite bounds; none where the body has no such form.
pub(super) fn integral<T: Bound>(
    body: &mut Body<'_, '_, T>,
    ends: [&Number<T>; 2],
) -> Step<Option<Number<T>>> {
    let (expr, variable, cx) = (body.expr, body.variable, body.cx);
    Form { scope: &mut *body.scope, variable, ends, cx }.of(expr, 0)
}

struct Form<'s, 'a, T> {
    scope: &'s mut Scope<'a, T>,
    variable: &'a Symbol,
    ends: [&'s Number<T>; 2],
    cx: &'a Context<'a>,
}

/// A linear expression: its slope and its value at zero.
type Line<T> = (Number<T>, Number<T>);

impl<'a, T: Bound> Form<'_, 'a, T> {
    fn of(&mut self, body: &'a Expr, depth: u32) -> Step<Option<Number<T>>> {
        self.cx.spend(20)?;
        if depth > 50 {
            return Ok(None);
        }
        if !mentions(body, self.variable) {
            let wide = self.ends[1].sub(self.ends[0], self.cx)?;
            return Ok(Some(self.scope.value(body)?.mul(&wide, self.cx)?));
        }
        match body {
            Expr::Sum(parts) => {
                let mut total = Number::int(0);
                for part in parts {
                    let Some(value) = self.of(part, depth + 1)? else { return Ok(None) };
                    total = total.add(&value, self.cx)?;
                }
                Ok(Some(total))
            }
            Expr::Product(parts) => {
                let Some((factor, one)) = self.split(parts)? else { return Ok(None) };
                let value = self.of(one, depth + 1)?;
                value.map(|value| factor.mul(&value, self.cx)).transpose()
            }
            Expr::Symbol(_) => {
                let line = (Number::int(1), Number::int(0));
                self.power(&line, &Rational::ONE, false)
            }
            Expr::Power(base, exponent) if **base == Expr::Constant(Constant::E) => {
                let Some(line) = self.line(exponent, depth)? else { return Ok(None) };
                let cx = self.cx;
                self.between(&line, |at| at.exp(cx))
            }
            Expr::Power(base, exponent) if !mentions(exponent, self.variable) => {
                let Real(Component::Exact(mut total)) = self.scope.value(exponent)? else {
                    return Ok(None);
                };
                let mut base = &**base;
                let mut nested = false;
                // A power of a power has the product for its exponent where the base is not below zero.
                while let Expr::Power(inner, exponent) = base
                    && !mentions(exponent, self.variable)
                    && let Real(Component::Exact(next)) = self.scope.value(exponent)?
                    && let Some(product) = rational::mul(self.cx, &total, &next)?
                {
                    (base, total, nested) = (inner, product, true);
                }
                let Some(line) = self.line(base, depth)? else { return Ok(None) };
                self.power(&line, &total, nested)
            }
            Expr::Call(function @ (Function::Sin | Function::Cos), args) => {
                let [inner] = args.as_slice() else { return Ok(None) };
                let Some(line) = self.line(inner, depth)? else { return Ok(None) };
                let cx = self.cx;
                self.between(&line, |at| {
                    let (sin, cos) = function::sin_cos(at, cx)?;
                    Ok(if *function == Function::Sin { cos.neg() } else { sin })
                })
            }
            _ => Ok(None),
        }
    }

    /// The product of the constant factors, and the only other factor.
    fn split(&mut self, parts: &'a [Expr]) -> Step<Option<(Number<T>, &'a Expr)>> {
        let (mut factor, mut other) = (Number::int(1), None);
        for part in parts {
            if !mentions(part, self.variable) {
                factor = factor.mul(&self.scope.value(part)?, self.cx)?;
            } else if other.replace(part).is_some() {
                return Ok(None);
            }
        }
        Ok(other.map(|other| (factor, other)))
    }

    /// The expression as a linear one with a slope other than zero.
    fn line(&mut self, expr: &'a Expr, depth: u32) -> Step<Option<Line<T>>> {
        self.cx.spend(20)?;
        match expr {
            _ if depth > 50 => Ok(None),
            Expr::Symbol(name) if name == self.variable => Ok(Some((Number::int(1), Number::int(0)))),
            Expr::Sum(parts) => {
                let (mut slope, mut start) = (Number::int(0), Number::int(0));
                for part in parts {
                    if mentions(part, self.variable) {
                        let Some(line) = self.line(part, depth + 1)? else { return Ok(None) };
                        slope = slope.add(&line.0, self.cx)?;
                        start = start.add(&line.1, self.cx)?;
                    } else {
                        start = start.add(&self.scope.value(part)?, self.cx)?;
                    }
                }
                let level =
                    matches!(&slope, Real(part) if part.sign().is_none_or(|sign| sign == Ordering::Equal));
                Ok((!level).then_some((slope, start)))
            }
            Expr::Product(parts) => {
                let Some((factor, one)) = self.split(parts)? else { return Ok(None) };
                let Some((slope, start)) = self.line(one, depth + 1)? else { return Ok(None) };
                if matches!(&factor, Real(part) if part.sign().is_none_or(|sign| sign == Ordering::Equal)) {
                    return Ok(None);
                }
                Ok(Some((slope.mul(&factor, self.cx)?, start.mul(&factor, self.cx)?)))
            }
            _ => Ok(None),
        }
    }

    fn at(&self, line: &Line<T>, end: usize) -> Step<Number<T>> {
        line.0.mul(self.ends[end], self.cx)?.add(&line.1, self.cx)
    }

    /// The difference of an antiderivative that holds everywhere, over the slope.
    fn between(
        &self,
        line: &Line<T>,
        antiderivative: impl Fn(&Number<T>) -> Step<Number<T>>,
    ) -> Step<Option<Number<T>>> {
        let (low, high) = (antiderivative(&self.at(line, 0)?)?, antiderivative(&self.at(line, 1)?)?);
        Ok(Some(high.sub(&low, self.cx)?.div(&line.0, self.cx)?))
    }

    /// A power of a line: everywhere for a natural exponent, else where the line stays on the side of zero
    /// where the power is real, or touches it and the power can be integrated there.
    fn power(&self, line: &Line<T>, exponent: &Rational, nested: bool) -> Step<Option<Number<T>>> {
        let cx = self.cx;
        let (minus_one, next) = (Rational::NEG_ONE, exponent + Rational::ONE);
        if nested || !(exponent.is_int() && *exponent > minus_one) {
            for end in 0..2 {
                let Real(at) = self.at(line, end)? else { return Ok(None) };
                match at.sign() {
                    Some(Ordering::Greater) => {}
                    Some(Ordering::Equal) if *exponent > minus_one => {}
                    _ => return Ok(None),
                }
            }
        }
        if next.is_zero() {
            return self.between(line, |at| at.ln(cx));
        }
        let raised = self.between(line, |at| at.power(&Number::exact(next.clone()), cx))?;
        raised.map(|value| value.div(&Number::exact(next.clone()), cx)).transpose()
    }
}
