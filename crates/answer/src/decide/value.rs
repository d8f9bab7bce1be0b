//! Comparison of expressions.
//!
//! Doubles tell most differences apart at once, and prove them. What they leave open goes to canonical forms,
//! which prove equality; then to higher precision, which proves smaller differences; and what still agrees
//! at every point, to many digits, is the same very likely.

use super::comparator::Comparator;
use super::estimate::{has_corners, has_negligible_parts};
use super::noncommutative;
use super::points::{self, Points};
use super::truth::Truth;
use aske_algebra::approx::{self, Agreement, EvaluationError, Point, Value};
use aske_algebra::exact;
use aske_algebra::expr::{Expr, Function, Over, Rational, Symbol};
use aske_algebra::verdict::Method;
use dashu_int::{IBig, UBig};

/// The precision at which two constants that still agree are taken for the same.
const MAX_BITS: u32 = 320;
/// Bits in which an estimate (of an integral, a limit, a long sum) must agree.
const ESTIMATE_BITS: u32 = 30;
/// Digits that a policy can ask for.
const MAX_DIGITS: u32 = 1_000;
/// Points at which two functions are compared with doubles.
const POINTS: usize = 6;

impl Comparator<'_> {
    /// The same number, or the same function of the same variables.
    pub(crate) fn same_value(self, a: &Expr, b: &Expr) -> Truth {
        if self.fuel.spend(20).is_err() {
            return Truth::Unknown;
        }
        if let (Expr::Number(a), Expr::Number(b)) = (a, b) {
            return Truth::of(a == b, Method::Exact);
        }
        if a == b {
            // What has no value is the same as nothing, unless it is written the same.
            return Truth::of(!self.is_undefined(a), Method::Exact);
        }
        let Some((a, b)) = self.without_applications(a, b) else { return Truth::Unknown };
        let (a, b) = (&*a, &*b);
        let names = names_of(a, b);
        if names.is_empty() {
            return match self.same_constant(a, b) {
                Truth::Yes(Method::Probable) if has_negligible_parts(a) || has_negligible_parts(b) => {
                    Truth::Unknown
                }
                Truth::Yes(_) if self.is_doubtful(a) || self.is_doubtful(b) => Truth::Unknown,
                other => other,
            };
        }
        let found = self.same_function(a, b, &names);
        match if matches!(found, Truth::No(_)) { found.or(|| self.same_up_to_constants(a, b)) } else { found }
        {
            Truth::Yes(_) if self.is_doubtful(a) || self.is_doubtful(b) => Truth::Unknown,
            Truth::Yes(Method::Probable)
                if [a, b].into_iter().any(|side| has_corners(side) || has_negligible_parts(side)) =>
            {
                Truth::Unknown
            }
            Truth::Yes(_) if noncommutative::may_differ(a, b) => Truth::Unknown,
            // Points are real, but these may be complex.
            Truth::Yes(Method::Probable) if has_complex_parts(a) || has_complex_parts(b) => Truth::Unknown,
            other => other,
        }
    }

    fn is_undefined(self, expr: &Expr) -> bool {
        !matches!(expr, Expr::Number(_) | Expr::Decimal(_) | Expr::Symbol(_) | Expr::Constant(_))
            && matches!(
                approx::evaluate(expr, &Point::none(), 53, self.fuel),
                Err(EvaluationError::Undefined)
            )
    }

    fn same_constant(self, a: &Expr, b: &Expr) -> Truth {
        if a.has_decimal() || b.has_decimal() {
            return self.same_rounded(a, b);
        }
        match approx::agreement(a, b, &Point::none(), 53, self.fuel) {
            (Agreement::Apart, true) => return Truth::No(Method::Interval),
            (Agreement::Same, true) => return Truth::Yes(Method::Exact),
            (Agreement::Unclear(EvaluationError::Undefined), _) => return Truth::No(Method::Exact),
            (Agreement::Unclear(EvaluationError::OutOfFuel), _) => return Truth::Unknown,
            _ => {}
        }
        if let Some(truth) = self.by_form(a, b) {
            return truth;
        }
        match approx::agreement(a, b, &Point::none(), MAX_BITS, self.fuel) {
            (Agreement::Apart, true) => Truth::No(Method::Interval),
            (Agreement::Same, true) => Truth::Yes(Method::Exact),
            (Agreement::Apart, false) => Truth::No(Method::Probable),
            (Agreement::Same, false) => Truth::Yes(Method::Probable),
            (Agreement::Close { bits, absolute }, rigorous) => {
                // Bounds of an integral or a long sum do not sharpen with the precision.
                let enough = if rigorous && !has_bind(a) && !has_bind(b) { 200 } else { ESTIMATE_BITS };
                if bits.max(absolute) >= enough { Truth::Yes(Method::Probable) } else { Truth::Unknown }
            }
            (Agreement::Unclear(EvaluationError::Undefined), _) => Truth::No(Method::Exact),
            (Agreement::Unclear(_), _) => Truth::Unknown,
        }
    }

    /// What canonical forms say, and residues where those would be too long.
    fn by_form(self, a: &Expr, b: &Expr) -> Option<Truth> {
        if let Ok(Some(equal)) = self.fuel.half(|fuel| exact::same(a, b, fuel)) {
            return Some(Truth::of(equal, Method::Exact));
        }
        match self.fuel.half(|fuel| exact::residues_agree(a, b, fuel)) {
            Ok(Some(true)) => Some(Truth::Yes(Method::Probable)),
            Ok(Some(false)) => Some(Truth::No(Method::Exact)),
            Ok(None) | Err(_) => None,
        }
    }

    /// A number with a decimal point against another: equal to that many decimals and significant digits.
    fn same_rounded(self, a: &Expr, b: &Expr) -> Truth {
        let both = a.has_decimal() && b.has_decimal();
        let value = |expr| approx::refine(expr, &Point::none(), 60, 256, self.fuel);
        let (a, b) = match (value(a), value(b)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(EvaluationError::Undefined), _) | (_, Err(EvaluationError::Undefined)) => {
                return Truth::No(Method::Exact);
            }
            _ => return Truth::Unknown,
        };
        if let (Value::Exact(a), Value::Exact(b)) = (&a, &b) {
            return Truth::of(
                self.close_enough(a, b, both),
                if a == b { Method::Exact } else { Method::Tolerance },
            );
        }
        if a.is_infinite() || b.is_infinite() {
            return Truth::of(
                a.is_infinite() && b.is_infinite() && a.order(&b) == Some(std::cmp::Ordering::Equal),
                Method::Exact,
            );
        }
        if a.is_surely_not_real() != b.is_surely_not_real() {
            return Truth::No(Method::Interval);
        }
        // Both parts of a complex number, from the middle of narrow enclosures.
        let parts = |value: &Value| {
            let (re, im) = middle(value);
            Some((rational(re)?, rational(im)?))
        };
        match (parts(&a), parts(&b)) {
            (Some((a_re, a_im)), Some((b_re, b_im))) => Truth::of(
                self.close_enough(&a_re, &b_re, both) && self.close_enough(&a_im, &b_im, both),
                Method::Tolerance,
            ),
            _ => Truth::Unknown,
        }
    }

    /// Agreement to the policy's decimals and significant digits.
    fn close_enough(self, a: &Rational, b: &Rational, both_rounded: bool) -> bool {
        if a == b {
            return true;
        }
        // Two rounded numbers must share more digits: neither is the exact one.
        let digits = self.policy.significant_digits + if both_rounded { 2 } else { 0 };
        let ten = |power: u32| Rational::from(UBig::from(10_u8).pow(power.min(MAX_DIGITS) as usize));
        let absolute =
            |value: &Rational| if *value < Rational::ZERO { -value.clone() } else { value.clone() };
        let gap = absolute(&(a - b));
        let decimals = ten(self.policy.decimals);
        let half = Rational::from_parts(IBig::ONE, UBig::from(2_u8));
        let rounded = |value: &Rational| (value * &decimals + &half).floor();
        let near = &gap * &decimals <= half || rounded(a) == rounded(b);
        let largest = absolute(a).max(absolute(b));
        near && &gap * ten(digits) <= largest * Rational::from(5_u8)
    }

    /// The same function where arbitrary constants have other names: `x^2 + C` and `x^2 + K`, `Ae^x` and `Ce^x`.
    fn same_up_to_constants(self, a: &Expr, b: &Expr) -> Truth {
        const NO: Truth = Truth::No(Method::Kind);
        let is_constant = |name: &Symbol| {
            let stem = name.split_once('_').map_or(name.as_str(), |(stem, _)| stem);
            matches!(stem, "C" | "c" | "K" | "A" | "B")
                && (stem.len() == name.len() || matches!(stem, "C" | "c"))
        };
        let constants = |expr: &Expr| {
            let (constants, variables): (Vec<Symbol>, Vec<Symbol>) =
                exact::free_symbols(expr).into_iter().partition(is_constant);
            (constants, variables)
        };
        let ((in_a, variables_a), (in_b, variables_b)) = (constants(a), constants(b));
        // Antiderivatives may differ by a number. Only C is always arbitrary.
        if let ([c], [d], [variable]) = (in_a.as_slice(), in_b.as_slice(), variables_a.as_slice())
            && c == "C"
            && d == "C"
            && variables_a == variables_b
            && let (Some(a), Some(b)) = (without_constant(a, c), without_constant(b, d))
        {
            return self.is_constant(&a.minus(b), variable);
        }
        let arbitrary = |names: &[Symbol]| names.iter().any(|name| name.starts_with(['C', 'c']));
        // In `\frac12 ab\sin C` and `a + b + c` they are given.
        let given = |expr: &Expr, names: &[Symbol]| {
            expr.any(&|part| {
                matches!(part, Expr::Call(_, inside) if inside.iter().any(|e| names.iter().any(|n| e.has_symbol(n))))
            })
        };
        let is_variable =
            |name: &Symbol| matches!(name.as_str(), "x" | "y" | "z" | "t" | "s" | "u" | "r" | "theta");
        if given(a, &in_a) || given(b, &in_b) || !variables_a.iter().any(is_variable) {
            return NO;
        }
        if in_a.is_empty()
            || in_a.len() > 2
            || in_a.len() != in_b.len()
            || variables_a.is_empty()
            || variables_a != variables_b
            || !(arbitrary(&in_a) || arbitrary(&in_b))
        {
            return NO;
        }
        let placeholders = ["□0", "□1"];
        let renamed = |expr: &Expr, names: &[Symbol], places: &[&str]| {
            names.iter().zip(places).fold(expr.clone(), |expr, (name, place)| {
                exact::substitute(&expr, name, &Expr::symbol(place))
            })
        };
        let a = renamed(a, &in_a, &placeholders);
        let straight = self.same_value(&a, &renamed(b, &in_b, &placeholders));
        if straight.is_yes() || in_b.len() == 1 {
            return straight;
        }
        self.same_value(&a, &renamed(b, &in_b, &["□1", "□0"]))
    }

    /// Whether a function of one variable has one value.
    fn is_constant(self, expr: &Expr, variable: &Symbol) -> Truth {
        for place in [0, 1] {
            let value = exact::substitute(expr, variable, &Expr::int(place));
            if !self.is_undefined(&value) {
                return self.same_value(expr, &value);
            }
        }
        Truth::Unknown
    }

    fn same_function(self, a: &Expr, b: &Expr, names: &[Symbol]) -> Truth {
        let places = Points::for_expressions(a, b);
        let complex = a.has_i() || b.has_i();
        let mut valid = 0;
        let mut kept = Vec::new();
        for index in 0..POINTS * 2 {
            let at = places.point(names, index);
            let (near, rigorous) = approx::agreement(a, b, &at, 53, self.fuel);
            match near {
                Agreement::Apart if complex || self.both_real(a, b, &at) => {
                    // Estimates that are far apart are as good as a proof at several points only.
                    if rigorous {
                        return Truth::No(Method::Interval);
                    }
                    return Truth::No(Method::Probable);
                }
                Agreement::Same | Agreement::Close { .. } => {
                    valid += 1;
                    if matches!(near, Agreement::Close { .. }) {
                        kept.push(at);
                    }
                }
                Agreement::Unclear(EvaluationError::OutOfFuel) => return Truth::Unknown,
                _ => {}
            }
            if valid >= POINTS {
                break;
            }
        }
        if let Some(truth) = self.by_form(a, b) {
            return truth;
        }
        // Corners and jumps are looked for further out and at integers.
        if has_corners(a) || has_corners(b) {
            let counts = wants_integers(a) || wants_integers(b);
            for index in 0..points::WIDE {
                let at = points::wide(names, index, counts);
                if let (Agreement::Apart, true) = approx::agreement(a, b, &at, 53, self.fuel)
                    && (complex || self.both_real(a, b, &at))
                {
                    return Truth::No(Method::Interval);
                }
            }
        }
        if valid < 3 {
            return if a == b { Truth::Yes(Method::Exact) } else { Truth::Unknown };
        }
        for at in kept.iter().take(2) {
            match approx::agreement(a, b, at, 128, self.fuel) {
                (Agreement::Apart, true) => return Truth::No(Method::Interval),
                (Agreement::Apart, false) => return Truth::No(Method::Probable),
                (Agreement::Close { bits, absolute }, rigorous) => {
                    let sharp = rigorous && !has_bind(a) && !has_bind(b);
                    if bits.max(absolute) < if sharp { 80 } else { ESTIMATE_BITS } {
                        return Truth::Unknown;
                    }
                }
                (Agreement::Same, _) => {}
                (Agreement::Unclear(_), _) => return Truth::Unknown,
            }
        }
        self.agree_at_integers(a, b, names)
    }

    /// Two functions that agree at scattered points, where one is periodic in its variables at integers (`\cos\frac{n\pi}{2}`,
    /// `(-1)^n`): they must agree in every class of residues.
    fn agree_at_integers(self, a: &Expr, b: &Expr, names: &[Symbol]) -> Truth {
        let Some(period) = points::period(a, b) else { return Truth::Unknown };
        if period == 1 {
            return Truth::Yes(Method::Probable);
        }
        for variable in 0..names.len() {
            for value in 1..=period {
                match approx::agreement(a, b, &points::consecutive(names, variable, value), 53, self.fuel) {
                    (Agreement::Apart, true) => return Truth::No(Method::Interval),
                    (Agreement::Apart, false) => return Truth::No(Method::Probable),
                    (Agreement::Unclear(EvaluationError::OutOfFuel), _) => return Truth::Unknown,
                    _ => {}
                }
            }
        }
        Truth::Yes(Method::Probable)
    }

    fn both_real(self, a: &Expr, b: &Expr, at: &Point) -> bool {
        let real =
            |expr| approx::evaluate(expr, at, 53, self.fuel).is_ok_and(|value| !value.is_surely_not_real());
        real(a) && real(b)
    }

    /// How two real constants are ordered.
    pub(crate) fn order(self, a: &Expr, b: &Expr) -> Option<std::cmp::Ordering> {
        use std::cmp::Ordering;
        if let (Expr::Number(a), Expr::Number(b)) = (a, b) {
            return Some(a.cmp(b));
        }
        let value = |expr| approx::refine(expr, &Point::none(), 40, 128, self.fuel).ok();
        match value(a)?.order(&value(b)?) {
            Some(order @ (Ordering::Less | Ordering::Greater)) => {
                // A rounded end of an interval may be the other's exact one.
                if (a.has_decimal() || b.has_decimal()) && self.same_constant(a, b).is_yes() {
                    return Some(Ordering::Equal);
                }
                Some(order)
            }
            Some(Ordering::Equal) => Some(Ordering::Equal),
            None => self.same_constant(a, b).is_yes().then_some(Ordering::Equal),
        }
    }
}

