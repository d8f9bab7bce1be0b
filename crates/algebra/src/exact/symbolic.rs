//! Operations on expression trees: free variables, substitution, derivatives, linear equations.

use std::collections::BTreeSet;

use super::{field::Field, zero::ZeroTest};
use crate::{
    expr::{Constant, Expr, Function, Over, Symbol},
    fuel::Fuel,
};

/// The variables an expression depends on; bound ones are not among them.
pub fn free_symbols(expr: &Expr) -> BTreeSet<Symbol> {
    let mut out = BTreeSet::new();
    gather(expr, &mut Vec::new(), &mut out);
    out
}

fn gather<'e>(expr: &'e Expr, bound: &mut Vec<&'e Symbol>, out: &mut BTreeSet<Symbol>) {
    match expr {
        Expr::Symbol(name) => {
            if !bound.contains(&name) {
                out.insert(name.clone());
            }
        }
        Expr::Bind(bind) => {
            match &bind.over {
                // These two give a function of their variable.
                Over::Antiderivative | Over::Derivative(_) => return gather(&bind.body, bound, out),
                over => over.bounds().into_iter().for_each(|part| gather(part, bound, out)),
            }
            bound.push(&bind.variable);
            gather(&bind.body, bound, out);
            bound.pop();
        }
        other => other.children().into_iter().for_each(|child| gather(child, bound, out)),
    }
}

/// The expression with a variable replaced wherever it is free.
pub fn substitute(expr: &Expr, symbol: &Symbol, value: &Expr) -> Expr {
    match expr {
        Expr::Symbol(name) if name == symbol => value.clone(),
        Expr::Bind(bind) => {
            let mut bind = bind.clone();
            for part in bind.over.bounds_mut() {
                *part = substitute(part, symbol, value);
            }
            if bind.variable != *symbol {
                if free_symbols(value).contains(&bind.variable) {
                    // The value must not be caught by the operator: rename the bound variable.
                    let fresh = Symbol::new(format!("{}'", bind.variable));
                    bind.body = substitute(&bind.body, &bind.variable, &Expr::Symbol(fresh.clone()));
                    bind.variable = fresh;
                }
                bind.body = substitute(&bind.body, symbol, value);
            }
            Expr::Bind(bind)
        }
        other => other.map(|part| substitute(part, symbol, value)),
    }
}

/// The derivative by a variable. What has no rule becomes a derivative operator, unevaluated.
pub fn derivative(expr: &Expr, by: &Symbol) -> Expr {
    match expr {
        Expr::Symbol(name) if name == by => Expr::int(1),
        Expr::Sum(parts) => {
            Expr::Sum(parts.iter().map(|p| derivative(p, by)).filter(|p| !is_zero(p)).collect())
        }
        Expr::Product(parts) => {
            let mut terms = Vec::new();
            for (at, part) in parts.iter().enumerate() {
                let inner = derivative(part, by);
                if !is_zero(&inner) {
                    let mut factors = parts.clone();
                    factors[at] = inner;
                    terms.push(Expr::Product(factors));
                }
            }
            Expr::Sum(terms)
        }
        Expr::Power(base, exponent) => power_derivative(base, exponent, by),
        Expr::Call(function, args) => match args.as_slice() {
            [u] => {
                let inner = derivative(u, by);
                if is_zero(&inner) {
                    return inner;
                }
                outer_derivative(*function, u).map_or_else(|| open(expr, by), |outer| outer.times(inner))
            }
            _ if free_symbols(expr).contains(by) => open(expr, by),
            _ => Expr::int(0),
        },
        Expr::Apply(..) | Expr::Bind(_) if free_symbols(expr).contains(by) => open(expr, by),
        _ => Expr::int(0),
    }
}

fn is_zero(expr: &Expr) -> bool {
    match expr {
        Expr::Number(value) => value.is_zero(),
        Expr::Sum(parts) => parts.is_empty(),
        _ => false,
    }
}

