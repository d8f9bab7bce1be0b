//! Structural equality of parsed answers, up to the order in sums, products and sets.

use super::tree::{Relation, Value};
use aske_algebra::expr::Expr;
use aske_algebra::fuel::{Fuel, OutOfFuel, all, any};
use std::borrow::Cow;

/// The expression with the operands of its sums and products sorted.
pub(super) fn ordered(expr: &Expr) -> Expr {
    if let Expr::Bind(_) = expr {
        return expr.clone();
    }
    let mut expr = expr.map(ordered);
    if let Expr::Sum(parts) | Expr::Product(parts) = &mut expr {
        parts.sort_unstable();
    }
    expr
}

/// Whether two parsed answers are structurally equal.
pub(super) fn same(a: &Value, b: &Value, fuel: &Fuel) -> Result<bool, OutOfFuel> {
    fuel.spend(10)?;
    let both = |a: (&Value, &Value), b: (&Value, &Value)| Ok(same(a.0, b.0, fuel)? && same(a.1, b.1, fuel)?);
    match (a, b) {
        (Value::Expr(a), Value::Expr(b)) => Ok(same_expr(a, b)),
        (Value::Matrix(a), Value::Matrix(b)) => Ok(a.columns == b.columns
            && a.entries.len() == b.entries.len()
            && a.entries.iter().zip(&b.entries).all(|(a, b)| same_expr(a, b))),
        (Value::Set(a), Value::Set(b)) => same_sets(a, b, fuel),
        (Value::Tuple(a), Value::Tuple(b)) => {
            Ok(a.len() == b.len() && all(a.iter().zip(b), |(a, b)| same(a, b, fuel))?)
        }
        (Value::Interval(a), Value::Interval(b)) => Ok(a.from_closed == b.from_closed
            && a.to_closed == b.to_closed
            && same_expr(&a.from, &b.from)
            && same_expr(&a.to, &b.to)),
        (Value::Union(a, b), Value::Union(c, d)) | (Value::Intersection(a, b), Value::Intersection(c, d)) => {
            Ok(both((a, b), (c, d))? || both((a, b), (d, c))?)
        }
        (Value::Minus(a, b), Value::Minus(c, d)) => both((a, b), (c, d)),
        (Value::NamedSet(a), Value::NamedSet(b)) => Ok(a == b),
        (Value::Relation(a), Value::Relation(b)) | (Value::Not(a), Value::Not(b)) => {
            same_relation(a, b, fuel)
        }
        (Value::Chain(a), Value::Chain(b)) => {
            Ok(a.len() == b.len() && all(a.iter().zip(b), |(a, b)| same_relation(a, b, fuel))?)
        }
        _ => Ok(false),
    }
}

fn same_relation(a: &Relation, b: &Relation, fuel: &Fuel) -> Result<bool, OutOfFuel> {
    Ok(a.sign == b.sign && same(&a.left, &b.left, fuel)? && same(&a.right, &b.right, fuel)?)
}

pub(super) fn same_expr(a: &Expr, b: &Expr) -> bool {
    a == b
        || match (a, b) {
            (Expr::Number(_) | Expr::Decimal(_) | Expr::Symbol(_) | Expr::Constant(_), _)
            | (_, Expr::Number(_) | Expr::Decimal(_) | Expr::Symbol(_) | Expr::Constant(_)) => false,
            _ => std::mem::discriminant(a) == std::mem::discriminant(b) && ordered(a) == ordered(b),
        }
}

/// Whether two sets have structurally equal elements.
fn same_sets(a: &[Value], b: &[Value], fuel: &Fuel) -> Result<bool, OutOfFuel> {
    let (a, b) = (without_repeats(a, fuel)?, without_repeats(b, fuel)?);
    if a.len() != b.len() {
        return Ok(false);
    }
    if let (Some(a), Some(b)) = (expressions(&a), expressions(&b)) {
        return Ok(a == b);
    }
    all(&a, |one| any(&b, |other| same(one, other, fuel)))
}

/// The sorted elements, if all are expressions.
fn expressions(values: &[&Value]) -> Option<Vec<Expr>> {
    let mut out = values.iter().map(|value| value.expr().map(ordered)).collect::<Option<Vec<_>>>()?;
    out.sort_unstable();
    Some(out)
}

/// The elements of a set, each once, in the order they are written.
pub(super) fn without_repeats<'v>(values: &'v [Value], fuel: &Fuel) -> Result<Vec<&'v Value>, OutOfFuel> {
    fuel.spend(10 * values.len() as u64)?;
    let mut seen = std::collections::BTreeSet::new();
    let mut out: Vec<&Value> = Vec::with_capacity(values.len());
    for value in values {
        let fresh = match value {
            Value::Expr(expr) => seen.insert(match expr {
                Expr::Number(_) | Expr::Decimal(_) | Expr::Symbol(_) | Expr::Constant(_) => {
                    Cow::Borrowed(expr)
                }
                other => Cow::Owned(ordered(other)),
            }),
            other => !any(&out, |known| {
                fuel.spend(4)?;
                Ok(!matches!(known, Value::Expr(_)) && same(known, other, fuel)?)
            })?,
        };
        if fresh {
            out.push(value);
        }
    }
    Ok(out)
}
