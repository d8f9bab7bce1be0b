//! The canonical form has the value of the expression: both are evaluated in complex doubles, independently,
//! that shares nothing, at positive values of the variables.

use proptest::prelude::*;

use super::formula;
use crate::{
    exact::{
        exponent::Q,
        field::Field,
        kernel::Kernel,
        poly::{Mono, Poly},
    },
    expr::{Constant, Expr, Function},
    fuel::Fuel,
};

#[derive(Clone, Copy, Debug)]
struct C(f64, f64);

impl C {
    fn plus(self, o: Self) -> Self {
        Self(self.0 + o.0, self.1 + o.1)
    }
    fn times(self, o: Self) -> Self {
        Self(self.0 * o.0 - self.1 * o.1, self.0 * o.1 + self.1 * o.0)
    }
    fn over(self, o: Self) -> Self {
        let n = o.0 * o.0 + o.1 * o.1;
        self.times(Self(o.0 / n, -o.1 / n))
    }
    fn exp(self) -> Self {
        Self(self.0.exp() * self.1.cos(), self.0.exp() * self.1.sin())
    }
    fn size(self) -> f64 {
        self.0.hypot(self.1)
    }
    fn ln(self) -> Self {
        // Rounding must not choose the side of the cut.
        let im = if self.1.abs() < 1e-12 * self.0.abs() { 0.0 } else { self.1 };
        Self(self.size().ln(), im.atan2(self.0))
    }
    fn power(self, e: Self, odd_root: Option<bool>) -> Self {
        if self.size() < 1e-13 {
            return if e.0 > 0.0 { Self(0.0, 0.0) } else { Self(f64::NAN, 0.0) };
        }
        let real = self.1.abs() < 1e-12 * self.size();
        match odd_root {
            // A real odd root of a negative number.
            Some(flips) if real && self.0 < 0.0 => {
                let size = (-self.0).powf(e.0);
                Self(if flips { -size } else { size }, 0.0)
            }
            _ => self.ln().times(e).exp(),
        }
    }
}

fn odd_root(exponent: &Expr) -> Option<bool> {
    match exponent {
        Expr::Number(q) => {
            let q = Q::from_rational(q)?;
            (q.den() % 2 == 1).then_some(q.num() % 2 != 0)
        }
        _ => None,
    }
}

