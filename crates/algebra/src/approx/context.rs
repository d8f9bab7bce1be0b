//! The state of one evaluation: precision, fuel, and whether anything was only estimated.

use std::cell::Cell;

use super::bound::Bound;
use crate::fuel::{Fuel, OutOfFuel};

/// Why a step of an evaluation failed; after `Imprecise`, more precision may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepError {
    /// There is no value.
    Undefined,
    /// No way to evaluate this is known.
    Unsupported,
    /// The enclosure of an argument is too wide to tell.
    Imprecise,
    /// The fuel is spent.
    OutOfFuel,
}

/// What a step of an evaluation gives.
pub(super) type Step<T> = Result<T, StepError>;

/// `None` for every failure but a lack of fuel, which stays an error.
pub(super) fn optional<T>(step: Step<T>) -> Step<Option<T>> {
    match step {
        Ok(value) => Ok(Some(value)),
        Err(StepError::OutOfFuel) => Err(StepError::OutOfFuel),
        Err(_) => Ok(None),
    }
}

impl From<OutOfFuel> for StepError {
    fn from(_: OutOfFuel) -> Self {
        Self::OutOfFuel
    }
}

/// How rigorous a value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rigor {
    /// Only proven bounds will do.
    Certified,
    /// Proven bounds if they are sharp, an estimate if not.
    Either,
    /// A good estimate rather than a laborious proof.
    Estimated,
}

/// The setting of one evaluation.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// The precision.
    pub(super) bits: u32,
    /// How sure the value has to be.
    pub(super) rigor: Rigor,
    fuel: &'a Fuel,
    guessed: Cell<bool>,
    deep: Cell<u32>,
}

impl<'a> Context<'a> {
    /// A fresh setting.
    pub(super) fn new(bits: u32, rigor: Rigor, fuel: &'a Fuel) -> Self {
        Self { bits, rigor, fuel, guessed: Cell::new(false), deep: Cell::new(0) }
    }

    /// Pays for work.
    pub(super) fn spend(&self, units: u64) -> Step<()> {
        Ok(self.fuel.spend(units)?)
    }

    /// The fuel that is left.
    pub(super) fn left(&self) -> u64 {
        self.fuel.left()
    }

    /// Pays for some arithmetic operations on bounds.
    pub(super) fn pay_sums<T: Bound>(&self, count: u64) -> Step<()> {
        self.spend(T::price(self.bits).0 * count)
    }

    /// Pays for some function values on bounds.
    pub(super) fn pay_calls<T: Bound>(&self, count: u64) -> Step<()> {
        self.spend(T::price(self.bits).1 * count)
    }

    /// An estimate is about to be used: fails where only proven bounds will do.
    pub(super) fn guess(&self) -> Step<()> {
        if self.rigor == Rigor::Certified {
            return Err(StepError::Unsupported);
        }
        self.guessed.set(true);
        Ok(())
    }

    /// Whether an estimate took part.
    pub(super) fn guessed(&self) -> bool {
        self.guessed.get()
    }

    /// Does something one level of nested operators further down; past three levels it is not done at all.
    pub(super) fn nested<R>(&self, work: impl FnOnce() -> Step<R>) -> Step<R> {
        const MOST: u32 = 3;
        if self.deep.get() >= MOST {
            return Err(StepError::Unsupported);
        }
        self.deep.set(self.deep.get() + 1);
        let result = work();
        self.deep.set(self.deep.get() - 1);
        result
    }
}
