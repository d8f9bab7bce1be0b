//! Conversion of an expression tree to canonical form.

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::{Kernel, PI},
    poly::{Mono, Poly},
};
use crate::expr::{Constant, Expr, Function, Rational};

/// The deepest nesting that is followed.
const DEPTH: u32 = 300;

impl Field<'_> {
    /// The canonical form of an expression.
    pub(super) fn walk(&mut self, expr: &Expr) -> Res<Poly> {
        self.fuel.spend(25)?;
        if self.depth > DEPTH {
            return Err(FormError::Fuel);
        }
        self.depth += 1;
        let out = self.walk_inner(expr);
        self.depth -= 1;
        match out {
            // With a bound variable in scope, the expression itself does not determine the value.
            Err(FormError::Large) if self.scope.is_empty() => self.atom(Kernel::Opaque(expr.clone())),
            Err(FormError::Large) => Err(FormError::Fuel),
            other => other,
        }
    }

    fn walk_inner(&mut self, expr: &Expr) -> Res<Poly> {
        match expr {
            Expr::Number(value) | Expr::Decimal(value) => {
                let poly = Poly::constant(value.clone());
                self.fuel.spend(poly.words())?;
                Ok(poly)
            }
            Expr::Constant(constant) => match constant {
                Constant::Pi => Ok(Poly::kernel(PI, Q::ONE)),
                Constant::E => self.atom(Kernel::Exp(Mono::one())),
                Constant::I => Ok(Self::i()),
                Constant::Infinity => self.atom(Kernel::Infinity),
                Constant::EulerGamma => self.atom(Kernel::EulerGamma),
            },
            Expr::Symbol(name) => match self.scope.iter().rev().find(|(n, _)| n == name) {
                Some((_, value)) => Ok(value.clone()),
                None => self.atom(Kernel::Symbol(name.clone())),
            },
            Expr::Sum(parts) => self.walk_sum(parts),
            Expr::Product(parts) => self.walk_product(parts),
            Expr::Power(base, exponent) => {
                let base = self.walk(base)?;
                let exponent = self.walk(exponent)?;
                if self.infinite(&base) || self.infinite(&exponent) {
                    return Err(FormError::Large);
                }
                let power = self.power(&base, &exponent)?;
                self.expanded_or_same(&power)
            }
            Expr::Call(function, args) => {
                let args = args.iter().map(|a| self.walk(a)).collect::<Res<Vec<_>>>()?;
                if args.iter().any(|a| self.infinite(a)) {
                    return Err(FormError::Large);
                }
                match self.call(*function, &args) {
                    Err(FormError::Large) => self.atom(Kernel::Call(*function, args)),
                    other => other,
                }
            }
            Expr::Apply(name, args) => {
                let args = args
                    .iter()
                    .map(|a| self.walk(a).and_then(|p| self.simplified(&p)))
                    .collect::<Res<Vec<_>>>()?;
                self.atom(Kernel::Apply(name.clone(), args))
            }
            Expr::Bind(bind) => self.bind(bind),
        }
    }

    fn walk_sum(&mut self, parts: &[Expr]) -> Res<Poly> {
        let mut terms: Vec<(Mono, Rational)> = Vec::new();
        let mut infinite = 0;
        for part in parts {
            let p = self.walk(part)?;
            infinite += usize::from(self.infinite(&p));
            self.fuel.spend(10 + 10 * p.len() as u64 + p.words())?;
            terms.extend(p.0);
            if terms.len() > 20_000 {
                return Err(FormError::Fuel);
            }
        }
        if infinite > 0 && parts.len() > 1 {
            return Err(FormError::Large);
        }
        // Adding a chain of rationals grows their denominators: pay for the longest.
        let longest = terms.iter().map(|(_, c)| super::poly::words(c)).max().unwrap_or(0);
        self.fuel.spend(longest.saturating_mul(terms.len() as u64))?;
        Ok(Poly::collect(terms))
    }

    fn walk_product(&mut self, parts: &[Expr]) -> Res<Poly> {
        let mut out = Poly::one();
        let mut infinite = false;
        for part in parts {
            let p = self.walk(part)?;
            infinite |= self.infinite(&p);
            out = self.times(&out, &p)?;
        }
        if infinite {
            return match out.0.as_slice() {
                // A positive multiple of infinity is infinity.
                [(mono, value)] if mono.0.len() == 1 && mono.0[0].1 == Q::ONE => {
                    Ok(Poly::term(mono.clone(), value.signum()))
                }
                _ => Err(FormError::Large),
            };
        }
        self.expanded_or_same(&out)
    }

    fn call(&mut self, function: Function, args: &[Poly]) -> Res<Poly> {
        use Function as F;
        self.fuel.spend(8)?;
        match (function, args) {
            (F::Binomial, [n, k]) => self.binomial(n, k),
            (F::Gcd | F::Lcm | F::Max | F::Min | F::Mod, _) => self.simplified_arithmetic(function, args),
            (_, [x]) => self.call_one(function, x),
            _ => Err(FormError::Large),
        }
    }

    fn simplified_arithmetic(&mut self, function: Function, args: &[Poly]) -> Res<Poly> {
        let args = args.iter().map(|a| self.simplified(a)).collect::<Res<Vec<_>>>()?;
        self.arithmetic(function, &args)
    }

    fn call_one(&mut self, function: Function, x: &Poly) -> Res<Poly> {
        use Function as F;
        match function {
            F::Arcsin | F::Arccos | F::Arctan | F::Arccot | F::Arcsec | F::Arccsc => {
                self.inverse(function, x)
            }
            F::Arsinh | F::Arcosh | F::Artanh => self.inverse(function, x),
            F::Ln => self.logarithm(x),
            F::Abs => {
                let x = self.simplified(x)?;
                self.absolute_power(&x, Q::ONE)
            }
            F::Factorial => self.factorial(x),
            F::Gamma => self.factorial(&x.minus(&Poly::one())),
            F::DoubleFactorial => self.double_factorial(x),
            F::Sign | F::Floor | F::Ceil => self.simplified_arithmetic(function, std::slice::from_ref(x)),
            F::Re | F::Im | F::Conjugate | F::Arg => self.complex_part(function, x),
            _ => self.trigonometric(function, x),
        }
    }

    fn complex_part(&mut self, function: Function, x: &Poly) -> Res<Poly> {
        let x = self.simplified(x)?;
        if function == Function::Arg {
            if let Some(sign) = self.sign_of(&x).filter(|s| *s != 0) {
                let turn = Rational::from(i64::from(sign < 0));
                return Ok(Poly::term(Mono::of(PI, Q::ONE), turn));
            }
            return self.argument(&x);
        }
        let Some(conjugate) = self.conjugated(&x)? else { return Err(FormError::Large) };
        let half = Rational::ONE / Rational::from(2);
        let out = match function {
            Function::Re => self.sum(&x, &conjugate)?.scaled(&half),
            Function::Im => {
                let gap = self.difference(&x, &conjugate)?.scaled(&half);
                self.mul(&gap, &Self::i().negated())?
            }
            _ => conjugate,
        };
        self.simplified(&out)
    }

    /// The principal argument of a + bi: an arctangent, and a half turn on the left.
    fn argument(&mut self, x: &Poly) -> Res<Poly> {
        let Some(conjugate) = self.conjugated(x)? else { return Err(FormError::Large) };
        let re = self.sum(x, &conjugate)?;
        let gap = self.difference(x, &conjugate)?;
        let im = self.mul(&gap, &Self::i().negated())?;
        let (Some(right), Some(up)) = (self.sign_of(&re), self.sign_of(&im)) else {
            return Err(FormError::Large);
        };
        let quarter = |n: i64| Poly::term(Mono::of(PI, Q::ONE), Rational::from(n) / Rational::from(2));
        if right == 0 {
            return if up == 0 { Err(FormError::Undefined) } else { Ok(quarter(up)) };
        }
        let inverse = self.invert(&re)?;
        let slope = self.times(&im, &inverse)?;
        let angle = self.inverse(Function::Arctan, &slope)?;
        let turn = if right > 0 {
            0
        } else if up < 0 {
            -2
        } else {
            2
        };
        self.sum(&angle, &quarter(turn))
    }
}
