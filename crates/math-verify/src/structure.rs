//! Structural equality of parsed answers, up to the order in sums, products and sets.

use super::tree::{Relation, Value};
use aske_algebra::expr::Expr;
use aske_algebra::fuel::{Fuel, OutOfFuel};
use std::borrow::Cow;

/// The expression with the parts of its sums and products in order.
pub(super) fn ordered(expr: &Expr) -> Expr {
    let all = |parts: &[Expr]| parts.iter().map(ordered).collect::<Vec<_>>();
    let sorted = |parts: &[Expr]| {
        let mut parts = all(parts);
        parts.sort_unstable();
        parts
    };
    match expr {
        Expr::Sum(parts) => Expr::Sum(sorted(parts)),
        Expr::Product(parts) => Expr::Product(sorted(parts)),
        Expr::Power(base, exponent) => ordered(base).power(ordered(exponent)),
        Expr::Call(function, parts) => Expr::Call(*function, all(parts)),
        Expr::Apply(name, parts) => Expr::Apply(name.clone(), all(parts)),
        other => other.clone(),
    }
}

/// The same as written.
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
            if a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(b) {
                if !same(a, b, fuel)? {
                    return Ok(false);
                }
            }
            Ok(true)
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
            if a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(b) {
                if !same_relation(a, b, fuel)? {
                    return Ok(false);
                }
            }
            Ok(true)
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

/// Every element of each is among the other's.
fn same_sets(a: &[Value], b: &[Value], fuel: &Fuel) -> Result<bool, OutOfFuel> {
    let (a, b) = (without_repeats(a, fuel)?, without_repeats(b, fuel)?);
    if a.len() != b.len() {
        return Ok(false);
    }
    if let (Some(a), Some(b)) = (expressions(&a), expressions(&b)) {
        return Ok(a == b);
    }
    for one in &a {
        let mut found = false;
        for other in &b {
            if same(one, other, fuel)? {
                found = true;
                break;
            }
        }
        if !found {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All elements as ordered expressions, sorted, where all are expressions.
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
            other => {
                let mut fresh = true;
                for known in &out {
                    fuel.spend(4)?;
                    if !matches!(known, Value::Expr(_)) && same(known, other, fuel)? {
                        fresh = false;
                        break;
                    }
                }
                fresh
            }
        };
        if fresh {
            out.push(value);
        }
    }
    Ok(out)
}
