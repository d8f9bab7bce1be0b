//! Taylor series of expressions, coefficient by coefficient: derivatives without symbolic work.

use super::bound::Bound;
use super::component::Component;
use super::context::{Context, Step, StepError};
use super::function;
use super::number::Number::{self, Real};
use super::walk::Scope;
use crate::expr::{Constant, Expr, Function, Over, Rational, Symbol};
use crate::squaring;

/// The coefficients of 1, t, t², … of an expression at `at + t`.
pub(super) type Series<T> = Vec<Number<T>>;

/// Whether a variable occurs in an expression, free or not, or is differentiated by.
pub(super) fn mentions(expr: &Expr, variable: &Symbol) -> bool {
    expr.any(&|part| match part {
        Expr::Symbol(name) => name == variable,
        Expr::Bind(bind) => matches!(bind.over, Over::Derivative(_)) && bind.variable == *variable,
        _ => false,
    })
}

/// The series of the negative.
fn minus<T: Bound>(series: &Series<T>) -> Series<T> {
    series.iter().map(Number::neg).collect()
}

/// The series of an expression in one variable up to t^order.
pub(super) struct Expansion<'s, 'a, T> {
    pub(super) scope: &'s mut Scope<'a, T>,
    pub(super) variable: &'a Symbol,
    pub(super) at: &'s Number<T>,
    pub(super) order: usize,
    pub(super) cx: &'a Context<'a>,
    pub(super) depth: u32,
}

