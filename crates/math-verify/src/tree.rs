//! The parse tree of an answer.

use aske_algebra::expr::{Constant, Expr, Rational, Symbol};
use aske_algebra::relation::{Interval, RelationOp};
use dashu_int::IBig;
use smol_str::SmolStr;

/// A parsed answer. Expressions stay as they were written: nothing is multiplied out or put in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A number or a formula.
    Expr(Expr),
    /// Rows of entries.
    Matrix(Matrix),
    /// A finite set, in the order written, equal elements included.
    Set(Vec<Value>),
    /// An ordered tuple.
    Tuple(Vec<Value>),
    /// An interval whose ends are not the wrong way round.
    Interval(Box<Interval>),
    /// The union of two sets.
    Union(Box<Value>, Box<Value>),
    /// The intersection of two sets, never computed.
    Intersection(Box<Value>, Box<Value>),
    /// The first set without the second.
    Minus(Box<Value>, Box<Value>),
    /// A set with a name of its own.
    NamedSet(NamedSet),
    /// Two sides and a sign between them.
    Relation(Box<Relation>),
    /// Several relations, each beginning where the one before ends.
    Chain(Vec<Relation>),
    /// A negated membership, equal only to itself.
    Not(Box<Relation>),
}

/// Sets with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedSet {
    Empty,
    Naturals,
    Integers,
    Rationals,
    Reals,
    Complexes,
}

/// Rows of equal length.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    pub(super) columns: usize,
    pub(super) entries: Vec<Expr>,
}

/// Two sides and the sign between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Relation {
    pub(super) sign: RelationOp,
    pub(super) left: Value,
    pub(super) right: Value,
}

impl Value {
    pub(super) fn expr(&self) -> Option<&Expr> {
        match self {
            Self::Expr(expr) => Some(expr),
            _ => None,
        }
    }

    /// Whether the comparison treats it as a set; a tuple is not one.
    pub(super) fn is_set(&self) -> bool {
        matches!(
            self,
            Self::Set(_)
                | Self::Interval(_)
                | Self::Union(..)
                | Self::Intersection(..)
                | Self::Minus(..)
                | Self::NamedSet(_)
        )
    }

    pub(super) fn is_set_or_tuple(&self) -> bool {
        self.is_set() || matches!(self, Self::Tuple(_))
    }

    pub(super) fn is_relation(&self) -> bool {
        matches!(self, Self::Relation(_) | Self::Chain(_))
    }

    /// The relations of a relation or a chain.
    pub(super) fn relations(&self) -> &[Relation] {
        match self {
            Self::Relation(one) => std::slice::from_ref(one),
            Self::Chain(all) => all,
            _ => &[],
        }
    }

    /// `=`, or a chain of nothing else.
    pub(super) fn is_equation(&self) -> bool {
        !self.relations().is_empty() && self.relations().iter().all(|one| one.sign == RelationOp::Equal)
    }

    /// An equation whose first side is made of symbols.
    pub(super) fn is_assignment(&self) -> bool {
        self.is_equation() && self.relations().first().is_some_and(|one| only_symbols(&one.left))
    }
}

/// Made of symbols only.
pub(super) fn only_symbols(value: &Value) -> bool {
    fn inside(expr: &Expr) -> bool {
        match expr {
            Expr::Symbol(_) => true,
            Expr::Power(base, exponent) if **exponent == Expr::int(-1) => {
                matches!(**base, Expr::Symbol(_)) || inside_all(base)
            }
            other => inside_all(other),
        }
    }
    fn inside_all(expr: &Expr) -> bool {
        let parts = expr.children();
        !parts.is_empty() && parts.into_iter().all(inside)
    }
    match value {
        Value::Expr(expr) => inside(expr),
        Value::Tuple(parts) | Value::Set(parts) => !parts.is_empty() && parts.iter().all(only_symbols),
        _ => false,
    }
}

/// The mark on the name of a symbol that is not known to be real.
const COMPLEX: char = '\u{1}';

