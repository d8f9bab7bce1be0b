//! Expressions with variables: whether their difference simplifies to zero.

use super::comparator::Comparator;
use super::{number, reach};
use aske_algebra::approx::{self, Agreement, EvaluationError, Point};
use aske_algebra::exact;
use aske_algebra::expr::{Expr, Function, Over, Rational, Symbol};
use aske_algebra::fuel::{Fuel, OutOfFuel};
use aske_algebra::verdict::Method;
use dashu_int::IBig;

/// Coordinates whose denominators are powers of two: a negative number to such a power is not real.
const PLACES: &[(i64, u64)] = &[
    (45, 64),
    (39, 64),
    (53, 32),
    (281, 128),
    (179, 128),
    (25, 128),
    (119, 64),
    (37, 128),
    (11, 32),
    (389, 128),
    (135, 64),
    (7, 128),
    (287, 64),
];

/// Coordinates of variables that must be integers.
const COUNTS: &[i64] = &[7, 4, 9, 5, 11, 3, 8, 6, 12, 10, 13, 2];

/// A sample point that gives every variable a value.
pub(super) fn place(names: &[Symbol], index: usize, whole: bool) -> Point {
    let coordinate = |variable: usize| {
        let step = index + variable * 3;
        if whole {
            return Rational::from(COUNTS[step % COUNTS.len()]);
        }
        let (above, below) = PLACES[step % PLACES.len()];
        let value = Rational::from_parts(IBig::from(above), below.into())
            + Rational::from((step / PLACES.len()) as u64);
        if is_negative(index, variable) { -value } else { value }
    };
    Point::new(names.iter().enumerate().map(|(variable, name)| (name.clone(), coordinate(variable))))
}

/// Signs such that few points cover their combinations: no variable negative, all, every other one.
fn is_negative(index: usize, variable: usize) -> bool {
    match index {
        0 | 4 => false,
        1 => true,
        2 => variable % 2 == 1,
        3 => variable.is_multiple_of(2),
        _ => (index >> (variable % 3)) % 2 == 1,
    }
}

/// Whether two prepared expressions are the same function. Real variables and principal branches: where they
/// differ at one point, no simplification makes them the same.
pub(super) fn same(a: &Expr, b: &Expr, comparator: &Comparator<'_>) -> Result<bool, OutOfFuel> {
    let fuel = comparator.fuel;
    let names = number::names(a, b);
    let whole = wants_integers(a) || wants_integers(b);
    let mut kept = Vec::new();
    for index in 0..10 {
        let at = place(&names, index, whole);
        match approx::agreement(a, b, &at, 53, fuel).0 {
            Agreement::Apart => return Ok(comparator.by(Method::Interval, false)),
            Agreement::Unclear(EvaluationError::OutOfFuel) => return Err(OutOfFuel),
            Agreement::Unclear(_) => {}
            Agreement::Same | Agreement::Close { .. } => kept.push(at),
        }
        if kept.len() >= 5 {
            break;
        }
    }
    if disagree_on_principal_roots(a, b, &names, fuel)? || reach::is_out_of_reach(a, b, fuel)? {
        return Ok(comparator.by(Method::Exact, false));
    }
    if let Some(equal) = exact::same(a, b, fuel)? {
        return Ok(comparator.by(Method::Exact, equal));
    }
    if let Some(agree) = exact::residues_agree(a, b, fuel)? {
        return Ok(comparator.by(Method::Probable, agree));
    }
    if let Some(equal) = reach::antiderivative(a, b, fuel)? {
        return Ok(comparator.by(Method::Exact, equal));
    }
    if kept.len() < 3 {
        return Ok(comparator.by(Method::Probable, false));
    }
    for at in kept.iter().take(2) {
        match approx::agreement(a, b, at, 128, fuel) {
            (Agreement::Close { bits, absolute }, rigorous)
                if bits.max(absolute) >= if rigorous { 80 } else { 30 } => {}
            (Agreement::Same, _) => {}
            (Agreement::Unclear(EvaluationError::OutOfFuel), _) => return Err(OutOfFuel),
            _ => return Ok(comparator.by(Method::Probable, false)),
        }
    }
    Ok(comparator.by(Method::Probable, true))
}

/// Whether two expressions differ at negative numbers if odd roots are taken on their principal branch.
fn disagree_on_principal_roots(a: &Expr, b: &Expr, names: &[Symbol], fuel: &Fuel) -> Result<bool, OutOfFuel> {
    if !has_odd_root(a) && !has_odd_root(b) {
        return Ok(false);
    }
    let at = place(names, 1, false);
    let closed = |expr: &Expr| {
        let filled = names.iter().fold(expr.clone(), |expr, name| match at.get(name) {
            Some(value) => exact::substitute(&expr, name, &Expr::Number(value.clone())),
            None => expr,
        });
        number::prepared(&filled, fuel)
    };
    match approx::agreement(&closed(a), &closed(b), &Point::none(), 53, fuel).0 {
        Agreement::Unclear(EvaluationError::OutOfFuel) => Err(OutOfFuel),
        found => Ok(found == Agreement::Apart),
    }
}

fn has_odd_root(expr: &Expr) -> bool {
    expr.any(&|part| match part {
        Expr::Power(base, exponent) => number::is_odd_root(exponent) && number::is_open(base),
        _ => false,
    })
}

/// Whether some part is only defined at integers.
fn wants_integers(expr: &Expr) -> bool {
    expr.any(&|part| match part {
        Expr::Call(
            Function::Factorial | Function::Binomial | Function::Gcd | Function::Lcm | Function::Mod,
            parts,
        ) => parts.iter().any(number::is_open),
        Expr::Bind(bind) => match &bind.over {
            Over::Sum(a, b) | Over::Product(a, b) => number::is_open(a) || number::is_open(b),
            _ => false,
        },
        _ => false,
    })
}