fn middle(value: &Value) -> (f64, f64) {
    match value {
        Value::Ball(enclosure) => {
            let (low, high) = value.to_f64_bounds();
            let (im_low, im_high) = enclosure.imaginary_bounds();
            (f64::midpoint(low, high), f64::midpoint(im_low, im_high))
        }
        other => (other.to_f64(), 0.0),
    }
}

fn rational(value: f64) -> Option<Rational> {
    Rational::try_from(value).ok()
}

fn has_bind(expr: &Expr) -> bool {
    expr.any(&|part| matches!(part, Expr::Bind(_)))
}

/// Whether a part of a variable that is usually complex is taken: `|z|`, `\operatorname{Re} w`.
fn has_complex_parts(expr: &Expr) -> bool {
    use Function as F;
    let complex = |part: &Expr| matches!(part, Expr::Symbol(name) if name.starts_with(['z', 'w']));
    expr.any(&|part| {
        matches!(part, Expr::Call(F::Abs | F::Re | F::Im | F::Conjugate | F::Arg, inside) if inside.iter().any(|e| e.any(&complex)))
    })
}

/// The variables of two expressions, each once and in order.
pub(crate) fn names_of(a: &Expr, b: &Expr) -> Vec<Symbol> {
    let mut names = exact::free_symbols(a);
    names.extend(exact::free_symbols(b));
    names.into_iter().collect()
}