impl<'a, T: Bound> Expansion<'_, 'a, T> {
    pub(super) fn of(&mut self, expr: &'a Expr) -> Step<Series<T>> {
        self.cx.spend(10 + self.order as u64)?;
        if self.depth > 100 {
            return Err(StepError::Unsupported);
        }
        self.depth += 1;
        let result = self.visit(expr);
        self.depth -= 1;
        result
    }

    fn visit(&mut self, expr: &'a Expr) -> Step<Series<T>> {
        match expr {
            Expr::Symbol(name) if name == self.variable => {
                let mut series = self.constant(self.at.clone());
                if let Some(slope) = series.get_mut(1) {
                    *slope = Number::int(1);
                }
                Ok(series)
            }
            _ if !mentions(expr, self.variable) => {
                let value = self.scope.value(expr)?;
                Ok(self.constant(value))
            }
            Expr::Sum(parts) => {
                let mut total = self.constant(Number::int(0));
                for part in parts {
                    let series = self.of(part)?;
                    total = self.add(&total, &series)?;
                }
                Ok(total)
            }
            Expr::Product(parts) => {
                let mut total = self.constant(Number::int(1));
                for part in parts {
                    let series = self.of(part)?;
                    total = self.mul(&total, &series)?;
                }
                Ok(total)
            }
            Expr::Power(base, exponent) => self.power(base, exponent),
            Expr::Call(function, args) => match args.as_slice() {
                [x] => {
                    let x = self.of(x)?;
                    self.call(*function, &x)
                }
                _ => Err(StepError::Unsupported),
            },
            _ => Err(StepError::Unsupported),
        }
    }

    fn constant(&self, value: Number<T>) -> Series<T> {
        let mut series = vec![Number::int(0); self.order + 1];
        series[0] = value;
        series
    }

    fn add(&self, a: &Series<T>, b: &Series<T>) -> Step<Series<T>> {
        a.iter().zip(b).map(|(a, b)| a.add(b, self.cx)).collect()
    }

    fn mul(&self, a: &Series<T>, b: &Series<T>) -> Step<Series<T>> {
        (0..=self.order).map(|k| self.fold(k, |j| a[j].mul(&b[k - j], self.cx), 0)).collect()
    }

    /// The sum of terms from `first` to `k`.
    fn fold(&self, k: usize, term: impl Fn(usize) -> Step<Number<T>>, first: usize) -> Step<Number<T>> {
        let mut total = Number::int(0);
        for j in first..=k {
            total = total.add(&term(j)?, self.cx)?;
        }
        Ok(total)
    }

    fn div(&self, a: &Series<T>, b: &Series<T>) -> Step<Series<T>> {
        let mut quotient: Series<T> = Vec::with_capacity(self.order + 1);
        for k in 0..=self.order {
            let known = self.fold(k, |j| b[j].mul(&quotient[k - j], self.cx), 1)?;
            quotient.push(a[k].sub(&known, self.cx)?.div(&b[0], self.cx)?);
        }
        Ok(quotient)
    }

    fn exp(&self, u: &Series<T>) -> Step<Series<T>> {
        let mut e = vec![u[0].exp(self.cx)?];
        for k in 1..=self.order {
            let total = self.convolved(k, u, &e)?;
            e.push(self.part(&total, k)?);
        }
        Ok(e)
    }

    /// Σ j·uⱼ·vₖ₋ⱼ for j from 1 to k: the coefficient of u'·v.
    fn convolved(&self, k: usize, u: &Series<T>, v: &[Number<T>]) -> Step<Number<T>> {
        self.fold(
            k,
            |j| {
                if u[j].is_zero() {
                    return Ok(Number::int(0));
                }
                let weight = Number::exact(Rational::from(j));
                u[j].mul(&weight, self.cx)?.mul(&v[k - j], self.cx)
            },
            1,
        )
    }

    fn part(&self, value: &Number<T>, of: usize) -> Step<Number<T>> {
        value.mul(&Number::exact(Rational::from_parts(1.into(), of.into())), self.cx)
    }

    /// A function by its value at the start and the series of its derivative by the argument.
    fn integrated(&self, start: Number<T>, slope: &Series<T>, u: &Series<T>) -> Step<Series<T>> {
        let mut series = vec![start];
        for k in 1..=self.order {
            let total = self.convolved(k, u, slope)?;
            series.push(self.part(&total, k)?);
        }
        Ok(series)
    }

    fn sin_cos(&self, u: &Series<T>) -> Step<(Series<T>, Series<T>)> {
        let (sin, cos) = function::sin_cos(&u[0], self.cx)?;
        let (mut s, mut c) = (vec![sin], vec![cos]);
        for k in 1..=self.order {
            let up = self.convolved(k, u, &c)?;
            let down = self.convolved(k, u, &s)?;
            s.push(self.part(&up, k)?);
            c.push(self.part(&down.neg(), k)?);
        }
        Ok((s, c))
    }

    /// A constant power.
    fn raised(&self, u: &Series<T>, w: &Number<T>) -> Step<Series<T>> {
        if let Real(Component::Exact(n)) = w
            && n.is_int()
            && let Ok(n) = u8::try_from(n.numerator())
        {
            if n == 0 {
                return Ok(self.constant(Number::int(1)));
            }
            let mut power = squaring::power(u.clone(), n.into(), |a, b| self.mul(a, b))?;
            // The power of the enclosure is sharper than a product of enclosures.
            power[0] = u[0].power(w, self.cx)?;
            return Ok(power);
        }
        let mut c = vec![u[0].power(w, self.cx)?];
        for k in 1..=self.order {
            let total = self.fold(
                k,
                |j| {
                    if u[j].is_zero() {
                        return Ok(Number::int(0));
                    }
                    let (by, rest) = (Rational::from(j), Rational::from(k - j));
                    let weight = w.mul(&Number::exact(by), self.cx)?.sub(&Number::exact(rest), self.cx)?;
                    weight.mul(&u[j], self.cx)?.mul(&c[k - j], self.cx)
                },
                1,
            )?;
            c.push(self.part(&total, k)?.div(&u[0], self.cx)?);
        }
        Ok(c)
    }

    fn power(&mut self, base: &'a Expr, exponent: &'a Expr) -> Step<Series<T>> {
        if *base == Expr::Constant(Constant::E) {
            let exponent = self.of(exponent)?;
            return self.exp(&exponent);
        }
        let u = self.of(base)?;
        if !mentions(exponent, self.variable) {
            let w = self.scope.value(exponent)?;
            return self.raised(&u, &w);
        }
        let (log, w) = (self.ln(&u)?, self.of(exponent)?);
        let product = self.mul(&w, &log)?;
        self.exp(&product)
    }

    fn ln(&self, u: &Series<T>) -> Step<Series<T>> {
        let slope = self.raised(u, &Number::int(-1))?;
        self.integrated(u[0].ln(self.cx)?, &slope, u)
    }

    fn call(&self, function: Function, u: &Series<T>) -> Step<Series<T>> {
        use Function::{Cos, Cosh, Cot, Coth, Csc, Csch, Sec, Sech, Sin, Sinh, Tan, Tanh};
        let one = || self.constant(Number::int(1));
        let half = |a: &Series<T>| a.iter().map(|a| a.half(self.cx)).collect::<Step<Series<T>>>();
        let (s, c) = match function {
            Sin | Cos | Tan | Cot | Sec | Csc => self.sin_cos(u)?,
            Sinh | Cosh | Tanh | Coth | Sech | Csch => {
                let (up, down) = (self.exp(u)?, self.exp(&minus(u))?);
                (half(&self.add(&up, &minus(&down))?)?, half(&self.add(&up, &down)?)?)
            }
            _ => return self.call_other(function, u),
        };
        match function {
            Sin | Sinh => Ok(s),
            Cos | Cosh => Ok(c),
            Tan | Tanh => self.div(&s, &c),
            Cot | Coth => self.div(&c, &s),
            Sec | Sech => self.div(&one(), &c),
            _ => self.div(&one(), &s),
        }
    }

    /// A function that is neither circular nor hyperbolic.
    fn call_other(&self, function: Function, u: &Series<T>) -> Step<Series<T>> {
        let start = || function::call(function, &u[..1], self.cx);
        match function {
            Function::Ln => self.ln(u),
            Function::Arctan
            | Function::Arccot
            | Function::Artanh
            | Function::Arcsin
            | Function::Arccos
            | Function::Arsinh => {
                // The derivative is ±(1 ± u²) to the power of −1 or −1/2.
                let plus = matches!(function, Function::Arctan | Function::Arccot | Function::Arsinh);
                let rational = matches!(function, Function::Arctan | Function::Arccot | Function::Artanh);
                let falls = matches!(function, Function::Arccot | Function::Arccos);
                let square = self.mul(u, u)?;
                let square = if plus { square } else { minus(&square) };
                let inner = self.add(&self.constant(Number::int(1)), &square)?;
                let power = if rational { Number::int(-1) } else { Number::int(-1).half(self.cx)? };
                let slope = self.raised(&inner, &power)?;
                self.integrated(start()?, &if falls { minus(&slope) } else { slope }, u)
            }
            Function::Abs => match &u[0] {
                Real(part) => match part.sign() {
                    Some(std::cmp::Ordering::Greater) => Ok(u.clone()),
                    Some(std::cmp::Ordering::Less) => Ok(minus(u)),
                    _ => Err(StepError::Imprecise),
                },
                _ => Err(StepError::Unsupported),
            },
            // Constant between its jumps; an enclosure without a jump has one value.
            Function::Floor | Function::Ceil | Function::Sign => match &u[0] {
                Real(Component::Interval(_)) => Ok(self.constant(start()?)),
                _ => Err(StepError::Unsupported),
            },
            _ => Err(StepError::Unsupported),
        }
    }
}
