//! Operators with a bound variable: sums, products, integrals, limits and derivatives.

use dashu_int::IBig;

use super::bound::Bound;
use super::context::{Context, Step, StepError};
use super::number::Number;
use super::series::{Expansion, Series};
use super::walk::Scope;
use crate::expr::{Bind, Expr, Over, Rational, Symbol};

/// The body of an operator, as a function of the bound variable.
pub(super) struct Body<'s, 'a, T> {
    pub(super) scope: &'s mut Scope<'a, T>,
    pub(super) expr: &'a Expr,
    pub(super) variable: &'a Symbol,
    pub(super) cx: &'a Context<'a>,
}

/// The value of an operator applied to its body.
pub(super) fn apply<'a, T: Bound>(scope: &mut Scope<'a, T>, bind: &'a Bind) -> Step<Number<T>> {
    let cx = scope.cx;
    let bounds = bind.over.bounds().into_iter().map(|bound| scope.value(bound)).collect::<Step<Vec<_>>>()?;
    let mut body = Body { scope, expr: &bind.body, variable: &bind.variable, cx };
    match (&bind.over, bounds.as_slice()) {
        (Over::Sum(..), [from, to]) => body.sum(from, to),
        (Over::Product(..), [from, to]) => body.product(from, to),
        (Over::Integral(..), [from, to]) => body.integral(from, to),
        (Over::Limit(_, side), [towards]) => body.limit(towards, *side),
        (Over::Derivative(order), _) => body.derivative(*order),
        _ => Err(StepError::Unsupported),
    }
}

impl<T: Bound> Body<'_, '_, T> {
    /// The value at a number.
    pub(super) fn at(&mut self, x: Number<T>) -> Step<Number<T>> {
        self.scope.with(self.variable, x, self.expr)
    }

    /// The value at an integer.
    pub(super) fn term(&mut self, k: &IBig) -> Step<Number<T>> {
        self.at(Number::exact(Rational::from(k.clone())))
    }

    /// The Taylor series at a number up to t^order. At an interval, every coefficient encloses those at all of its
    /// points.
    pub(super) fn taylor(&mut self, at: &Number<T>, order: usize) -> Step<Series<T>> {
        let (variable, cx) = (self.variable, self.cx);
        Expansion { scope: &mut *self.scope, variable, at, order, cx, depth: 0 }.of(self.expr)
    }

    /// The derivative of some order where the variable stands.
    fn derivative(&mut self, order: u8) -> Step<Number<T>> {
        let at = self.scope.look_up(self.variable)?;
        let series = self.taylor(&at, usize::from(order))?;
        let mut value = series.into_iter().next_back().ok_or(StepError::Unsupported)?;
        for i in 2..=i32::from(order) {
            value = value.mul(&Number::int(i), self.cx)?;
        }
        Ok(value)
    }
}
