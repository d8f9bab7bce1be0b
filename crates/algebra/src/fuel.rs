//! The bound on all work: a counter, never a clock.

use std::cell::Cell;

/// Work that may still be done. One unit is a few nanoseconds: a part of a node visited, a machine word
/// multiplied, a term added. Spending past the end fails, and whoever spent gives up.
#[derive(Debug)]
pub struct Fuel(Cell<u64>);

/// The fuel is spent: the question stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfFuel;

impl Fuel {
    /// A tank with this many units.
    #[inline]
    pub fn new(units: u64) -> Self {
        Self(Cell::new(units))
    }

    /// Takes units out, or fails and leaves the tank empty.
    #[inline]
    pub fn spend(&self, units: u64) -> Result<(), OutOfFuel> {
        let left = self.0.get().checked_sub(units);
        self.0.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(OutOfFuel)
    }

    /// Does some work with half of what is left at most, so that another way can still be tried after it.
    pub fn half<T>(&self, work: impl FnOnce(&Self) -> Result<T, OutOfFuel>) -> Result<T, OutOfFuel> {
        let share = self.left() / 2;
        let part = Self::new(share);
        let done = work(&part);
        self.spend(share - part.left())?;
        done
    }

    /// What is left.
    #[inline]
    pub fn left(&self) -> u64 {
        self.0.get()
    }
}
