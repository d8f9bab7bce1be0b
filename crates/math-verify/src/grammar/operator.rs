//! Constructors of sums, products, quotients and powers: unevaluated, except for integers.

use super::{Parse, ParseError};
use crate::tree::{Matrix, Value, complex_infinity, infinity, integer, is_infinite};
use aske_algebra::expr::{Constant, Expr, Function, Rational};

/// The most work for one product of matrices.
const ENTRIES: usize = 4096;

pub(super) fn negated(value: Value) -> Value {
    match value {
        Value::Expr(expr) => Value::Expr(negative(expr)),
        Value::Matrix(matrix) => Value::Matrix(mapped(matrix, negative)),
        other => other,
    }
}

fn negative(expr: Expr) -> Expr {
    match is_infinite(&expr) {
        Some(sign) => infinity(!sign),
        None => expr.negated(),
    }
}

fn mapped(matrix: Matrix, change: impl Fn(Expr) -> Expr) -> Matrix {
    Matrix { columns: matrix.columns, entries: matrix.entries.into_iter().map(change).collect() }
}

pub(super) fn sum(left: Value, right: Value) -> Parse<Value> {
    match (left, right) {
        (Value::Expr(a), Value::Expr(b)) => Ok(Value::Expr(a.plus(b))),
        (Value::Matrix(a), Value::Matrix(b))
            if a.columns == b.columns && a.entries.len() == b.entries.len() =>
        {
            let entries = a.entries.into_iter().zip(b.entries).map(|(a, b)| a.plus(b)).collect();
            Ok(Value::Matrix(Matrix { columns: a.columns, entries }))
        }
        _ => Err(ParseError::Syntax),
    }
}

pub(super) fn product(left: Value, right: Value) -> Parse<Value> {
    match (left, right) {
        (Value::Expr(a), Value::Expr(b)) => Ok(Value::Expr(a.times(b))),
        (Value::Expr(a), Value::Matrix(m)) | (Value::Matrix(m), Value::Expr(a)) => {
            Ok(Value::Matrix(mapped(m, |entry| a.clone().times(entry))))
        }
        (Value::Matrix(a), Value::Matrix(b)) => matrices(&a, &b).map(Value::Matrix),
        _ => Err(ParseError::Syntax),
    }
}

fn matrices(a: &Matrix, b: &Matrix) -> Parse<Matrix> {
    let rows = a.entries.len() / a.columns.max(1);
    if a.columns * b.columns != b.entries.len() || rows * b.entries.len() > ENTRIES {
        return Err(ParseError::Syntax);
    }
    let mut entries = Vec::with_capacity(rows * b.columns);
    for row in 0..rows {
        for column in 0..b.columns {
            let terms = (0..a.columns).map(|at| {
                a.entries[row * a.columns + at].clone().times(b.entries[at * b.columns + column].clone())
            });
            entries.push(Expr::Sum(terms.collect()));
        }
    }
    Ok(Matrix { columns: b.columns, entries })
}

/// Two integers give a rational number at once.
pub(super) fn quotient(above: Value, below: Value) -> Parse<Value> {
    match (above, below) {
        (Value::Expr(a), Value::Expr(b)) => {
            if let (Some(top), Some(low)) = (integer(&a), integer(&b)) {
                if low.is_zero() {
                    return Ok(Value::Expr(complex_infinity()));
                }
                return Ok(Value::Expr(Expr::Number(Rational::from(top) / Rational::from(low))));
            }
            Ok(Value::Expr(a.times(inverse(b))))
        }
        (Value::Matrix(m), Value::Expr(b)) => {
            Ok(Value::Matrix(mapped(m, |entry| entry.times(inverse(b.clone())))))
        }
        _ => Err(ParseError::Syntax),
    }
}

fn inverse(expr: Expr) -> Expr {
    expr.power(Expr::int(-1))
}

/// Factors side by side, from right to left: an integer before a positive rational number is added to it.
pub(super) fn juxtaposed(factors: Vec<Value>) -> Parse<Value> {
    let count = factors.len();
    let mut factors = factors.into_iter().rev();
    let mut right = factors.next().ok_or(ParseError::Syntax)?;
    if count == 1 {
        return Ok(right);
    }
    // The product so far, in reverse order, so that a long one is built without copying.
    let mut parts: Vec<Expr> = Vec::with_capacity(count);
    for left in factors {
        match (left, right) {
            (Value::Expr(left), Value::Expr(last)) => {
                if parts.is_empty()
                    && let Some(mixed) = mixed(&left, &last)
                {
                    right = Value::Expr(mixed);
                    continue;
                }
                if parts.is_empty() {
                    push_reversed(&mut parts, last);
                }
                push_reversed(&mut parts, left);
                right = Value::Expr(Expr::int(1));
            }
            (left, last) => {
                let last = if parts.is_empty() { last } else { ordered(std::mem::take(&mut parts)) };
                right = product(left, last)?;
            }
        }
    }
    Ok(if parts.is_empty() { right } else { ordered(parts) })
}

fn ordered(mut parts: Vec<Expr>) -> Value {
    parts.reverse();
    Value::Expr(Expr::Product(parts))
}

fn push_reversed(parts: &mut Vec<Expr>, factor: Expr) {
    match factor {
        Expr::Product(inside) => parts.extend(inside.into_iter().rev()),
        other => parts.push(other),
    }
}

/// `3 1/2`.
fn mixed(left: &Expr, right: &Expr) -> Option<Expr> {
    let whole = Rational::from(integer(left)?);
    match right {
        Expr::Number(part) if *part > Rational::ZERO => {
            Some(Expr::Number(if whole < Rational::ZERO { whole - part } else { whole + part }))
        }
        _ => None,
    }
}

/// The root of a degree.
pub(super) fn root(of: Expr, degree: Expr) -> Expr {
    match &degree {
        Expr::Number(value) if !value.is_zero() => of.power(Expr::Number(Rational::ONE / value)),
        _ => of.power(inverse(degree)),
    }
}

/// e to a power, with the few that are computed at once.
pub(super) fn exponential(exponent: Expr) -> Expr {
    let e = Expr::Constant(Constant::E);
    match &exponent {
        Expr::Number(value) if value.is_zero() => Expr::int(1),
        Expr::Number(value) if *value == Rational::ONE => e,
        _ => logarithm_undone(&exponent).unwrap_or_else(|| e.power(exponent)),
    }
}

/// e to a logarithm, or to a number times one.
fn logarithm_undone(exponent: &Expr) -> Option<Expr> {
    let inside = |expr: &Expr| match expr {
        Expr::Call(Function::Ln, parts) => parts.first().cloned(),
        _ => None,
    };
    if let Some(of) = inside(exponent) {
        return Some(of);
    }
    match exponent {
        Expr::Product(parts) => match parts.as_slice() {
            [number @ Expr::Number(_), logarithm] => Some(inside(logarithm)?.power(number.clone())),
            _ => None,
        },
        _ => None,
    }
}
