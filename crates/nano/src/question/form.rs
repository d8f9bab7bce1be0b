//! A question form within a family: phrasings, parameter ranges of each level, and solution.

use super::{Family, LEVELS, Value};
use std::ops::RangeInclusive;

/// The range of each parameter at a level.
pub(super) type Ranges = Vec<RangeInclusive<i128>>;

/// An answer and its derivation.
pub(super) struct Solution {
    pub(super) value: Value,
    pub(super) working: String,
}

/// A question form.
///
/// A question shows *numbers*; it is sampled by *parameters*. They are the same unless the answer must be an integer: then
/// the parameters include the answer, and the numbers follow from it.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) family: Family,
    /// Texts with a `{}` for each number.
    pub(super) phrasings: &'static [&'static str],
    /// The levels that use it.
    pub(super) levels: RangeInclusive<u32>,
    /// The parameter ranges of a level.
    pub(super) ranges: fn(u32) -> Ranges,
    /// From parameters to numbers; `None` if they are not a valid question.
    pub(super) numbers: fn(&[i128]) -> Option<Vec<i128>>,
    /// From numbers to parameters.
    pub(super) parameters: fn(&[i128]) -> Option<Vec<i128>>,
    pub(super) solve: fn(&[i128]) -> Option<Solution>,
}

impl Form {
    /// What most forms of a family have in common: they are used at every level, and the parameters are the numbers. The
    /// other fields are for the form to set.
    pub(super) const fn of(family: Family) -> Self {
        Self {
            family,
            phrasings: &[],
            levels: 1..=LEVELS,
            ranges: |_| Vec::new(),
            numbers: same,
            parameters: same,
            solve: |_| None,
        }
    }

    /// The lowest level whose ranges include these numbers.
    pub(super) fn level(&self, numbers: &[i128]) -> Option<u32> {
        let parameters = (self.parameters)(numbers)?;
        (self.numbers)(&parameters)?;
        self.levels.clone().find(|level| {
            let ranges = (self.ranges)(*level);
            ranges.iter().zip(&parameters).all(|(range, parameter)| range.contains(parameter))
        })
    }

    /// The number of distinct parameters at the level of these numbers.
    pub(super) fn questions(&self, numbers: &[i128]) -> i128 {
        let Some(level) = self.level(numbers) else { return i128::MAX };
        let sizes = (self.ranges)(level).into_iter().map(|range| range.end() - range.start() + 1);
        sizes.fold(1, i128::saturating_mul)
    }
}

/// The parameters are the numbers themselves.
#[expect(clippy::unnecessary_wraps, reason = "other forms have none")]
fn same(numbers: &[i128]) -> Option<Vec<i128>> {
    Some(numbers.to_vec())
}

/// An answer with its working.
#[expect(clippy::unnecessary_wraps, reason = "other questions have none")]
pub(super) fn solved(value: i128, working: String) -> Option<Solution> {
    Some(Solution { value: Value::whole(value), working })
}

/// The entry of a level; the last one also for higher levels.
pub(super) fn at<T: Copy>(level: u32, table: &[T; 8]) -> T {
    table[(level.clamp(1, 8) - 1) as usize]
}
