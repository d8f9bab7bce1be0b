//! A bound on work that counts operations, so that results do not depend on the clock.

use std::cell::Cell;

/// The remaining work. One unit is a few nanoseconds: a node visited, a machine word multiplied, a term added.
#[derive(Debug)]
pub struct Fuel(Cell<u64>);

/// The fuel is spent: the result is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfFuel;

/// Whether a fallible test passes for all items; stops at the first that fails.
pub fn all<T, E>(
    items: impl IntoIterator<Item = T>,
    mut test: impl FnMut(T) -> Result<bool, E>,
) -> Result<bool, E> {
    for item in items {
        if !test(item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a fallible test passes for some item; stops at the first that does.
pub fn any<T, E>(
    items: impl IntoIterator<Item = T>,
    mut test: impl FnMut(T) -> Result<bool, E>,
) -> Result<bool, E> {
    all(items, |item| test(item).map(|found| !found)).map(|none| !none)
}

impl Fuel {
    /// Fuel of this many units.
    #[inline]
    pub fn new(units: u64) -> Self {
        Self(Cell::new(units))
    }

    /// Spends units, or fails and leaves none.
    #[inline]
    pub fn spend(&self, units: u64) -> Result<(), OutOfFuel> {
        let left = self.0.get().checked_sub(units);
        self.0.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(OutOfFuel)
    }

    /// Runs `work` with at most half of the remaining fuel, so that another method can be tried after it.
    pub fn half<T>(&self, work: impl FnOnce(&Self) -> Result<T, OutOfFuel>) -> Result<T, OutOfFuel> {
        let share = self.left() / 2;
        let part = Self::new(share);
        let done = work(&part);
        self.spend(share - part.left())?;
        done
    }

    /// The remaining units.
    #[inline]
    pub fn left(&self) -> u64 {
        self.0.get()
    }
}
