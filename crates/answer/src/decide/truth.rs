//! Three-valued logic: yes, no or unknown, with the method that decided.

use aske_algebra::fuel::OutOfFuel;
use aske_algebra::verdict::Method;

/// What is known of an equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Yes(Method),
    No(Method),
    /// Not established within bounds.
    Unknown,
}

impl From<OutOfFuel> for Truth {
    fn from(_: OutOfFuel) -> Self {
        Self::Unknown
    }
}

impl Truth {
    pub(crate) fn of(equal: bool, method: Method) -> Self {
        if equal { Self::Yes(method) } else { Self::No(method) }
    }

    pub(crate) fn is_yes(self) -> bool {
        matches!(self, Self::Yes(_))
    }

    /// Both hold; the weaker of two methods is named.
    pub(crate) fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No(_) => self,
            Self::Unknown => match other() {
                no @ Self::No(_) => no,
                _ => Self::Unknown,
            },
            Self::Yes(method) => match other() {
                Self::Yes(second) => Self::Yes(method.weaker(second)),
                rest => rest,
            },
        }
    }

    /// One of both holds.
    pub(crate) fn or(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Yes(_) => self,
            Self::Unknown => match other() {
                yes @ Self::Yes(_) => yes,
                _ => Self::Unknown,
            },
            Self::No(_) => match other() {
                Self::No(_) => self,
                rest => rest,
            },
        }
    }

    /// All of them hold.
    pub(crate) fn all(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut total = Self::Yes(Method::Exact);
        for truth in truths {
            total = total.and(|| truth);
            if let Self::No(_) = total {
                break;
            }
        }
        total
    }
}
