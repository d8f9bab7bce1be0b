//! Recursive evaluation of an expression.

use super::bound::Bound;
use super::component::Component;
use super::context::{Context, Step, StepError};
use super::interval::Interval;
use super::number::Number::{self, Infinite, Real};
use super::point::Point;
use super::{function, operator};
use crate::expr::{Constant, Expr, Rational, Symbol};

/// The deepest expression that is evaluated.
const DEEPEST: u32 = 400;

/// The values of the variables: the bound ones, innermost last, and the free ones.
#[derive(Debug)]
pub(super) struct Scope<'a, T> {
    pub(super) cx: &'a Context<'a>,
    point: &'a Point,
    bound: Vec<(&'a Symbol, Number<T>)>,
    depth: u32,
}

impl<'a, T: Bound> Scope<'a, T> {
    /// Only free variables.
    pub(super) fn new(point: &'a Point, cx: &'a Context<'a>) -> Self {
        Self { cx, point, bound: Vec::new(), depth: 0 }
    }

    /// Evaluates with one more bound variable.
    pub(super) fn with(&mut self, variable: &'a Symbol, value: Number<T>, body: &'a Expr) -> Step<Number<T>> {
        self.bound.push((variable, value));
        let result = self.value(body);
        self.bound.pop();
        result
    }

    /// The value of a variable.
    pub(super) fn look_up(&self, name: &Symbol) -> Step<Number<T>> {
        if let Some((_, value)) = self.bound.iter().rev().find(|(bound, _)| *bound == name) {
            return Ok(value.clone());
        }
        self.point.get(name).map(|value| Number::exact(value.clone())).ok_or(StepError::Unsupported)
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &'a Expr) -> Step<Number<T>> {
        if self.depth > DEEPEST {
            return Err(StepError::Unsupported);
        }
        self.depth += 1;
        let result = self.visit(expr);
        self.depth -= 1;
        result
    }

    fn visit(&mut self, expr: &'a Expr) -> Step<Number<T>> {
        let cx = self.cx;
        cx.spend(20)?;
        match expr {
            Expr::Number(value) | Expr::Decimal(value) => Ok(Number::exact(value.clone())),
            Expr::Constant(constant) => constant_value(*constant, cx),
            Expr::Symbol(name) => self.look_up(name),
            Expr::Sum(parts) => {
                let Some((first, rest)) = parts.split_first() else {
                    return Ok(Number::int(0));
                };
                let mut total = self.value(first)?;
                for part in rest {
                    total = total.add(&self.value(part)?, cx)?;
                }
                Ok(total)
            }
            Expr::Product(parts) => self.product(parts),
            Expr::Power(base, exponent) => {
                let exponent = self.value(exponent)?;
                if **base == Expr::Constant(Constant::E) {
                    return exponent.exp(cx);
                }
                self.value(base)?.power(&exponent, cx)
            }
            Expr::Call(function, args) => match args.as_slice() {
                [x] => {
                    let x = self.value(x)?;
                    function::call(*function, &[x], cx)
                }
                args => {
                    let values = args.iter().map(|arg| self.value(arg)).collect::<Result<Vec<_>, _>>()?;
                    function::call(*function, &values, cx)
                }
            },
            Expr::Apply(..) => Err(StepError::Unsupported),
            Expr::Bind(bind) => cx.nested(|| operator::apply(self, bind)),
        }
    }

    /// A product; a factor to the power of −1 is divided by, which loses less than multiplying by its inverse.
    fn product(&mut self, parts: &'a [Expr]) -> Step<Number<T>> {
        let cx = self.cx;
        let mut total = Number::int(1);
        for part in parts {
            total = match part {
                Expr::Power(base, exponent)
                    if is_minus_one(exponent) && **base != Expr::Constant(Constant::E) =>
                {
                    total.div(&self.value(base)?, cx)?
                }
                _ => total.mul(&self.value(part)?, cx)?,
            };
        }
        Ok(total)
    }
}

fn is_minus_one(expr: &Expr) -> bool {
    matches!(expr, Expr::Number(value) if *value == Rational::NEG_ONE)
}

fn constant_value<T: Bound>(constant: Constant, cx: &Context<'_>) -> Step<Number<T>> {
    Ok(match constant {
        Constant::Pi => Real(Component::pi(Rational::ONE)),
        Constant::E => Number::int(1).exp(cx)?,
        Constant::I => Number::i(),
        Constant::Infinity => Infinite(false),
        Constant::EulerGamma => Real(Component::Interval(Interval::of(T::euler_gamma(cx.bits)))),
    })
}
