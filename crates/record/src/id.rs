//! Names of pairs and sessions.

use aske_session::{Seed, coin};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An unordered pair of boundary solvers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PairId {
    first: String,
    second: String,
}

/// A text that is not a pair.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a pair; write two different names with a colon between them, such as `a:b`")]
pub struct PairIdError(pub String);

impl PairId {
    /// The pair of two different solvers, in either order.
    pub fn new(a: &str, b: &str) -> Result<Self, PairIdError> {
        if a == b || [a, b].into_iter().any(|name| name.is_empty() || name.contains(':')) {
            return Err(PairIdError(format!("{a}:{b}")));
        }
        let (first, second) = if a < b { (a, b) } else { (b, a) };
        Ok(Self { first: first.to_owned(), second: second.to_owned() })
    }

    /// Every pair of these solvers, in their order.
    pub fn all<'n>(names: &'n [&str]) -> impl Iterator<Item = Self> + 'n {
        let both =
            (0..names.len()).flat_map(move |i| (i + 1..names.len()).map(move |j| (names[i], names[j])));
        both.filter_map(|(a, b)| Self::new(a, b).ok())
    }

    /// Both names, in alphabetical order.
    pub fn both(&self) -> [&str; 2] {
        [&self.first, &self.second]
    }
}

impl fmt::Display for PairId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.first, self.second)
    }
}

impl FromStr for PairId {
    type Err = PairIdError;
    fn from_str(text: &str) -> Result<Self, PairIdError> {
        let (a, b) = text.split_once(':').ok_or_else(|| PairIdError(text.to_owned()))?;
        Self::new(a, b)
    }
}

impl From<PairId> for String {
    fn from(pair: PairId) -> Self {
        pair.to_string()
    }
}

impl TryFrom<String> for PairId {
    type Error = PairIdError;
    fn try_from(text: String) -> Result<Self, PairIdError> {
        text.parse()
    }
}

/// One planned session: a pair and which of its samples, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId {
    /// The pair.
    pub pair: PairId,
    /// The sample.
    pub sample: u32,
}

impl SessionId {
    /// Model 1 and Model 2. Which solver is Model 1 alternates from sample to sample, and is pseudo-random in the
    /// first one, so that the position reveals neither size nor name.
    pub fn solvers(&self, seed: Seed) -> [String; 2] {
        let [a, b] = self.pair.both().map(str::to_owned);
        let swap = coin(seed, &self.pair.to_string()) ^ (self.sample % 2 == 1);
        if swap { [b, a] } else { [a, b] }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.pair, self.sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_no_order() {
        assert_eq!(PairId::new("b", "a"), PairId::new("a", "b"));
        assert_eq!("b:a".parse::<PairId>().unwrap().to_string(), "a:b");
        for bad in ["a", "a:a", ":b", "", "a:b:c"] {
            assert_eq!(bad.parse::<PairId>().unwrap_err().0, bad);
        }
    }
}
