//! The place of a call in its record.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which of the two boundary solvers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Model 1 to the asker.
    One,
    /// Model 2 to the asker.
    Two,
}

impl Side {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::One, Self::Two];

    /// 0 or 1.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Who replies to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The question asker.
    Asker,
    /// A boundary solver.
    Solver(Side),
    /// The cross-check solver.
    Check,
    /// A solver outside of a session: in an audit, a baseline or a measurement of difficulty. The record names it.
    Panel,
    /// The equivalence checker.
    Equivalence,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 6] = [
        Self::Asker,
        Self::Solver(Side::One),
        Self::Solver(Side::Two),
        Self::Check,
        Self::Panel,
        Self::Equivalence,
    ];

    /// The name in stored calls.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asker => "asker",
            Self::Solver(Side::One) => "one",
            Self::Solver(Side::Two) => "two",
            Self::Check => "check",
            Self::Panel => "panel",
            Self::Equivalence => "equivalence",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A call's place within its record: the asker's turn, counted from 1, the role and the draw, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The asker's turn, counted from 1.
    pub turn: u32,
    /// Whose reply.
    pub role: Role,
    /// Which independent reply to the same request, counted from 0.
    pub draw: u32,
}

impl Slot {
    /// The first draw of a role in a turn.
    pub fn first(turn: u32, role: Role) -> Self {
        Self { turn, role, draw: 0 }
    }
}
