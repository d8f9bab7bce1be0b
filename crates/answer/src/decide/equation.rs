//! Comparison of equations and inequalities, up to a factor.

use super::comparator::Comparator;
use super::domain::renamed;
use super::estimate::has_corners;
use super::points::Points;
use super::shape::{Definition, assignment, definition, named_ratio};
use super::truth::Truth;
use super::value::{is_closed, names_of};
use crate::answer::{Answer, Relation, RelationOp, UNNAMED};
use aske_algebra::approx::{self, Point};
use aske_algebra::exact;
use aske_algebra::expr::{Expr, Rational, Symbol};
use aske_algebra::verdict::Method;
use std::cmp::Ordering;

impl Comparator<'_> {
    pub(crate) fn same_relation(self, a: &Relation, b: &Relation) -> Truth {
        // `at least 6` speaks of whatever the other names.
        if let Some(named) = self.named_like(a, b).or_else(|| self.named_like(b, a)) {
            return named;
        }
        // The names of a function's arguments do not matter: `f(x) = x + 1` and `f(t) = t + 1`.
        if let (Some(a), Some(b)) = (definition(a), definition(b))
            && a.name == b.name
        {
            let bare = |definition: &Definition<'_>| {
                definition
                    .arguments
                    .iter()
                    .enumerate()
                    .fold(definition.body.clone(), |body, (at, argument)| {
                        renamed(&body, argument, &Symbol::new(format!("□{at}")))
                    })
            };
            return if a.arguments.len() == b.arguments.len() {
                self.same(&bare(&a), &bare(&b))
            } else {
                Truth::No(Method::Kind)
            };
        }
        // `f(x) = 2x` and `y = 2x`
        for (function, curve) in [(a, b), (b, a)] {
            if let (Some(function), Some(curve)) = (definition(function), assignment(curve))
                && function.arguments == ["x"]
                && curve.name == "y"
            {
                return self.same(function.body, &curve.value);
            }
        }
        match (assignment(a), assignment(b)) {
            (Some(a), Some(b)) if a.name == b.name => return self.same(&a.value, &b.value),
            _ => {}
        }
        if let (Some(ratio_a), Some(ratio_b)) = (named_ratio(a), named_ratio(b)) {
            let same = a.free_symbols() == b.free_symbols();
            return if same { self.same(&ratio_a, &ratio_b) } else { Truth::No(Method::Kind) };
        }
        // `a = b = c` in any order.
        let names = |relation: &Relation| {
            relation.signs.len() > 1
                && relation.signs.iter().all(|sign| *sign == RelationOp::Equal)
                && relation.sides.iter().all(|side| side.as_name().is_some())
        };
        if names(a) && names(b) {
            return self.in_any_order(&a.sides, &b.sides);
        }
        let membership = b.signs.iter().any(|sign| matches!(sign, RelationOp::In | RelationOp::NotIn));
        self.same_chain(a, b)
            .or(|| if membership { Truth::No(Method::Kind) } else { self.same_chain(a, &reversed(b)) })
    }

    /// A relation that names nothing, compared under the other's name.
    fn named_like(self, unnamed: &Relation, other: &Relation) -> Option<Truth> {
        let is_unnamed = |side: &Answer| matches!(side, Answer::Value(Expr::Symbol(name)) if name == UNNAMED);
        if !unnamed.sides.iter().any(is_unnamed) {
            return None;
        }
        let symbols = other.free_symbols();
        let name = symbols.iter().next().filter(|name| symbols.len() == 1 && *name != UNNAMED)?;
        let named = Answer::Value(Expr::Symbol(name.clone()));
        let sides =
            unnamed.sides.iter().map(|side| if is_unnamed(side) { named.clone() } else { side.clone() });
        Some(self.same_relation(&Relation { sides: sides.collect(), signs: unnamed.signs.clone() }, other))
    }

    /// RelationOp by sign, in the order written.
    fn same_chain(self, a: &Relation, b: &Relation) -> Truth {
        if a.signs.len() != b.signs.len() {
            return Truth::No(Method::Kind);
        }
        let sides = |relation: &Relation, at: usize| match (&relation.sides[at], &relation.sides[at + 1]) {
            (Answer::Value(left), Answer::Value(right)) => Some((left.clone(), right.clone())),
            _ => None,
        };
        Truth::all((0..a.signs.len()).map(|at| match (sides(a, at), sides(b, at)) {
            (Some(left), Some(right)) => self.same_step(left, a.signs[at], right, b.signs[at]),
            _ if a.signs[at] == b.signs[at] => {
                self.same(&a.sides[at], &b.sides[at]).and(|| self.same(&a.sides[at + 1], &b.sides[at + 1]))
            }
            _ => Truth::No(Method::Kind),
        }))
    }

    /// One sign between two expressions against another.
    fn same_step(self, a: (Expr, Expr), sign_a: RelationOp, b: (Expr, Expr), sign_b: RelationOp) -> Truth {
        let oriented = |(left, right): (Expr, Expr), sign: RelationOp| match sign {
            // A power is zero where its base is.
            RelationOp::Equal if right == Expr::int(0) => match left {
                Expr::Power(base, exponent) if matches!(&*exponent, Expr::Number(power) if *power > Rational::ZERO) => {
                    (*base, sign)
                }
                left => (left, sign),
            },
            // All inequalities say that something is positive.
            RelationOp::Less | RelationOp::LessEqual => (right.minus(left), sign.flipped()),
            RelationOp::Approx => (left.minus(right), RelationOp::Equal),
            _ => (left.minus(right), sign),
        };
        let straight = if sign_a == sign_b {
            self.same_value(&a.0, &b.0).and(|| self.same_value(&a.1, &b.1))
        } else {
            Truth::No(Method::Kind)
        };
        if straight.is_yes() {
            return straight;
        }
        if matches!(sign_a, RelationOp::In | RelationOp::NotIn) {
            return straight;
        }
        // Without a variable there is nothing to solve: `1=2` and `3=5` say different things.
        if is_closed(&a.0) && is_closed(&a.1) || is_closed(&b.0) && is_closed(&b.1) {
            return straight;
        }
        let ((a, sign_a), (b, sign_b)) = (oriented(a, sign_a), oriented(b, sign_b));
        if sign_a != sign_b {
            return Truth::No(Method::Kind);
        }
        let Some((a, b)) = self.without_applications(&a, &b) else { return Truth::Unknown };
        let (a, b) = (&*a, &*b);
        match exact::proportional(a, b, self.fuel) {
            Ok(Some(true)) if !sign_a.is_order() || self.same_direction(a, b) => Truth::Yes(Method::Exact),
            Ok(Some(true)) => Truth::No(Method::Exact),
            Ok(Some(false)) if sign_a == RelationOp::Equal => self.same_solutions(a, b),
            // Two forms of one inequality need not be proportional: `1/x > 0` and `x > 0`.
            Ok(Some(false)) if sign_a.is_order() && !(is_polynomial(a) && is_polynomial(b)) => Truth::Unknown,
            Ok(Some(false)) => Truth::No(Method::Probable),
            Ok(None) => self.constant_ratio(a, b, sign_a.is_order()),
            Err(_) => Truth::Unknown,
        }
    }

    /// Whether two equations that are not proportional have the same solutions, by solving each for one of its
    /// variables: `xy = 6` and `y = 6/x`.
    fn same_solutions(self, a: &Expr, b: &Expr) -> Truth {
        for name in names_of(a, b) {
            let (Some(in_a), Some(in_b)) = (self.solved_for(a, &name), self.solved_for(b, &name)) else {
                continue;
            };
            return self.same_value(&in_a, &in_b);
        }
        Truth::No(Method::Probable)
    }

    /// What an equation says one variable is, where no solution is lost by dividing: `xy = 6`, but not `xy = x`.
    fn solved_for(self, zero: &Expr, name: &Symbol) -> Option<Expr> {
        let solution = exact::solve_linear(zero, name)?;
        let rest = exact::substitute(zero, name, &Expr::int(0));
        let constant = |expr: &Expr| self.rational(expr).is_some_and(|value| !value.is_zero());
        (constant(&exact::derivative(zero, name)) || constant(&rest)).then_some(solution)
    }

    /// Both positive or both negative where neither is zero.
    fn same_direction(self, a: &Expr, b: &Expr) -> bool {
        self.ratio_at(a, b, 0).or_else(|| self.ratio_at(a, b, 1)).is_some_and(|ratio| ratio > 0.0)
    }

    fn ratio_at(self, a: &Expr, b: &Expr, index: usize) -> Option<f64> {
        let at = Points::for_expressions(a, b).point(&names_of(a, b), index);
        let value = |expr: &Expr, at: &Point| {
            let value = approx::evaluate(expr, at, 53, self.fuel).ok().filter(approx::Value::is_real)?;
            (value.sign()? != Ordering::Equal).then(|| value.to_f64())
        };
        Some(value(a, &at)? / value(b, &at)?).filter(|ratio| ratio.is_finite() && *ratio != 0.0)
    }

    /// The quotient of both is the same number everywhere it was examined.
    fn constant_ratio(self, a: &Expr, b: &Expr, positive: bool) -> Truth {
        let ratios: Vec<f64> = (0..8).filter_map(|index| self.ratio_at(a, b, index)).collect();
        let [first, rest @ ..] = ratios.as_slice() else { return Truth::Unknown };
        if rest.len() < 3 {
            return Truth::Unknown;
        }
        let steady = rest.iter().all(|ratio| (ratio - first).abs() <= 1e-9 * first.abs());
        match Truth::of(steady && (!positive || *first > 0.0), Method::Probable) {
            Truth::Yes(_) if has_corners(a) || has_corners(b) => Truth::Unknown,
            other => other,
        }
    }
}

/// Sums and products of numbers and variables, with whole powers.
fn is_polynomial(expr: &Expr) -> bool {
    !expr.any(&|part| match part {
        Expr::Power(_, exponent) => {
            !matches!(&**exponent, Expr::Number(power) if power.is_int() && *power >= Rational::ZERO)
        }
        Expr::Call(..) | Expr::Apply(..) | Expr::Bind(_) => true,
        _ => false,
    })
}

/// The chain read from its end.
fn reversed(relation: &Relation) -> Relation {
    Relation {
        sides: relation.sides.iter().rev().cloned().collect(),
        signs: relation.signs.iter().rev().map(|sign| sign.flipped()).collect(),
    }
}
