//! Options for ambiguous notation.

use serde::{Deserialize, Serialize};

/// The choices, with the defaults of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent option with a name of its own")]
pub struct NotationPolicy {
    /// `50\%` equals 50 as well as 0.5.
    pub percent_as_number: bool,
    /// `5 cm` equals 5.
    pub unit_optional: bool,
    /// `5 m` equals `500 cm`; without it units must be the same.
    pub unit_conversion: bool,
    /// `90^\circ` equals 90.
    pub degree_optional: bool,
    /// Decimals after the point that a rounded number must share with the exact one.
    pub decimals: u32,
    /// Significant digits that a rounded number must share with the exact one.
    pub significant_digits: u32,
    /// A column vector equals the tuple of its entries.
    pub column_as_tuple: bool,
    /// `3:4` equals 3/4.
    pub ratio_as_quotient: bool,
    /// `1, 2` equals `(1, 2)`.
    pub list_as_tuple: bool,
    /// `1, 2` equals `\{2, 1\}`.
    pub list_as_set: bool,
    /// `(1, 2)` equals `1 < x < 2`, and `[1, 2]` equals `1 \le x \le 2`.
    pub pair_as_interval: bool,
    /// `x = 5` equals 5.
    pub assignment_as_value: bool,
    /// `(A) 5` equals 5 as well as A.
    pub choice_by_content: bool,
}

impl NotationPolicy {
    /// The defaults of this project.
    pub const fn usual() -> Self {
        Self {
            percent_as_number: true,
            unit_optional: true,
            unit_conversion: true,
            degree_optional: true,
            decimals: 6,
            significant_digits: 4,
            column_as_tuple: true,
            ratio_as_quotient: true,
            list_as_tuple: true,
            list_as_set: true,
            pair_as_interval: true,
            assignment_as_value: true,
            choice_by_content: true,
        }
    }
}

impl Default for NotationPolicy {
    fn default() -> Self {
        Self::usual()
    }
}
