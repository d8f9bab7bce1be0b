//! The typed answer: what kind of thing was given.

use crate::tree::{Expr, Function, Symbol};
use crate::units::Unit;
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
    /// The set of all for which a condition holds.
    Where(Box<Answer>),
    /// The real line.
    Reals,
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
}

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Minutes since midnight, or since noon where it is not told which.
    pub minutes: u32,
    /// Whether the half of the day was told.
    pub told: bool,
}

/// The ends of an interval and whether they belong to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Interval {
    /// The lower end.
    pub from: Expr,
    /// The upper end.
    pub to: Expr,
    /// Whether the lower end belongs to it.
    pub from_closed: bool,
    /// Whether the upper end belongs to it.
    pub to_closed: bool,
}

/// Sides with signs between them: `a < b ≤ c`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relation {
    /// One more side than signs.
    pub sides: Vec<Answer>,
    /// The signs between them.
    pub signs: Vec<Sign>,
}

/// How two sides stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    /// =
    Equal,
    /// ≈
    Near,
    /// ≠
    Unequal,
    /// <
    Less,
    /// ≤
    AtMost,
    /// >
    More,
    /// ≥
    AtLeast,
    /// ∈
    In,
    /// ∉
    NotIn,
}

impl Sign {
    /// The sign seen from the other side.
    #[must_use]
    pub(crate) fn flipped(self) -> Self {
        match self {
            Self::Less => Self::More,
            Self::AtMost => Self::AtLeast,
            Self::More => Self::Less,
            Self::AtLeast => Self::AtMost,
            other => other,
        }
    }

    /// < ≤ > ≥
    pub(crate) fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::AtMost | Self::More | Self::AtLeast)
    }

    /// ≤ ≥
    pub(crate) fn includes_equal(self) -> bool {
        matches!(self, Self::AtMost | Self::AtLeast)
    }
}

impl Answer {
    /// The name of a variable or function that stands alone.
    pub(crate) fn as_name(&self) -> Option<Symbol> {
        match self {
            Self::Value(Expr::Symbol(name) | Expr::Apply(name, _)) | Self::Text(name) => Some(name.clone()),
            Self::Value(Expr::Call(Function::Abs, inside)) => {
                segment(inside.first()?).map(|name| format!("|{name}|").into())
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