fn at(expr: &Expr, point: &dyn Fn(&str) -> f64) -> Option<C> {
    let inner = |e: &Expr| at(e, point);
    Some(match expr {
        Expr::Number(v) | Expr::Decimal(v) => C(v.to_f64_fast(), 0.0),
        Expr::Constant(Constant::Pi) => C(std::f64::consts::PI, 0.0),
        Expr::Constant(Constant::E) => C(std::f64::consts::E, 0.0),
        Expr::Constant(Constant::I) => C(0.0, 1.0),
        Expr::Symbol(name) => C(point(name), 0.0),
        Expr::Sum(parts) => parts.iter().try_fold(C(0.0, 0.0), |s, p| Some(s.plus(inner(p)?)))?,
        Expr::Product(parts) => parts.iter().try_fold(C(1.0, 0.0), |s, p| Some(s.times(inner(p)?)))?,
        Expr::Power(b, e) => {
            // Exponents that are not plain numbers are compared only on positive bases.
            let (base, odd) = (inner(b)?, odd_root(e));
            let plain = matches!(**e, Expr::Number(_));
            if !plain && (base.0 <= 0.0 || base.1.abs() > 1e-12) {
                return None;
            }
            base.power(inner(e)?, odd)
        }
        Expr::Call(function, args) => {
            let x = inner(args.first()?)?;
            let i = C(0.0, 1.0);
            let (up, down) = (x.times(i).exp(), x.times(C(0.0, -1.0)).exp());
            let real = x.1.abs() < 1e-12 * x.size().max(1.0);
            match function {
                Function::Sin => up.plus(C(-down.0, -down.1)).over(C(0.0, 2.0)),
                Function::Cos => up.plus(down).over(C(2.0, 0.0)),
                Function::Tan => up.plus(C(-down.0, -down.1)).over(up.plus(down).times(i)),
                Function::Ln => x.ln(),
                Function::Abs => C(x.size(), 0.0),
                Function::Conjugate => C(x.0, -x.1),
                Function::Arctan if real => C(x.0.atan(), 0.0),
                Function::Arcsin if real && x.0.abs() < 1.0 => C(x.0.asin(), 0.0),
                Function::Arg if x.1.abs() > 1e-9 || x.0 > 1e-9 => C(x.ln().1, 0.0),
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// The value of a form, unless its terms cancel so far that machine numbers cannot tell.
fn poly_at(field: &Field<'_>, p: &Poly, point: &dyn Fn(&str) -> f64) -> Option<C> {
    let (mut sum, mut total) = (C(0.0, 0.0), 0.0);
    for (mono, c) in &p.0 {
        let term = C(c.to_f64_fast(), 0.0).times(mono_at(field, mono, point)?);
        sum = sum.plus(term);
        total += term.size();
    }
    (p.is_empty() || sum.size() > 1e-7 * total).then_some(sum)
}

fn mono_at(field: &Field<'_>, mono: &Mono, point: &dyn Fn(&str) -> f64) -> Option<C> {
    mono.0.iter().try_fold(C(1.0, 0.0), |product, (id, e)| {
        let inner = |p: &Poly| poly_at(field, p, point);
        let q = e.num() as f64 / e.den() as f64;
        let base = match field.table.get(*id) {
            Kernel::Unit => return Some(product.times(C(0.0, std::f64::consts::PI * q).exp())),
            Kernel::Exp(m) => return Some(product.times(mono_at(field, m, point)?.times(C(q, 0.0)).exp())),
            Kernel::Pi => C(std::f64::consts::PI, 0.0),
            Kernel::Symbol(name) => C(point(name), 0.0),
            Kernel::Prime(v, _) => C(v.to_f64().value(), 0.0),
            // Of a product of real factors, each stands for the logarithm of its size.
            Kernel::Ln(p) => {
                let value = inner(p)?;
                let variable = field.real(p) && field.region(p).is_none();
                if variable { C(value.size().ln(), 0.0) } else { value.ln() }
            }
            Kernel::Abs(p) => C(inner(p)?.size(), 0.0),
            Kernel::Base(p) => inner(p)?,
            Kernel::Call(Function::Abs, args) => C(inner(&args[0])?.size(), 0.0),
            Kernel::Call(Function::Arctan, args) => C(inner(&args[0])?.0.atan(), 0.0),
            Kernel::Call(Function::Arcsin, args) => C(inner(&args[0])?.0.asin(), 0.0),
            _ => return None,
        };
        let odd = (e.den() % 2 == 1).then_some(e.num() % 2 != 0);
        Some(product.times(base.power(C(q, 0.0), odd)))
    })
}

fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-4i64..7).prop_map(Expr::int),
        prop::sample::select(vec!["x", "y"]).prop_map(Expr::symbol),
        prop::sample::select(vec![
            "pi",
            "e",
            "i",
            "sqrt(2)",
            "1/3",
            "-3/2",
            "sqrt(5)",
            "pi/5",
            "1-x",
            "3-2*sqrt(2)"
        ])
        .prop_map(formula),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        use Function::{Abs, Arcsin, Arctan, Arg, Conjugate, Cos, Ln, Sin, Tan};
        let one = prop::sample::select(vec![Sin, Cos, Tan, Ln, Abs, Arctan, Arcsin, Arg, Conjugate]);
        let exponent = prop::sample::select(vec!["2", "3", "-1", "-2", "1/2", "1/3", "2/3", "-3/2", "3/4"]);
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.plus(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.times(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.over(b)),
            (inner.clone(), exponent).prop_map(|(a, e)| a.power(formula(e))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.power(b)),
            (one, inner).prop_map(|(f, a)| Expr::call(f, a)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 3_000 }))]

    #[test]
    fn normal_forms_keep_the_value(expr in any_expr(), x in 0.1f64..3.0, y in 0.1f64..3.0) {
        let point = |name: &str| if name == "x" { x } else { y };
        let fuel = Fuel::new(300_000);
        let mut field = Field::new(&fuel);
        let Ok(form) = field.walk(&expr).and_then(|p| field.simplified(&p)) else { return Ok(()) };
        // Logarithms and roots of negative parts are outside the promise: only real values are compared.
        let (Some(want), Some(got)) = (real_throughout(&expr, &point), poly_at(&field, &form, &point)) else {
            return Ok(());
        };
        prop_assume!(want.size().is_finite() && want.size() < 1e6 && got.size().is_finite());
        let gap = C(want.0 - got.0, want.1 - got.1).size();
        prop_assert!(gap < 1e-5 * want.size().max(1.0), "{:?} is {:?}, its form {} is {:?}", expr, want,
            super::super::display::poly(&field.table, &form), got);
    }
}

/// The value, if every part with a variable is real and far from zero; numbers may be complex.
fn real_throughout(expr: &Expr, point: &dyn Fn(&str) -> f64) -> Option<C> {
    let value = at(expr, point)?;
    for child in expr.children() {
        real_throughout(child, point)?;
    }
    let real = value.1.abs() < 1e-9 * value.size().max(1.0);
    let number = crate::exact::free_symbols(expr).is_empty();
    let tiny = value.size() < 1e-6 && !matches!(expr, Expr::Number(_));
    (value.size().is_finite() && !tiny && value.size() < 1e4 && (real || number)).then_some(value)
}
