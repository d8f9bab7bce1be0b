//! Where variables stand.

use crate::tree::{Rational, Symbol};

/// Exact coordinates of the free variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point(Vec<(Symbol, Rational)>);

impl Point {
    /// No variable has a place.
    pub fn none() -> Self {
        Self::default()
    }

    /// Every variable at its place.
    pub fn new(places: impl IntoIterator<Item = (Symbol, Rational)>) -> Self {
        places.into_iter().fold(Self::none(), |point, (name, value)| point.with(name, value))
    }

    /// The place of one variable.
    pub fn get(&self, name: &str) -> Option<&Rational> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The same point with one variable put at a place.
    #[must_use]
    pub fn with(mut self, name: Symbol, value: Rational) -> Self {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some(place) => place.1 = value,
            None => self.0.push((name, value)),
        }
        self
    }
}
