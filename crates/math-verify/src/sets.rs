//! Sets, tuples and intervals.

use super::comparator::Comparator;
use super::tree::Value;
use super::{number, region, structure};
use aske_algebra::expr::Expr;
use aske_algebra::fuel::{OutOfFuel, all, any};
use aske_algebra::relation::Interval;
use aske_algebra::verdict::Method;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Sets larger than this are compared element by element only.
const FEW: usize = 40;

impl Comparator<'_> {
    pub(super) fn same_sets(&self, gold: &Value, pred: &Value) -> Result<bool, OutOfFuel> {
        let (gold, pred) = (as_set(gold), as_set(pred));
        if let (Value::Interval(gold), Value::Interval(pred)) = (&*gold, &*pred) {
            return self.same_intervals(gold, pred);
        }
        if gold.is_set() && pred.is_set() {
            // A single value wrapped in a set has not been compared as a set yet.
            if (matches!(gold, Cow::Owned(_)) || matches!(pred, Cow::Owned(_)))
                && structure::same(&gold, &pred, self.fuel)?
            {
                return Ok(true);
            }
            if let Some(equal) = self.same_members(&gold, &pred)?
                && equal
            {
                return Ok(true);
            }
        }
        match (&*gold, &*pred) {
            (Value::Set(_) | Value::Tuple(_), Value::Set(_) | Value::Tuple(_)) => {
                self.same_elements(&gold, &pred)
            }
            (Value::Interval(interval), Value::Set(elements) | Value::Tuple(elements))
                if self.may_be_pair(interval, elements)? =>
            {
                self.same_elements(&pair(interval), &pred)
            }
            (Value::Set(elements) | Value::Tuple(elements), Value::Interval(interval))
                if self.may_be_pair(interval, elements)? =>
            {
                self.same_elements(&gold, &pair(interval))
            }
            _ => Ok(self.by(Method::Kind, false)),
        }
    }

    /// Whether an interval may be the pair of its ends, as `(1, 2)` is: it is open, and the other has two elements.
    fn may_be_pair(&self, interval: &Interval, elements: &[Value]) -> Result<bool, OutOfFuel> {
        let open = !interval.from_closed && !interval.to_closed;
        Ok(open && structure::without_repeats(elements, self.fuel)?.len() == 2)
    }

    fn same_intervals(&self, gold: &Interval, pred: &Interval) -> Result<bool, OutOfFuel> {
        if gold.from_closed != pred.from_closed || gold.to_closed != pred.to_closed {
            return Ok(self.by(Method::Kind, false));
        }
        Ok(self.same_expr(&gold.from, &pred.from)? && self.same_expr(&gold.to, &pred.to)?)
    }

    /// Whether two sets have the same members; `None` where that is not computed.
    fn same_members(&self, gold: &Value, pred: &Value) -> Result<Option<bool>, OutOfFuel> {
        if let (Value::Set(gold), Value::Set(pred)) = (gold, pred) {
            if gold.len() > FEW || pred.len() > FEW {
                return Ok(None);
            }
            return Ok(Some(self.all_among(gold, pred)? && self.all_among(pred, gold)?));
        }
        region::same(gold, pred, self.fuel)
    }

    /// Whether every element of one finite set is, exactly, an element of the other.
    fn all_among(&self, some: &[Value], others: &[Value]) -> Result<bool, OutOfFuel> {
        all(some, |one| {
            any(others, |other| Ok(structure::same(one, other, self.fuel)? || self.same_exactly(one, other)?))
        })
    }

    fn same_exactly(&self, a: &Value, b: &Value) -> Result<bool, OutOfFuel> {
        let (Value::Expr(a), Value::Expr(b)) = (a, b) else { return Ok(false) };
        if a.has_decimal() || b.has_decimal() {
            return super::float::cancels(a, b, self.fuel);
        }
        if let (Expr::Number(a), Expr::Number(b)) = (a, b) {
            return Ok(a == b);
        }
        let (a, b) = (number::prepared(a, self.fuel), number::prepared(b, self.fuel));
        if number::is_open(&a) || number::is_open(&b) {
            return super::function::same(&a, &b, self);
        }
        number::same(&a, &b, self.fuel)
    }

    /// Compares element by element: sorted by value if the gold answer is a set, in the order written if it is a tuple.
    fn same_elements(&self, gold: &Value, pred: &Value) -> Result<bool, OutOfFuel> {
        let (gold_once, pred_once) = (self.once(gold)?, self.once(pred)?);
        if gold_once.len() != pred_once.len() {
            return Ok(self.by(Method::Kind, false));
        }
        if !matches!(gold, Value::Set(_)) {
            let written = elements(pred);
            return Ok(written.len() == gold_once.len() && self.in_order(&gold_once, &written)?);
        }
        self.fuel.spend(20 * gold_once.len() as u64)?;
        let (gold, gold_rest) = self.sorted(gold_once)?;
        let (pred, pred_rest) = self.sorted(pred_once)?;
        Ok(gold.len() == pred.len()
            && self.in_order(&gold, &pred)?
            && self.in_any_order(&gold_rest, pred_rest)?)
    }

    /// The elements, without repetitions for a set.
    fn once<'v>(&self, value: &'v Value) -> Result<Vec<&'v Value>, OutOfFuel> {
        match value {
            Value::Set(elements) => structure::without_repeats(elements, self.fuel),
            other => Ok(elements(other)),
        }
    }

    fn in_order(&self, gold: &[&Value], pred: &[&Value]) -> Result<bool, OutOfFuel> {
        all(gold.iter().zip(pred), |(gold, pred)| self.same(gold, pred))
    }

    fn in_any_order(&self, gold: &[&Value], mut pred: Vec<&Value>) -> Result<bool, OutOfFuel> {
        all(gold, |one| {
            for (at, other) in pred.iter().enumerate() {
                self.fuel.spend(20)?;
                if self.same(one, other)? {
                    pred.remove(at);
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// The numbers sorted by value, and everything else in the order given; an assignment counts as the value it assigns.
    fn sorted<'v>(&self, values: Vec<&'v Value>) -> Result<(Vec<&'v Value>, Vec<&'v Value>), OutOfFuel> {
        let (mut numbers, mut rest) = (Vec::new(), Vec::new());
        for value in values {
            match self.size(value)? {
                Some(size) => numbers.push((size, value)),
                None => rest.push(value),
            }
        }
        numbers.sort_by(|(a, x), (b, y)| a.total_cmp(b).then_with(|| tie(x, y)));
        Ok((numbers.into_iter().map(|(_, value)| value).collect(), rest))
    }

    fn size(&self, value: &Value) -> Result<Option<f64>, OutOfFuel> {
        let value = if value.is_assignment() {
            value.relations().last().map_or(value, |one| &one.right)
        } else {
            value
        };
        let Value::Expr(expr) = value else { return Ok(None) };
        match expr {
            Expr::Number(value) | Expr::Decimal(value) => return Ok(Some(value.to_f64().value())),
            _ if number::is_open(expr) => return Ok(None),
            _ => {}
        }
        let value = number::real_value(&number::prepared(expr, self.fuel), 50, 128, self.fuel)?;
        Ok(value.map(|value| value.to_f64()))
    }
}

/// The elements in the order written.
fn elements(value: &Value) -> Vec<&Value> {
    match value {
        Value::Set(elements) | Value::Tuple(elements) => elements.iter().collect(),
        _ => Vec::new(),
    }
}

/// Orders two assignments of the same value by the names they assign to.
fn tie(a: &Value, b: &Value) -> Ordering {
    let name = |value: &Value| match value.relations().first() {
        Some(one) => one.left.expr().cloned(),
        None => value.expr().cloned(),
    };
    name(a).cmp(&name(b))
}

fn as_set(value: &Value) -> Cow<'_, Value> {
    if value.is_set_or_tuple() { Cow::Borrowed(value) } else { Cow::Owned(Value::Set(vec![value.clone()])) }
}

fn pair(interval: &Interval) -> Value {
    Value::Tuple(vec![Value::Expr(interval.from.clone()), Value::Expr(interval.to.clone())])
}
