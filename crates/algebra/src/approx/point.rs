//! Values of variables at which an expression is evaluated.

use crate::expr::{Rational, Symbol};

/// Exact coordinates of the free variables, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point(Vec<(Symbol, Rational)>);

impl Point {
    /// A point without variables.
    pub fn none() -> Self {
        Self::default()
    }

    /// A point from the values of its variables; every name occurs once.
    pub fn new(places: impl IntoIterator<Item = (Symbol, Rational)>) -> Self {
        let mut places: Vec<_> = places.into_iter().collect();
        places.sort_by(|a, b| a.0.cmp(&b.0));
        Self(places)
    }

    /// The value of one variable.
    pub fn get(&self, name: &str) -> Option<&Rational> {
        self.find(name).ok().map(|at| &self.0[at].1)
    }

    /// The same point with one variable set to a value.
    #[must_use]
    pub fn with(mut self, name: Symbol, value: Rational) -> Self {
        match self.find(&name) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (name, value)),
        }
        self
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }
}
