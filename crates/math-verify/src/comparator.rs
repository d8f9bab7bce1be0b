//! The comparison rules, in the order in which they are tried.

use super::tree::{Relation, Value, is_complex_infinity};
use super::verify::Options;
use super::{condition, structure};
use aske_algebra::fuel::{Fuel, OutOfFuel};
use aske_algebra::relation::RelationOp;
use aske_algebra::verdict::Method;
use std::borrow::Cow;
use std::cell::Cell;

/// The state of one comparison: its fuel, and the method that decided last.
pub(super) struct Comparator<'f> {
    pub(super) fuel: &'f Fuel,
    pub(super) method: Cell<Method>,
    pub(super) options: Options,
}

impl<'f> Comparator<'f> {
    pub(super) fn new(fuel: &'f Fuel) -> Self {
        Self::with(fuel, Options::default())
    }

    pub(super) fn with(fuel: &'f Fuel, options: Options) -> Self {
        Self { fuel, method: Cell::new(Method::Exact), options }
    }

    /// Records the method that decided.
    pub(super) fn by(&self, method: Method, equal: bool) -> bool {
        self.method.set(method);
        equal
    }

    /// Compares two whole answers; within them the options for whole answers do not hold.
    pub(super) fn answers(&self, gold: &Value, pred: &Value) -> Result<bool, OutOfFuel> {
        self.compare(gold, pred, self.options.set_relation)
    }

    /// Compares a gold answer with a predicted one.
    pub(super) fn same(&self, gold: &Value, pred: &Value) -> Result<bool, OutOfFuel> {
        self.compare(gold, pred, false)
    }

    /// With `set_relation` the set of a gold answer may equal a relation.
    fn compare(&self, gold: &Value, pred: &Value, set_relation: bool) -> Result<bool, OutOfFuel> {
        self.fuel.spend(10)?;
        if let (Value::Expr(gold), Value::Expr(pred)) = (gold, pred) {
            return self.same_expr(gold, pred);
        }
        let (assigns, equation) = (gold.is_assignment(), pred.is_equation());
        let gold_equation = gold.is_equation();
        let (mut gold, mut pred) = (shortened(gold), shortened(pred));
        if equation && !gold_equation {
            pred = Cow::Owned(last_side(&pred));
        } else if assigns && !equation {
            gold = Cow::Owned(last_side(&gold));
        }
        if gold.is_relation()
            && pred.is_set()
            && let Some(holds) = condition::describes(gold.relations(), &pred, self.fuel)?
        {
            return Ok(self.by(Method::Interval, holds));
        }
        if set_relation
            && gold.is_set()
            && pred.is_relation()
            && let Some(holds) = condition::describes(pred.relations(), &gold, self.fuel)?
        {
            return Ok(self.by(Method::Interval, holds));
        }
        self.same_shapes(&gold, &pred)
    }

    fn same_shapes(&self, gold: &Value, pred: &Value) -> Result<bool, OutOfFuel> {
        if let (Value::Expr(gold), Value::Expr(pred)) = (gold, pred) {
            return self.same_expr(gold, pred);
        }
        if matches!(gold, Value::Expr(expr) if is_complex_infinity(expr)) {
            return Ok(false);
        }
        if structure::same(gold, pred, self.fuel)? {
            return Ok(true);
        }
        if gold.is_relation() && pred.is_relation() {
            return self.same_relations(gold, pred);
        }
        if gold.is_set_or_tuple() || pred.is_set_or_tuple() {
            return self.same_sets(gold, pred);
        }
        match (gold, pred) {
            (Value::Matrix(gold), Value::Matrix(pred)) => self.same_matrices(gold, pred),
            _ => Ok(self.by(Method::Kind, false)),
        }
    }
}

/// A chain of assignments `x = … = y` shortened to `x = y`.
fn shortened(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::Chain(all) if value.is_assignment() => match (all.first(), all.last()) {
            (Some(first), Some(last)) => Cow::Owned(Value::Relation(Box::new(Relation {
                sign: RelationOp::Equal,
                left: first.left.clone(),
                right: last.right.clone(),
            }))),
            _ => Cow::Borrowed(value),
        },
        _ => Cow::Borrowed(value),
    }
}

fn last_side(value: &Value) -> Value {
    value.relations().last().map_or_else(|| value.clone(), |one| one.right.clone())
}
