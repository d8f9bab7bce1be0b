//! Comparison of equations and inequalities.

use super::comparator::Comparator;
use super::function::place;
use super::number;
use super::tree::{Relation, Value};
use aske_algebra::approx::{self, Point};
use aske_algebra::exact;
use aske_algebra::expr::{Expr, Rational, Symbol};
use aske_algebra::fuel::{Fuel, OutOfFuel, all};
use aske_algebra::relation::RelationOp;
use aske_algebra::verdict::Method;

/// Steps along one variable, and the largest distance from zero.
const STEPS: i64 = 80;
const REACH: i64 = 20;

impl Comparator<'_> {
    pub(super) fn same_relations(&self, gold: &Value, pred: &Value) -> Result<bool, OutOfFuel> {
        match (gold, pred) {
            (Value::Relation(gold), Value::Relation(pred)) => self.same_relation(gold, pred),
            (Value::Chain(gold), Value::Chain(pred)) if gold.len() == pred.len() => {
                all(gold.iter().zip(pred), |(gold, pred)| self.same_relation(gold, pred))
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
            let none = |expr: &Expr, name: Option<&Symbol>| {
                let Some(name) = name else { return Ok(true) };
                let line = Line { fuel: self.fuel, name, at: Point::none() };
                Ok(!line.changes_far(expr)? && is_rootless(&line.values(expr)?))
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

    /// Whether both vanish at the same values of the first variable, for any values of the others.
    fn same_roots(&self, gold: &Expr, pred: &Expr, names: &[Symbol]) -> Result<bool, OutOfFuel> {
        let Some((name, others)) = names.split_first() else { return Ok(false) };
        let line = |index| Line { fuel: self.fuel, name, at: place(others, index, false) };
        if steady_ratio((0..4).map(line), gold, pred)? {
            return Ok(true);
        }
        if !line(0).shares_first_root(gold, pred)? {
            return Ok(false);
        }
        let mut found = 0;
        for line in (0..4).map(line) {
            for (one, other) in [(gold, pred), (pred, gold)] {
                for root in line.roots(one)? {
                    if !line.crosses_at(other, root)? {
                        return Ok(false);
                    }
                    found += 1;
                }
            }
        }
        Ok(found >= 6)
    }
}

/// Whether the quotient of two expressions is constant along each line.
fn steady_ratio<'l>(
    lines: impl Iterator<Item = Line<'l>>,
    gold: &Expr,
    pred: &Expr,
) -> Result<bool, OutOfFuel> {
    let mut seen = 0;
    for line in lines {
        let mut known: Option<f64> = None;
        for step in [7, 31, 48, 66] {
            let here = coordinate(step);
            let (Some(a), Some(b)) = (line.value(gold, &here)?, line.value(pred, &here)?) else { continue };
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

/// The values of one variable, with the others fixed.
struct Line<'l> {
    fuel: &'l Fuel,
    name: &'l Symbol,
    at: Point,
}

impl Line<'_> {
    /// The value of an expression where its sign is known.
    fn value(&self, expr: &Expr, place: &Rational) -> Result<Option<f64>, OutOfFuel> {
        let at = self.at.clone().with(self.name.clone(), place.clone());
        let value = approx::known(approx::evaluate(expr, &at, 53, self.fuel))?;
        Ok(value.filter(|value| !value.is_surely_not_real()).and_then(|value| {
            let (low, high) = value.to_f64_bounds();
            (low > 0.0 || high < 0.0 || low >= high).then(|| value.to_f64())
        }))
    }

    /// The values at all steps.
    fn values(&self, expr: &Expr) -> Result<Vec<Option<f64>>, OutOfFuel> {
        (0..=STEPS).map(|step| self.value(expr, &coordinate(step))).collect()
    }

    /// Whether the second changes its sign where the first does for the first time.
    fn shares_first_root(&self, a: &Expr, b: &Expr) -> Result<bool, OutOfFuel> {
        let mut before = None;
        for step in 0..=STEPS {
            let value = self.value(a, &coordinate(step))?;
            if let (Some(x), Some(y)) = (before, value)
                && crosses(x, y)
                && let Some(root) = self.root(a, step)?
            {
                return self.crosses_at(b, root);
            }
            before = value;
        }
        Ok(true)
    }

    /// Whether the sign changes at a point; true if that is unknown.
    fn crosses_at(&self, expr: &Expr, root: f64) -> Result<bool, OutOfFuel> {
        let Ok(root) = Rational::try_from(root) else { return Ok(true) };
        let beside = Rational::ONE / Rational::from(1_000_000);
        let (low, high) = (self.value(expr, &(&root - &beside))?, self.value(expr, &(&root + &beside))?);
        Ok(low.zip(high).is_none_or(|(low, high)| crosses(low, high)))
    }

    /// Whether the sign changes between places far apart.
    fn changes_far(&self, expr: &Expr) -> Result<bool, OutOfFuel> {
        let mut known: Option<f64> = None;
        for place in [0, 1_000_000_000, -1_000_000_000, 1_000, -1_000, 50, -50, 10_000, -10_000] {
            let Some(value) = self.value(expr, &Rational::from(place))? else { continue };
            if value == 0.0 || known.is_some_and(|known| crosses(known, value)) {
                return Ok(true);
            }
            known = Some(value);
        }
        Ok(false)
    }

    /// The changes of sign, poles left out.
    fn roots(&self, expr: &Expr) -> Result<Vec<f64>, OutOfFuel> {
        let mut out = Vec::new();
        for (step, pair) in (1..).zip(self.values(expr)?.windows(2)) {
            if let [Some(a), Some(b)] = pair
                && crosses(*a, *b)
            {
                out.extend(self.root(expr, step)?);
            }
        }
        Ok(out)
    }

    /// The place of a change of sign, by bisection; none if the values grow towards it, as at a pole.
    fn root(&self, expr: &Expr, step: i64) -> Result<Option<f64>, OutOfFuel> {
        let (mut low, mut high) = (coordinate(step - 1), coordinate(step));
        let Some(start) = self.value(expr, &low)? else { return Ok(None) };
        let mut last = start;
        for _ in 0..44 {
            let middle = (&low + &high) / Rational::from(2);
            match self.value(expr, &middle)? {
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

/// Left minus right, without a zero side.
fn difference(left: &Expr, right: &Expr) -> Expr {
    let zero = |expr: &Expr| *expr == Expr::int(0);
    if zero(right) {
        return left.clone();
    }
    if zero(left) { right.clone().negated() } else { left.clone().minus(right.clone()) }
}

fn coordinate(step: i64) -> Rational {
    // Not at round numbers, where roots and poles are common.
    Rational::from(step * 2 * REACH) / Rational::from(STEPS) - Rational::from(REACH)
        + Rational::from(1) / Rational::from(97)
}

/// Whether two values are on both sides of zero.
fn crosses(a: f64, b: f64) -> bool {
    a.is_sign_negative() != b.is_sign_negative()
}

/// Whether values along a line are never zero and do not approach it.
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
