//! Comparison of equations and inequalities.

use super::comparator::Comparator;
use super::function::place;
use super::number;
use super::tree::{Relation, Value};
use aske_algebra::approx::{self, Point};
use aske_algebra::exact;
use aske_algebra::expr::{Expr, Rational, Symbol};
use aske_algebra::fuel::OutOfFuel;
use aske_algebra::relation::RelationOp;
use aske_algebra::verdict::Method;

/// Steps of the walk along one variable, and how far it goes.
const STEPS: i64 = 80;
const REACH: i64 = 20;

impl Comparator<'_> {
    pub(super) fn same_relations(&self, gold: &Value, pred: &Value) -> Result<bool, OutOfFuel> {
        match (gold, pred) {
            (Value::Relation(gold), Value::Relation(pred)) => self.same_relation(gold, pred),
            (Value::Chain(gold), Value::Chain(pred)) if gold.len() == pred.len() => {
                for (gold, pred) in gold.iter().zip(pred) {
                    if !self.same_relation(gold, pred)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(self.by(Method::Kind, false)),
        }
    }

    fn same_relation(&self, gold: &Relation, pred: &Relation) -> Result<bool, OutOfFuel> {
        let (Some(gold_sides), Some(pred_sides)) = (sides(gold), sides(pred)) else {
            return Ok(self.by(Method::Kind, false));
        };
        let apart = |(left, right): (&Expr, &Expr)| difference(left, right);
        if gold.sign == pred.sign && self.same_expr(&apart(gold_sides), &apart(pred_sides))? {
            return Ok(true);
        }
        if gold.sign == RelationOp::NotEqual {
            return Ok(false);
        }
        if gold.sign.flipped() == pred.sign
            && self.same_expr(&apart(gold_sides), &apart((pred_sides.1, pred_sides.0)))?
        {
            return Ok(true);
        }
        if gold.sign == RelationOp::Equal && pred.sign == RelationOp::Equal {
            return self.same_solutions(&apart(gold_sides), &apart(pred_sides));
        }
        Ok(self.by(Method::Kind, false))
    }

    /// Equations in several variables with the same solutions; in one variable only where there are none.
    fn same_solutions(&self, gold: &Expr, pred: &Expr) -> Result<bool, OutOfFuel> {
        let (gold, pred) = (number::prepared(gold, self.fuel), number::prepared(pred, self.fuel));
        let (names, others) = (exact::free_symbols(&gold), exact::free_symbols(&pred));
        if names.len() < 2 && others.len() < 2 {
            let none = |expr: &Expr, name: Option<&Symbol>| match name {
                Some(name) => Ok(!self.changes_far(expr, name)?
                    && is_rootless(&values_along(self, expr, name, &Point::none())?)),
                None => Ok(true),
            };
            return Ok(none(&gold, names.first())? && none(&pred, others.first())?);
        }
        if names != others {
            return Ok(self.by(Method::Kind, false));
        }
        let names: Vec<Symbol> = names.into_iter().collect();
        match exact::proportional(&gold, &pred, self.fuel)? {
            Some(true) => return Ok(self.by(Method::Exact, true)),
            _ => self.method.set(Method::Probable),
        }
        self.same_roots(&gold, &pred, &names)
    }

    /// Both vanish at the same values of the first variable, wherever the others are.
    fn same_roots(&self, gold: &Expr, pred: &Expr, names: &[Symbol]) -> Result<bool, OutOfFuel> {
        let Some((first, others)) = names.split_first() else { return Ok(false) };
        if self.steady_ratio(gold, pred, first, others)? {
            return Ok(true);
        }
        if !self.shares_first_root(gold, pred, first, &place(others, 0, false))? {
            return Ok(false);
        }
        let mut found = 0;
        for index in 0..4 {
            let at = place(others, index, false);
            for (one, other) in [(gold, pred), (pred, gold)] {
                for root in self.roots(one, first, &at)? {
                    if !self.crosses_at(other, first, &at, root)? {
                        return Ok(false);
                    }
                    found += 1;
                }
            }
        }
        Ok(found >= 6)
    }

    /// Whether the second changes its sign where the first does for the first time.
    fn shares_first_root(&self, a: &Expr, b: &Expr, name: &Symbol, at: &Point) -> Result<bool, OutOfFuel> {
        let mut before = None;
        for step in 0..=STEPS {
            let value = value_at(self, a, name, at, &coordinate(step))?;
            if let (Some(x), Some(y)) = (before, value)
                && crosses(x, y)
                && let Some(root) = self.root(a, name, at, step)?
            {
                return self.crosses_at(b, name, at, root);
            }
            before = value;
        }
        Ok(true)
    }

    /// Whether the sign changes at a place, as far as that can be seen.
    fn crosses_at(&self, expr: &Expr, name: &Symbol, at: &Point, root: f64) -> Result<bool, OutOfFuel> {
        let Ok(root) = Rational::try_from(root) else { return Ok(true) };
        let beside = Rational::ONE / Rational::from(1_000_000);
        let low = value_at(self, expr, name, at, &(&root - &beside))?;
        let high = value_at(self, expr, name, at, &(&root + &beside))?;
        Ok(match (low, high) {
            (Some(low), Some(high)) => crosses(low, high),
            _ => true,
        })
    }

    /// Whether the sign changes between places far apart.
    fn changes_far(&self, expr: &Expr, name: &Symbol) -> Result<bool, OutOfFuel> {
        let mut known: Option<f64> = None;
        for place in [0, 1_000_000_000, -1_000_000_000, 1_000, -1_000, 50, -50, 10_000, -10_000] {
            let Some(value) = value_at(self, expr, name, &Point::none(), &Rational::from(place))? else {
                continue;
            };
            if value == 0.0 || known.is_some_and(|known| crosses(known, value)) {
                return Ok(true);
            }
            known = Some(value);
        }
        Ok(false)
    }

    /// Whether the quotient of both does not depend on the first variable.
    fn steady_ratio(
        &self,
        gold: &Expr,
        pred: &Expr,
        first: &Symbol,
        others: &[Symbol],
    ) -> Result<bool, OutOfFuel> {
        let mut seen = 0;
        for index in 0..4 {
            let at = place(others, index, false);
            let mut known: Option<f64> = None;
            for step in [7, 31, 48, 66] {
                let here = coordinate(step);
                let (a, b) =
                    (value_at(self, gold, first, &at, &here)?, value_at(self, pred, first, &at, &here)?);
                let (Some(a), Some(b)) = (a, b) else { continue };
                let ratio = a / b;
                match known {
                    Some(known) if (ratio - known).abs() > 1e-9 * known.abs() => return Ok(false),
                    Some(_) => seen += 1,
                    None => known = Some(ratio),
                }
            }
        }
        Ok(seen >= 4)
    }

    /// The changes of sign along the first variable, poles left out.
    fn roots(&self, expr: &Expr, name: &Symbol, at: &Point) -> Result<Vec<f64>, OutOfFuel> {
        let values = values_along(self, expr, name, at)?;
        let mut out = Vec::new();
        for step in changes(&values) {
            if let Some(root) = self.root(expr, name, at, step)? {
                out.push(root);
            }
        }
        Ok(out)
    }

    /// The place of a change of sign, by halving; none where the values grow on the way.
    fn root(&self, expr: &Expr, name: &Symbol, at: &Point, step: i64) -> Result<Option<f64>, OutOfFuel> {
        let (mut low, mut high) = (coordinate(step - 1), coordinate(step));
        let Some(start) = value_at(self, expr, name, at, &low)? else { return Ok(None) };
        let mut last = start;
        for _ in 0..44 {
            let middle = (&low + &high) / Rational::from(2);
            match value_at(self, expr, name, at, &middle)? {
                Some(0.0) => return Ok(Some(middle.to_f64().value())),
                Some(value) => {
                    last = value;
                    if crosses(value, start) { high = middle } else { low = middle }
                }
                // Too close to zero for its sign to be seen.
                None => break,
            }
        }
        Ok((last.abs() <= start.abs()).then(|| low.to_f64().value()))
    }
}

fn sides(relation: &Relation) -> Option<(&Expr, &Expr)> {
    Some((relation.left.expr()?, relation.right.expr()?))
}

/// Left minus right, where a zero leaves no trace.
fn difference(left: &Expr, right: &Expr) -> Expr {
    let zero = |expr: &Expr| *expr == Expr::int(0);
    if zero(right) {
        return left.clone();
    }
    if zero(left) { right.clone().negated() } else { left.clone().minus(right.clone()) }
}

fn coordinate(step: i64) -> Rational {
    // Off the round numbers, where roots and poles like to be.
    Rational::from(step * 2 * REACH) / Rational::from(STEPS) - Rational::from(REACH)
        + Rational::from(1) / Rational::from(97)
}

fn value_at(
    comparator: &Comparator<'_>,
    expr: &Expr,
    name: &Symbol,
    at: &Point,
    place: &Rational,
) -> Result<Option<f64>, OutOfFuel> {
    let at = at.clone().with(name.clone(), place.clone());
    match approx::evaluate(expr, &at, 53, comparator.fuel) {
        Ok(value) if value.is_real() || !value.is_surely_not_real() => {
            let (low, high) = value.to_f64_bounds();
            Ok((low > 0.0 || high < 0.0 || (low >= high)).then(|| value.to_f64()))
        }
        Err(approx::EvaluationError::OutOfFuel) => Err(OutOfFuel),
        _ => Ok(None),
    }
}

/// The values along one variable.
fn values_along(
    comparator: &Comparator<'_>,
    expr: &Expr,
    name: &Symbol,
    at: &Point,
) -> Result<Vec<Option<f64>>, OutOfFuel> {
    (0..=STEPS).map(|step| value_at(comparator, expr, name, at, &coordinate(step))).collect()
}

/// Whether two values are on both sides of zero.
fn crosses(a: f64, b: f64) -> bool {
    a.is_sign_negative() != b.is_sign_negative()
}

/// Steps at which the sign changes.
fn changes(values: &[Option<f64>]) -> Vec<i64> {
    let mut out = Vec::new();
    for (step, pair) in (1..).zip(values.windows(2)) {
        if let [Some(a), Some(b)] = pair
            && crosses(*a, *b)
        {
            out.push(step);
        }
    }
    out
}

/// Never zero along the walk, and not on the way to it.
fn is_rootless(values: &[Option<f64>]) -> bool {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    if known.is_empty() {
        return true;
    }
    if known.windows(2).any(|pair| crosses(pair[0], pair[1])) {
        return false;
    }
    // A minimum that touches zero shows as a value far below its neighbours.
    let least = known.iter().fold(f64::INFINITY, |least, value| least.min(value.abs()));
    let ends = known.first().map_or(0.0, |v| v.abs()).min(known.last().map_or(0.0, |v| v.abs()));
    least > 0.05 && (known.len() < 3 || ends >= least)
}
