//! Numbers, formulas and symbols.

use super::comparator::Comparator;
use super::tree::{Matrix, integer, is_complex_infinity, is_infinite, percent_value, unmarked};
use super::{float, function, number, round, structure};
use aske_algebra::approx::{self, Point};
use aske_algebra::expr::{Constant, Expr};
use aske_algebra::fuel::{Fuel, OutOfFuel, all};
use aske_algebra::verdict::Method;

impl Comparator<'_> {
    pub(super) fn same_expr(&self, gold: &Expr, pred: &Expr) -> Result<bool, OutOfFuel> {
        self.fuel.spend(10)?;
        if is_complex_infinity(gold) {
            return Ok(false);
        }
        if structure::same_expr(gold, pred) {
            return Ok(true);
        }
        if matches!(gold, Expr::Symbol(_)) || matches!(pred, Expr::Symbol(_)) {
            return Ok(self.by(Method::Text, same_symbols(gold, pred)));
        }
        if is_complex_infinity(pred) {
            return Ok(false);
        }
        self.fuel.spend(30 * (gold.size() + pred.size()))?;
        Ok(self.numeric(gold, pred)? || self.symbolic(gold, pred)?)
    }

    /// Compares by value, as math-verify does for this kind of numbers.
    fn numeric(&self, gold: &Expr, pred: &Expr) -> Result<bool, OutOfFuel> {
        if is_number(gold) || is_number(pred) {
            if is_decimal(gold) || is_decimal(pred) {
                let rounded = |expr| round::rounded(expr, self.options.float_rounding, self.fuel);
                let (Some(gold), Some(pred)) = (rounded(gold)?, rounded(pred)?) else { return Ok(false) };
                return Ok(self.by(Method::Tolerance, gold == pred));
            }
            let whole = |expr: &Expr| integer(percent_value(expr).unwrap_or(expr));
            return Ok(match (whole(gold), whole(pred)) {
                (Some(gold), Some(pred)) => gold == pred,
                // `symbolic` compares these exactly.
                _ => false,
            });
        }
        if number::is_open(gold) || number::is_open(pred) {
            return Ok(false);
        }
        let tiny = number::tiny(self.options.numeric_precision);
        if gold.has_decimal() || pred.has_decimal() {
            let Some(difference) = float::difference(gold, pred, self.fuel)? else { return Ok(false) };
            return number::within(&number::prepared(&difference, self.fuel), &Expr::int(0), tiny, self.fuel);
        }
        let prepared = |expr| number::prepared(expr, self.fuel);
        let close = number::within(&prepared(gold), &prepared(pred), tiny, self.fuel)?;
        Ok(self.by(Method::Interval, close))
    }

    /// Whether the difference simplifies to zero.
    fn symbolic(&self, gold: &Expr, pred: &Expr) -> Result<bool, OutOfFuel> {
        if let (Expr::Number(_), Expr::Number(_)) = (gold, pred) {
            return Ok(gold == pred);
        }
        if is_infinite(gold).is_some() || is_infinite(pred).is_some() {
            let which = |expr| infinite(expr, self.fuel);
            return Ok(which(gold)?.is_some() && which(gold)? == which(pred)?);
        }
        let decimals = gold.has_decimal() || pred.has_decimal();
        if decimals && float::cancels(gold, pred, self.fuel)? {
            return Ok(true);
        }
        let (a, b) = (number::prepared(gold, self.fuel), number::prepared(pred, self.fuel));
        let open = number::is_open(&a) || number::is_open(&b);
        if !open {
            // A single decimal, compared with an expression without decimals, has its exact value.
            let exact = |expr: &Expr| match expr {
                Expr::Decimal(value) => Some(Expr::Number(value.clone())),
                other => (!other.has_decimal()).then(|| other.clone()),
            };
            let (Some(a), Some(b)) = (exact(&a), exact(&b)) else { return Ok(false) };
            return number::same(&a, &b, self.fuel);
        }
        function::same(&a, &b, self)
    }

    pub(super) fn same_matrices(&self, gold: &Matrix, pred: &Matrix) -> Result<bool, OutOfFuel> {
        if gold.columns != pred.columns || gold.entries.len() != pred.entries.len() {
            return Ok(self.by(Method::Kind, false));
        }
        let pairs = || gold.entries.iter().zip(&pred.entries);
        let same = structure::same_expr;
        Ok(all(pairs(), |(gold, pred)| Ok(same(gold, pred) || self.numeric(gold, pred)?))?
            || all(pairs(), |(gold, pred)| Ok(same(gold, pred) || self.symbolic(gold, pred)?))?)
    }
}

/// Which infinity a closed expression evaluates to.
fn infinite(expr: &Expr, fuel: &Fuel) -> Result<Option<bool>, OutOfFuel> {
    if let Some(negative) = is_infinite(expr) {
        return Ok(Some(negative));
    }
    if number::is_open(expr) {
        return Ok(None);
    }
    let value = approx::evaluate(&number::prepared(expr, fuel), &Point::none(), 53, fuel);
    Ok(match approx::known(value)? {
        Some(approx::Value::Infinite { negative }) => Some(negative),
        _ => None,
    })
}

/// Whether an expression is a number, with or without a percent sign.
fn is_number(expr: &Expr) -> bool {
    let plain = percent_value(expr).unwrap_or(expr);
    matches!(plain, Expr::Number(_) | Expr::Decimal(_)) || is_infinite(expr).is_some()
}

fn is_decimal(expr: &Expr) -> bool {
    matches!(percent_value(expr).unwrap_or(expr), Expr::Decimal(_))
}

/// Compares a symbol with any expression, by name only.
fn same_symbols(gold: &Expr, pred: &Expr) -> bool {
    let e = Expr::Constant(Constant::E);
    let name = |expr: &Expr| match expr {
        Expr::Symbol(name) => Some(unmarked(name).to_owned()),
        _ => None,
    };
    let (gold_name, pred_name) = (name(gold), name(pred));
    if (gold_name.as_deref() == Some("e") && *pred == e) || (pred_name.as_deref() == Some("e") && *gold == e)
    {
        return true;
    }
    for (name, other) in [(&gold_name, pred), (&pred_name, gold)] {
        if let (Some(name), Some(letters)) = (name, spelled(other)) {
            return *name.to_lowercase() == letters.to_lowercase();
        }
    }
    match (gold_name, pred_name) {
        (Some(gold), Some(pred)) => gold == pred,
        (Some(name), None) => Some(name) == printed(pred),
        (None, Some(name)) => Some(name) == printed(gold),
        (None, None) => false,
    }
}

/// The letters of a product of symbols, in the order written.
fn spelled(expr: &Expr) -> Option<String> {
    let Expr::Product(parts) = expr else { return None };
    let mut letters = String::with_capacity(parts.len());
    for part in parts {
        match part {
            Expr::Symbol(name) => letters.push_str(unmarked(name)),
            Expr::Constant(Constant::E) => letters.push('e'),
            _ => return None,
        }
    }
    Some(letters)
}

/// How sympy prints numbers and constants.
fn printed(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Number(value) => Some(value.to_string()),
        Expr::Constant(Constant::Pi) => Some("pi".to_owned()),
        Expr::Constant(Constant::I) => Some("I".to_owned()),
        Expr::Constant(Constant::Infinity) => Some("oo".to_owned()),
        _ => None,
    }
}
