//! Comparison of relations in one variable with the set of their solutions.

use super::number;
use super::region::{Endpoints, Position};
use super::tree::{Relation, Value};
use aske_algebra::approx::{self, Point};
use aske_algebra::exact;
use aske_algebra::expr::{Expr, Rational, Symbol};
use aske_algebra::fuel::{Fuel, OutOfFuel};
use aske_algebra::relation::RelationOp;
use std::cmp::Ordering;

/// Points sampled in each gap between two endpoints.
const SAMPLES: i64 = 9;

/// Whether the relations hold exactly for the members of a set; `None` if they are not a condition
/// on one variable.
pub(super) fn describes(relations: &[Relation], set: &Value, fuel: &Fuel) -> Result<Option<bool>, OutOfFuel> {
    let mut steps = Vec::with_capacity(relations.len());
    for relation in relations {
        let (Value::Expr(left), Value::Expr(right)) = (&relation.left, &relation.right) else {
            return Ok(None);
        };
        let difference = number::prepared(left, fuel).minus(number::prepared(right, fuel));
        steps.push((difference, relation.sign));
    }
    let mut names: Vec<Symbol> = steps.iter().flat_map(|(expr, _)| exact::free_symbols(expr)).collect();
    names.sort_unstable();
    names.dedup();
    let [name] = names.as_slice() else { return Ok(None) };
    let Some(ends) = Endpoints::of(&[set], fuel)? else { return Ok(Some(false)) };
    let probe = Probe { steps: &steps, name, fuel };
    for place in ends.places() {
        let Some(member) = ends.has(set, place)? else { return Ok(Some(false)) };
        let agrees = match place {
            Position::On(at) => probe.on(&ends.at[at])? == member,
            Position::Before(at) => probe.between(&ends, at, member)?,
        };
        if !agrees {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

struct Probe<'p> {
    steps: &'p [(Expr, RelationOp)],
    name: &'p Symbol,
    fuel: &'p Fuel,
}

impl Probe<'_> {
    /// Whether all relations hold at an endpoint.
    fn on(&self, end: &Expr) -> Result<bool, OutOfFuel> {
        let mut holds = true;
        for (expr, sign) in self.steps {
            let here = exact::substitute(expr, self.name, &number::prepared(end, self.fuel));
            let value = approx::known(approx::refine(&here, &Point::none(), 20, 128, self.fuel))?;
            let order = match value.map(|value| value.sign()) {
                Some(None) => number::same(&here, &Expr::int(0), self.fuel)?.then_some(Ordering::Equal),
                found => found.flatten(),
            };
            // No relation holds where a side has no value.
            holds &= order.is_some_and(|order| satisfied(order, *sign));
        }
        Ok(holds)
    }

    /// Whether the relations hold (or, outside the set, fail) at all sample points of a gap.
    fn between(&self, ends: &Endpoints<'_>, at: usize, member: bool) -> Result<bool, OutOfFuel> {
        let value = |end: &Expr| {
            let found = approx::refine(&number::prepared(end, self.fuel), &Point::none(), 50, 128, self.fuel);
            found.ok().and_then(|value| Rational::try_from(value.to_f64()).ok())
        };
        let low = at.checked_sub(1).and_then(|before| value(&ends.at[before]));
        let high = ends.at.get(at).and_then(value);
        let part = |step: i64| Rational::from(step) / Rational::from(SAMPLES + 1);
        let mut signs: Vec<Option<Ordering>> = vec![None; self.steps.len()];
        for step in 1..=SAMPLES {
            let away = Rational::from(step * step) * part(7);
            let look = match (&low, &high) {
                (Some(low), Some(high)) => low + (high - low) * part(step),
                (Some(low), None) => low + away,
                (None, Some(high)) => high - away,
                (None, None) => away - Rational::from(20),
            };
            let point = Point::new([(self.name.clone(), look)]);
            let mut holds = true;
            for (index, (expr, sign)) in self.steps.iter().enumerate() {
                let value = approx::known(approx::evaluate(expr, &point, 53, self.fuel))?;
                let order = value.filter(|value| !value.is_surely_not_real()).and_then(|value| value.sign());
                holds &= order.is_some_and(|order| satisfied(order, *sign));
                // An equation must not change sign within the gap.
                if *sign == RelationOp::Equal && self.steps.len() == 1 {
                    if let (Some(known), Some(order)) = (signs[index], order)
                        && known != order
                    {
                        return Ok(false);
                    }
                    signs[index] = order;
                }
            }
            if holds != member {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn satisfied(order: Ordering, sign: RelationOp) -> bool {
    match sign {
        RelationOp::Less => order == Ordering::Less,
        RelationOp::LessEqual => order != Ordering::Greater,
        RelationOp::Greater => order == Ordering::Greater,
        RelationOp::GreaterEqual => order != Ordering::Less,
        RelationOp::Equal => order == Ordering::Equal,
        RelationOp::NotEqual => order != Ordering::Equal,
        _ => false,
    }
}
