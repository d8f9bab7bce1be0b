//! Ambiguous notation: how one reading resolves it, and which ambiguities it encountered.

use std::cell::Cell;

/// What a comma between digits means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comma {
    /// Thousands where the groups allow it, else a separator.
    Thousands,
    /// Always a separator.
    Separator,
    /// A decimal point.
    Decimal,
}

/// How open choices of notation are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(crate) struct Notation {
    pub(crate) comma: Comma,
    /// `\log` without a base is the natural one, not the decimal one.
    pub(crate) natural_log: bool,
    /// `a/bc` is `a/(bc)`, not `(a/b)c`.
    pub(crate) long_slash: bool,
    /// `9e-4` is 9·e − 4, not a power of ten.
    pub(crate) euler: bool,
    /// `i` is the imaginary unit.
    pub(crate) imaginary: bool,
    /// `P(5, 2)` is a point, not a number of permutations.
    pub(crate) points: bool,
}

impl Default for Notation {
    fn default() -> Self {
        Self {
            comma: Comma::Thousands,
            natural_log: false,
            long_slash: false,
            euler: false,
            imaginary: true,
            points: false,
        }
    }
}

/// The ambiguities that a reading encountered.
#[derive(Debug, Default)]
pub(crate) struct Ambiguities {
    /// A comma that could group thousands.
    pub(crate) group: Cell<bool>,
    /// A comma that could be a decimal point.
    pub(crate) decimal: Cell<bool>,
    /// A logarithm without a base.
    pub(crate) log: Cell<bool>,
    /// A letter e that could be a power of ten.
    pub(crate) power: Cell<bool>,
    /// A slash before a product.
    pub(crate) slash: Cell<bool>,
    /// Permutations that could be a point.
    pub(crate) point: Cell<bool>,
}

impl Notation {
    /// The other ways to resolve the ambiguities, one at a time.
    pub(crate) fn others(self, ambiguities: &Ambiguities) -> Vec<Self> {
        let mut others = Vec::new();
        if ambiguities.group.get() {
            others.push(Self { comma: Comma::Separator, ..self });
        }
        if ambiguities.decimal.get() {
            others.push(Self { comma: Comma::Decimal, ..self });
        }
        if ambiguities.log.get() {
            others.push(Self { natural_log: !self.natural_log, ..self });
        }
        if ambiguities.power.get() {
            others.push(Self { euler: true, ..self });
        }
        if ambiguities.slash.get() {
            others.push(Self { long_slash: !self.long_slash, ..self });
        }
        if ambiguities.point.get() {
            others.push(Self { points: true, ..self });
        }
        others
    }
}
