//! Prices and costs.

use crate::Usage;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign};

/// An amount in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Usd(pub f64);

impl Add for Usd {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0.0 || self.0 >= 0.1 { write!(f, "${:.2}", self.0) } else { write!(f, "${:.4}", self.0) }
    }
}

/// The price of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    /// Prompt tokens.
    pub input: f64,
    /// Completion tokens.
    pub output: f64,
    /// Cached prompt tokens; the price of `input` where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
}

impl Price {
    /// The cost of this usage.
    pub fn cost(&self, usage: &Usage) -> Usd {
        let cached = usage.cached.min(usage.prompt);
        let fresh = usage.prompt - cached;
        let per_token = |price: f64, tokens: u64| price * tokens as f64 / 1e6;
        Usd(per_token(self.input, fresh)
            + per_token(self.cached_input.unwrap_or(self.input), cached)
            + per_token(self.output, usage.completion))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_have_their_own_price() {
        let usage = Usage { prompt: 1_000_000, cached: 400_000, completion: 500_000, reasoning: 0 };
        let price = Price { input: 2.0, output: 10.0, cached_input: Some(0.5) };
        // 0.6 M × 2 + 0.4 M × 0.5 + 0.5 M × 10
        assert!((price.cost(&usage).0 - 6.4).abs() < 1e-9);
        let flat = Price { cached_input: None, ..price };
        assert!((flat.cost(&usage).0 - 7.0).abs() < 1e-9);
    }
}