/// An unknown function named after the derivative, so that it equals only itself.
fn open(expr: &Expr, by: &Symbol) -> Expr {
    Expr::Apply(Symbol::new(format!("d/d{by}")), vec![expr.clone(), Expr::Symbol(by.clone())])
}

fn power_derivative(base: &Expr, exponent: &Expr, by: &Symbol) -> Expr {
    let (du, dv) = (derivative(base, by), derivative(exponent, by));
    let mut terms = Vec::new();
    if !is_zero(&du) {
        let lower = match exponent {
            Expr::Number(n) => Expr::Number(n - dashu_ratio::RBig::ONE),
            other => other.clone().minus(Expr::int(1)),
        };
        terms.push(exponent.clone().times(base.clone().power(lower)).times(du));
    }
    if !is_zero(&dv) {
        let mut factors = vec![base.clone().power(exponent.clone()), dv];
        if *base != Expr::Constant(Constant::E) {
            factors.push(Expr::call(Function::Ln, base.clone()));
        }
        terms.push(Expr::Product(factors));
    }
    Expr::Sum(terms)
}

fn outer_derivative(function: Function, u: &Expr) -> Option<Expr> {
    use Function as F;
    let call = |f| Expr::call(f, u.clone());
    let square = || u.clone().power(Expr::int(2));
    let one_over = |e: Expr| e.power(Expr::int(-1));
    let root = |e: Expr| e.root(Expr::int(2));
    Some(match function {
        F::Sin => call(F::Cos),
        F::Cos => call(F::Sin).negated(),
        F::Tan => call(F::Sec).power(Expr::int(2)),
        F::Cot => call(F::Csc).power(Expr::int(2)).negated(),
        F::Sec => call(F::Sec).times(call(F::Tan)),
        F::Csc => call(F::Csc).times(call(F::Cot)).negated(),
        F::Sinh => call(F::Cosh),
        F::Cosh => call(F::Sinh),
        F::Tanh => call(F::Sech).power(Expr::int(2)),
        F::Coth => call(F::Csch).power(Expr::int(2)).negated(),
        F::Sech => call(F::Sech).times(call(F::Tanh)).negated(),
        F::Csch => call(F::Csch).times(call(F::Coth)).negated(),
        F::Arcsin => one_over(root(Expr::int(1).minus(square()))),
        F::Arccos => one_over(root(Expr::int(1).minus(square()))).negated(),
        F::Arctan => one_over(Expr::int(1).plus(square())),
        F::Arccot => one_over(Expr::int(1).plus(square())).negated(),
        F::Arsinh => one_over(root(square().plus(Expr::int(1)))),
        F::Arcosh => one_over(root(square().minus(Expr::int(1)))),
        F::Artanh => one_over(Expr::int(1).minus(square())),
        F::Ln => one_over(u.clone()),
        F::Abs => u.clone().times(one_over(call(F::Abs))),
        _ => return None,
    })
}

/// The value of a variable that occurs linearly in an expression which is zero: −E(0)/E′.
pub fn solve_linear(zero: &Expr, symbol: &Symbol) -> Option<Expr> {
    let fuel = Fuel::new(200_000);
    let slope = derivative(zero, symbol);
    let rest = substitute(zero, symbol, &Expr::int(0));
    let mut field = Field::new(&fuel);
    let line = rest.clone().plus(slope.clone().times(Expr::Symbol(symbol.clone())));
    // Linear exactly when the expression is its own tangent at zero, with a slope free of the variable.
    let steep = substitute(&slope, symbol, &Expr::int(0));
    for (left, right) in [(zero, &line), (&slope, &steep)] {
        let (a, b) = (field.walk(left).ok()?, field.walk(right).ok()?);
        if field.decide(&a.minus(&b)).ok()? != ZeroTest::Zero {
            return None;
        }
    }
    let value = field.walk(&steep).ok()?;
    (field.decide(&value).ok()? != ZeroTest::Zero).then(|| rest.negated().over(steep))
}
