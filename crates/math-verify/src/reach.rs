//! True identities that math-verify does not find by simplification.

use aske_algebra::exact;
use aske_algebra::expr::{Bind, Constant, Expr, Function, Over, Rational, Symbol};
use aske_algebra::fuel::{Fuel, OutOfFuel};

/// Whether the difference of two formulas is beyond what simplification proves to be zero.
pub(super) fn is_out_of_reach(a: &Expr, b: &Expr, fuel: &Fuel) -> Result<bool, OutOfFuel> {
    let mut parts = Parts::default();
    parts.gather(a);
    parts.gather(b);
    Ok(parts.operators.iter().any(|bind| stays_unevaluated(bind))
        || (parts.antiderivative && parts.absolute)
        || (parts.root_of_sum && parts.absolute)
        || parts.inverses.len() > 1
        || parts.has_multiple_angle(fuel)?)
}

/// The parts of two formulas that decide whether math-verify proves them equal.
#[derive(Default)]
struct Parts<'e> {
    operators: Vec<&'e Bind>,
    antiderivative: bool,
    absolute: bool,
    root_of_sum: bool,
    /// The distinct inverse trigonometric functions of variables.
    inverses: Vec<Function>,
    tangents: Vec<&'e Expr>,
    angles: Vec<&'e Expr>,
}

impl<'e> Parts<'e> {
    fn gather(&mut self, expr: &'e Expr) {
        match expr {
            Expr::Bind(bind) => {
                self.antiderivative |= bind.over == Over::Antiderivative;
                self.operators.push(bind);
            }
            Expr::Power(base, exponent) => {
                let half = Expr::Number(Rational::ONE / Rational::from(2));
                self.root_of_sum |= **exponent == half && matches!(**base, Expr::Sum(_)) && is_open(base);
            }
            Expr::Call(function, parts) if parts.iter().any(is_open) => match function {
                Function::Abs => self.absolute = true,
                Function::Arcsin | Function::Arccos if !self.inverses.contains(function) => {
                    self.inverses.push(*function);
                }
                Function::Tan | Function::Cot => {
                    self.tangents.extend(parts);
                    self.angles.extend(parts);
                }
                Function::Sin | Function::Cos => self.angles.extend(parts),
                _ => {}
            },
            _ => {}
        }
        for child in expr.children() {
            self.gather(child);
        }
    }

    /// The tangent of one angle beside a function of its multiple.
    fn has_multiple_angle(&self, fuel: &Fuel) -> Result<bool, OutOfFuel> {
        for tangent in self.tangents.iter().take(8) {
            for angle in self.angles.iter().take(16).filter(|angle| *angle != tangent) {
                let opposite = Expr::int(-1).times((*angle).clone());
                if exact::proportional(tangent, angle, fuel)? == Some(true)
                    && exact::same(tangent, angle, fuel)? != Some(true)
                    && exact::same(tangent, &opposite, fuel)? != Some(true)
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

fn is_open(expr: &Expr) -> bool {
    !exact::free_symbols(expr).is_empty()
}

fn depends(expr: &Expr, name: &Symbol) -> bool {
    exact::free_symbols(expr).contains(name)
}

/// Sums, products and integrals for which no closed form is found.
fn stays_unevaluated(bind: &Bind) -> bool {
    let (body, index) = (&bind.body, &bind.variable);
    match &bind.over {
        Over::Product(from, to) => (is_open(from) || is_open(to)) && depends(body, index),
        Over::Sum(from, to) => {
            let infinite = *to == Expr::Constant(Constant::Infinity);
            let counts = body.any(&|part| {
                matches!(part, Expr::Call(Function::Factorial | Function::Binomial, inside)
                    if inside.iter().any(|part| depends(part, index)))
            });
            let geometric = body.any(&|part| matches!(part, Expr::Power(base, exponent) if depends(exponent, index) && is_open(base)),
            );
            let reciprocal = body.any(&|part| {
                matches!(part, Expr::Power(base, exponent)
                    if depends(base, index) && matches!(&**exponent, Expr::Number(e) if *e < Rational::ZERO))
            });
            if infinite {
                geometric && !counts
            } else {
                (is_open(from) || is_open(to)) && (counts || geometric || reciprocal)
            }
        }
        Over::Antiderivative => is_exponential_product(body, index),
        _ => false,
    }
}

/// Whether an expression is a product of e to a power with the variable and another factor with it.
fn is_exponential_product(body: &Expr, index: &Symbol) -> bool {
    let Expr::Product(parts) = body else { return false };
    let exponential = |part: &Expr| matches!(part, Expr::Power(base, exponent) if **base == Expr::Constant(Constant::E) && depends(exponent, index));
    parts.iter().any(exponential) && parts.iter().any(|part| !exponential(part) && depends(part, index))
}

/// An antiderivative and a formula without a constant of its own: compared by the derivative.
pub(super) fn antiderivative(a: &Expr, b: &Expr, fuel: &Fuel) -> Result<Option<bool>, OutOfFuel> {
    let (bind, formula) = match (a, b) {
        (Expr::Bind(bind), other) | (other, Expr::Bind(bind)) if bind.over == Over::Antiderivative => {
            (bind, other)
        }
        _ => return Ok(None),
    };
    let constant = match formula {
        Expr::Sum(parts) => parts.iter().any(|part| !depends(part, &bind.variable)),
        other => !depends(other, &bind.variable),
    };
    if constant || formula.any(&|part| matches!(part, Expr::Bind(_))) {
        return Ok(None);
    }
    exact::same(&exact::derivative(formula, &bind.variable), &bind.body, fuel)
}