/// Whether an expression has no variables.
pub(crate) fn is_closed(expr: &Expr) -> bool {
    exact::free_symbols(expr).is_empty()
}

/// Whether some part only makes sense at integers.
pub(crate) fn wants_integers(expr: &Expr) -> bool {
    use Function as F;
    expr.any(&|part| match part {
        Expr::Call(F::Factorial | F::DoubleFactorial | F::Binomial | F::Gcd | F::Lcm | F::Mod, parts) => {
            !parts.iter().all(is_closed)
        }
        Expr::Bind(bind) => match &bind.over {
            Over::Sum(a, b) | Over::Product(a, b) => !is_closed(a) || !is_closed(b),
            _ => false,
        },
        Expr::Power(base, exponent) => points::is_negative(base) && !is_closed(exponent),
        _ => false,
    })
}
/// An expression without the constant that is added to it: `x^2` of `x^2 + C`.
fn without_constant(expr: &Expr, constant: &Symbol) -> Option<Expr> {
    let Expr::Sum(parts) = expr else { return None };
    let (constants, rest): (Vec<&Expr>, Vec<&Expr>) =
        parts.iter().partition(|part| matches!(part, Expr::Symbol(name) if name == constant));
    let free = !rest.is_empty() && rest.iter().all(|part| !part.has_symbol(constant));
    (constants.len() == 1 && free).then(|| Expr::Sum(rest.into_iter().cloned().collect()))
}
