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

/// The result of one step of an evaluation.
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
    /// A good estimate rather than an expensive proof.
    Estimated,
}

/// The state of one evaluation.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// The precision.
    pub(super) bits: u32,
    /// How rigorous the value has to be.
    pub(super) rigor: Rigor,
    fuel: &'a Fuel,
    estimated: Cell<bool>,
    deep: Cell<u32>,
}

impl<'a> Context<'a> {
    /// The state at the start of an evaluation.
    pub(super) fn new(bits: u32, rigor: Rigor, fuel: &'a Fuel) -> Self {
        Self { bits, rigor, fuel, estimated: Cell::new(false), deep: Cell::new(0) }
    }

    /// Spends fuel.
    pub(super) fn spend(&self, units: u64) -> Step<()> {
        Ok(self.fuel.spend(units)?)
    }

    /// The fuel that is left.
    pub(super) fn left(&self) -> u64 {
        self.fuel.left()
    }

    /// Spends the fuel of some arithmetic operations on bounds.
    pub(super) fn spend_arithmetic<T: Bound>(&self, count: u64) -> Step<()> {
        self.spend(T::cost(self.bits).0 * count)
    }

    /// Spends the fuel of some function values on bounds.
    pub(super) fn spend_functions<T: Bound>(&self, count: u64) -> Step<()> {
        self.spend(T::cost(self.bits).1 * count)
    }

    /// Records that an estimate is used; fails if only proven bounds are accepted.
    pub(super) fn allow_estimate(&self) -> Step<()> {
        if self.rigor == Rigor::Certified {
            return Err(StepError::Unsupported);
        }
        self.estimated.set(true);
        Ok(())
    }

    /// Whether an estimate took part.
    pub(super) fn estimated(&self) -> bool {
        self.estimated.get()
    }

    /// Evaluates a nested operator; fails beyond three levels.
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
