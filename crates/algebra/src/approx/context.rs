//! What an evaluation carries along: its precision, its fuel, and whether anything was only estimated.

use std::cell::Cell;

use super::bound::Bound;
use crate::fuel::{Fuel, OutOfFuel};

/// Why a value could not be had, from the inside: a `Blurred` one may come with more precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fail {
    /// There is no value.
    Undefined,
    /// No way to evaluate this is known.
    Unknown,
    /// The enclosure of an argument is too wide to tell.
    Blurred,
    /// The fuel is spent.
    OutOfFuel,
}

impl From<OutOfFuel> for Fail {
    fn from(_: OutOfFuel) -> Self {
        Self::OutOfFuel
    }
}

/// How sure a value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Faith {
    /// Only proven bounds will do.
    Proof,
    /// Proven bounds if they are sharp, an estimate if not.
    Either,
    /// A good estimate rather than a laborious proof.
    Estimate,
}

/// The setting of one evaluation.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// The precision.
    pub(super) bits: u32,
    /// How sure the value has to be.
    pub(super) faith: Faith,
    fuel: &'a Fuel,
    guessed: Cell<bool>,
    deep: Cell<u32>,
}

impl<'a> Context<'a> {
    /// A fresh setting.
    pub(super) fn new(bits: u32, faith: Faith, fuel: &'a Fuel) -> Self {
        Self { bits, faith, fuel, guessed: Cell::new(false), deep: Cell::new(0) }
    }

    /// Pays for work.
    pub(super) fn spend(&self, units: u64) -> Result<(), Fail> {
        Ok(self.fuel.spend(units)?)
    }

    /// The fuel that is left.
    pub(super) fn left(&self) -> u64 {
        self.fuel.left()
    }

    /// Pays for some arithmetic operations on bounds.
    pub(super) fn pay_sums<T: Bound>(&self, count: u64) -> Result<(), Fail> {
        self.spend(T::price(self.bits).0 * count)
    }

    /// Pays for some function values on bounds.
    pub(super) fn pay_calls<T: Bound>(&self, count: u64) -> Result<(), Fail> {
        self.spend(T::price(self.bits).1 * count)
    }

    /// An estimate is about to be used: fails where only proven bounds will do.
    pub(super) fn guess(&self) -> Result<(), Fail> {
        if self.faith == Faith::Proof {
            return Err(Fail::Unknown);
        }
        self.guessed.set(true);
        Ok(())
    }

    /// Whether an estimate took part.
    pub(super) fn guessed(&self) -> bool {
        self.guessed.get()
    }

    /// Does something one level of nested operators further down; past three levels it is not done at all.
    pub(super) fn nested<R>(&self, work: impl FnOnce() -> Result<R, Fail>) -> Result<R, Fail> {
        const MOST: u32 = 3;
        if self.deep.get() >= MOST {
            return Err(Fail::Unknown);
        }
        self.deep.set(self.deep.get() + 1);
        let result = work();
        self.deep.set(self.deep.get() - 1);
        result
    }
}
