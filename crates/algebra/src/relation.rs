//! Relation signs and intervals.

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

/// How two sides stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
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
    pub fn flipped(self) -> Self {
        match self {
            Self::Less => Self::More,
            Self::AtMost => Self::AtLeast,
            Self::More => Self::Less,
            Self::AtLeast => Self::AtMost,
            other => other,
        }
    }

    /// < ≤ > ≥
    pub fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::AtMost | Self::More | Self::AtLeast)
    }

    /// ≤ ≥
    pub fn includes_equal(self) -> bool {
        matches!(self, Self::AtMost | Self::AtLeast)
    }
}

impl Display for Sign {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::Near => "≈",
            Self::Unequal => "≠",
            Self::Less => "<",
            Self::AtMost => "≤",
            Self::More => ">",
            Self::AtLeast => "≥",
            Self::In => "∈",
            Self::NotIn => "∉",
        })
    }
}
