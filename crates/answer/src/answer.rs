//! The typed answer that the reader produces and the comparison works on.

use crate::units::Unit;
use aske_algebra::expr::{Expr, Function, Symbol};
pub(crate) use aske_algebra::relation::{Interval, RelationOp};
use smol_str::SmolStr;

/// An answer, read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// A number or an expression.
    Value(Expr),
    /// A number before a percent sign.
    Percent(Expr),
    /// A value with its unit.
    Quantity(Expr, Unit),
    /// `3:4:5`, and the time of day it could be.
    Ratio(Vec<Expr>, Option<Clock>),
    /// `(a, b, …)` or `⟨a, b, …⟩`: ordered; two numbers may be an open interval.
    Tuple(Vec<Answer>),
    /// `[a, b, …]`: ordered; two numbers may be a closed interval; never a set.
    List(Vec<Answer>),
    /// `a, b, …` without brackets.
    Bare(Vec<Answer>),
    /// `{a, b, …}`.
    Set(Vec<Answer>),
    /// An interval that cannot be a tuple.
    Interval(Box<Interval>),
    /// All of these sets together.
    Union(Vec<Answer>),
    /// What these sets share.
    Intersection(Vec<Answer>),
    /// The first set without the second.
    Minus(Box<Answer>, Box<Answer>),
    /// The set of all numbers of a kind for which a condition on this letter holds.
    Where(Symbol, Numbers, Box<Answer>),
    /// An answer with letters that range over sets of numbers: `2\pi k, k\in\mathbb{Z}`.
    Family(Box<Answer>, Vec<(Symbol, Numbers)>),
    /// All numbers of a kind.
    Numbers(Numbers),
    /// A number and the same number once more in brackets.
    Gloss(Box<Answer>, Box<Answer>),
    /// Residues to a modulus.
    Congruence(Box<Congruence>),
    /// A day.
    Date(Date),
    /// A permutation: its cycles, each from its least number, sorted where they are disjoint.
    Cycles { cycles: Vec<Vec<u64>>, disjoint: bool },
    /// Letters in an order that matters: tosses of a coin, a Roman numeral, a word.
    Letters(SmolStr),
    /// Equations and inequalities in a chain.
    Relation(Relation),
    /// One or the other holds.
    Any(Vec<Answer>),
    /// All hold: a system.
    All(Vec<Answer>),
    /// Rows of entries.
    Matrix(Vec<Vec<Answer>>),
    /// An option's letter, and what was written beside it.
    Choice(char, Option<Box<Answer>>),
    /// Words.
    Text(SmolStr),
    /// `…` in a list.
    Dots,
    /// What is not understood.
    Opaque(Opaque),
}

/// The name of what an inequality speaks of without naming it.
pub(crate) const UNNAMED: &str = "□";

/// Notation that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opaque {
    /// Its words in order.
    pub spelling: SmolStr,
    /// Its words sorted.
    pub bag: SmolStr,
}

impl Opaque {
    /// Whether some operator in it may not depend on the order of its operands.
    pub(crate) fn has_commutative_operator(&self) -> bool {
        const COMMUTATIVE: &str = "+ * = , ; \\and \\or \\land \\lor \\iff \\parallel \\perp \\cong \\equiv \\sim \\triangle \
            \\cup \\cap \\oplus \\ne \\approx ||";
        self.spelling.split(' ').any(|piece| COMMUTATIVE.split(' ').any(|known| known == piece))
    }
}

/// A set of numbers with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    Reals,
    Integers,
    /// With or without zero: authors differ.
    Naturals,
    /// Integers from 0.
    FromZero,
    /// Integers from 1.
    Positive,
    Rationals,
    Complexes,
}

/// `left ≡ residues (mod modulus)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Congruence {
    /// What is congruent to the residues, where it is named.
    pub left: Option<Expr>,
    /// One or more residues.
    pub residues: Vec<Expr>,
    /// The modulus.
    pub modulus: Expr,
}

/// A day, of a year where it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    pub year: Option<u16>,
    /// From 1.
    pub month: u8,
    /// From 1.
    pub day: u8,
}

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Minutes since midnight, or since noon where the half of the day is unknown.
    pub minutes: u32,
    /// Whether `am` or `pm` was given.
    pub has_meridiem: bool,
}

/// Sides with signs between them: `a < b ≤ c`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relation {
    /// One more side than signs.
    pub sides: Vec<Answer>,
    /// The signs between them.
    pub signs: Vec<RelationOp>,
}

impl Relation {
    /// The variables on its sides.
    pub(crate) fn free_symbols(&self) -> std::collections::BTreeSet<Symbol> {
        let of = |side: &Answer| match side {
            Answer::Value(expr) => aske_algebra::exact::free_symbols(expr),
            Answer::Letters(name) => std::iter::once(name.clone()).collect(),
            Answer::Ratio(parts, _) => parts.iter().flat_map(aske_algebra::exact::free_symbols).collect(),
            _ => std::collections::BTreeSet::new(),
        };
        self.sides.iter().flat_map(of).collect()
    }
}

impl Answer {
    /// The name of a variable or function that stands alone.
    pub(crate) fn as_name(&self) -> Option<Symbol> {
        match self {
            Self::Value(Expr::Symbol(name)) | Self::Letters(name) => Some(name.clone()),
            // `f(x)` and `f(t)` name one function, `f(1)` and `f(2)` two values.
            Self::Value(Expr::Apply(name, arguments)) => {
                let variable =
                    |e: &Expr| matches!(e, Expr::Symbol(x) if x.starts_with(|c: char| c.is_lowercase()));
                Some(if arguments.iter().all(variable) {
                    name.clone()
                } else {
                    SmolStr::new(Expr::Apply(name.clone(), arguments.clone()).to_string())
                })
            }
            Self::Text(name) => crate::read::words::is_name(name).then(|| name.clone()),
            Self::Value(Expr::Call(Function::Abs, inside)) => {
                let inside = inside.first()?;
                match inside {
                    Expr::Symbol(name) if name.starts_with(char::is_uppercase) => {
                        Some(format!("|{name}|").into())
                    }
                    // The length of a segment.
                    _ => segment(inside).filter(|ends| ends.len() == 2),
                }
            }
            // The measure of an angle.
            Self::Value(Expr::Product(parts)) if matches!(parts.as_slice(), [Expr::Symbol(m), Expr::Symbol(angle)] if m == "m" && angle.starts_with('∠')) => {
                match &parts[1] {
                    Expr::Symbol(angle) => Some(angle.clone()),
                    _ => None,
                }
            }
            Self::Value(product) => segment(product),
            _ => None,
        }
    }
}

/// A segment by its ends: `AB`.
fn segment(expr: &Expr) -> Option<Symbol> {
    let Expr::Product(parts) = expr else { return None };
    let mut name = String::new();
    for part in parts {
        match part {
            Expr::Symbol(letter) if letter.len() == 1 && letter.chars().all(char::is_uppercase) => {
                name.push_str(letter);
            }
            _ => return None,
        }
    }
    Some(name.into())
}