/// The name of a symbol, with the mark where it is not known to be real.
pub(super) fn symbol_name(name: &str, real: bool) -> Symbol {
    if real { Symbol::new(name) } else { Symbol::new(format!("{name}{COMPLEX}")) }
}

/// A symbol by its name.
pub(super) fn symbol(name: &str, real: bool) -> Expr {
    Expr::Symbol(symbol_name(name, real))
}

/// The name without its mark.
pub(super) fn unmarked(name: &Symbol) -> &str {
    name.strip_suffix(COMPLEX).unwrap_or(name)
}

/// The factor 1/100 of a percent sign, which is not multiplied out.
pub(super) fn hundredth() -> Expr {
    Expr::Apply(SmolStr::new_static("%"), Vec::new())
}

/// A number before a percent sign.
pub(super) fn percent(number: Expr) -> Expr {
    Expr::Product(vec![number, hundredth()])
}

/// The number before the percent sign.
pub(super) fn percent_value(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Product(parts) => match parts.as_slice() {
            [number, mark] if *mark == hundredth() => Some(number),
            _ => None,
        },
        _ => None,
    }
}

/// The result of a division by zero: sympy's `zoo`.
pub(super) fn complex_infinity() -> Expr {
    Expr::Apply(SmolStr::new_static("zoo"), Vec::new())
}

/// Whether this is the result of a division by zero.
pub(super) fn is_complex_infinity(expr: &Expr) -> bool {
    matches!(expr, Expr::Apply(name, parts) if parts.is_empty() && name == "zoo")
}

/// A number with a decimal point: the nearest double, or all digits if there are more than a double has.
pub(super) fn decimal(text: &str) -> Option<Expr> {
    let (mantissa, exponent) = text.split_once('E').unwrap_or((text, "0"));
    let exponent: i32 = exponent.replace('−', "-").trim_start_matches('+').parse().ok()?;
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (sign, whole) = whole.strip_prefix('-').map_or((1, whole), |rest| (-1, rest));
    let digits = format!("{whole}{part}");
    let significant = digits.trim_start_matches('0').len();
    if significant > 4000 || exponent.abs() > 4000 {
        return None;
    }
    if significant <= 15 {
        let double: f64 = format!("{whole}.{part}e{exponent}").parse().ok()?;
        return Some(Expr::Decimal(Rational::try_from(double * f64::from(sign)).ok()?));
    }
    let top: IBig = digits.parse().ok()?;
    let shift = exponent - i32::try_from(part.len()).ok()?;
    let ten = IBig::from(10).pow(usize::try_from(shift.abs()).ok()?);
    let value = Rational::from(top * sign);
    Some(Expr::Decimal(if shift < 0 { value / Rational::from(ten) } else { value * Rational::from(ten) }))
}

/// A number without its leading zeros.
pub(super) fn number_without_zeros(text: &str) -> Option<Expr> {
    let text = text.trim_start_matches('0');
    number(if text.is_empty() { "0" } else { text })
}

/// A number as written: an integer, or a decimal.
pub(super) fn number(text: &str) -> Option<Expr> {
    if text.contains(['.', 'E']) {
        return decimal(text);
    }
    // Python refuses longer integers.
    if text.len() > 4300 {
        return None;
    }
    Some(Expr::integer(text.parse().ok()?))
}

/// Plus or minus infinity.
pub(super) fn infinity(negative: bool) -> Expr {
    let infinity = Expr::Constant(Constant::Infinity);
    if negative { Expr::Product(vec![Expr::int(-1), infinity]) } else { infinity }
}

/// Which infinity, if it is one.
pub(super) fn is_infinite(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Constant(Constant::Infinity) => Some(false),
        Expr::Product(parts) => match parts.as_slice() {
            [Expr::Number(sign), Expr::Constant(Constant::Infinity)] if *sign == Rational::from(-1) => {
                Some(true)
            }
            _ => None,
        },
        _ => None,
    }
}

/// An integer as written or computed at once.
pub(super) fn integer(expr: &Expr) -> Option<IBig> {
    match expr {
        Expr::Number(value) if value.is_int() => Some(value.numerator().clone()),
        _ => None,
    }
}
