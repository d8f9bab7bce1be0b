//! Relation operators and intervals, shared by both readers.

use crate::expr::Expr;
use std::fmt::{self, Display, Formatter};

/// The ends of an interval and whether they belong to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub from: Expr,
    /// The upper end.
    pub to: Expr,
    /// Whether the lower end belongs to it.
    pub from_closed: bool,
    /// Whether the upper end belongs to it.
    pub to_closed: bool,
}

/// The relation between two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RelationOp {
    /// =
    Equal,
    /// ≈
    Approx,
    /// ≠
    NotEqual,
    /// <
    Less,
    /// ≤
    LessEqual,
    /// >
    Greater,
    /// ≥
    GreaterEqual,
    /// ∈
    In,
    /// ∉
    NotIn,
}

impl RelationOp {
    /// The operator with its sides exchanged.
    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            other => other,
        }
    }

    /// < ≤ > ≥
    pub fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual)
    }

    /// ≤ ≥
    pub fn includes_equal(self) -> bool {
        matches!(self, Self::LessEqual | Self::GreaterEqual)
    }
}

impl Display for RelationOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::Approx => "≈",
            Self::NotEqual => "≠",
            Self::Less => "<",
            Self::LessEqual => "≤",
            Self::Greater => ">",
            Self::GreaterEqual => "≥",
            Self::In => "∈",
            Self::NotIn => "∉",
        })
    }
}
