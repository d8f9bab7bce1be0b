//! The families of questions.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

macro_rules! families {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What a question is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Family { $($(#[$doc])* $name,)* }

        impl Family {
            /// Every family.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

families! {
    /// Sums and differences.
    Sum = "sum",
    /// Products.
    Product = "product",
    /// Sums, differences and products of fractions.
    Fraction = "fraction",
    /// Powers and roots.
    Power = "power",
    /// Remainders of division.
    Remainder = "remainder",
    /// Greatest common divisors.
    Gcd = "gcd",
    /// Linear equations.
    Linear = "linear",
    /// Simultaneous linear equations.
    System = "system",
    /// Terms of arithmetic sequences.
    Sequence = "sequence",
    /// Sums of arithmetic sequences.
    Series = "series",
    /// Choosing, arranging, counting multiples.
    Count = "count",
    /// Percentages.
    Percent = "percent",
    /// Several operations in one expression.
    Order = "order",
}

impl Family {
    /// Its place among all families.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Unknown name of a family.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("there is no family `{0}`")]
pub struct UnknownFamilyError(String);

impl FromStr for Family {
    type Err = UnknownFamilyError;
    fn from_str(text: &str) -> Result<Self, UnknownFamilyError> {
        Self::ALL
            .iter()
            .copied()
            .find(|family| family.as_str() == text)
            .ok_or_else(|| UnknownFamilyError(text.to_owned()))
    }
}
