//! One way to ask within a family: its phrasings, the numbers of each level, and the way to the answer.

use super::{Family, Value};
use std::ops::RangeInclusive;

/// The bounds of every parameter at a level.
pub(super) type Ranges = Vec<RangeInclusive<i128>>;

/// An answer and the way there.
pub(super) struct Solved {
    pub(super) value: Value,
    pub(super) working: String,
}

/// One way to ask.
///
/// A question shows *numbers*; it is drawn by *parameters*, which are the same unless an answer has to come out
/// even: then the parameters hold the answer and the numbers follow from it.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) family: Family,
    /// Texts with a `{}` for each number, in order.
    pub(super) phrasings: &'static [&'static str],
    /// The levels that draw it.
    pub(super) levels: RangeInclusive<u32>,
    /// The parameters of a level.
    pub(super) ranges: fn(u32) -> Ranges,
    /// From parameters to numbers; none where they make no good question.
    pub(super) numbers: fn(&[i128]) -> Option<Vec<i128>>,
    /// Back from numbers to parameters.
    pub(super) parameters: fn(&[i128]) -> Option<Vec<i128>>,
    pub(super) solve: fn(&[i128]) -> Option<Solved>,
    pub(super) expression: fn(&[i128]) -> String,
}

impl Form {
    /// The lowest level whose ranges hold these numbers.
    pub(super) fn level(&self, numbers: &[i128]) -> Option<u32> {
        let parameters = (self.parameters)(numbers)?;
        (self.numbers)(&parameters)?;
        self.levels.clone().find(|level| {
            let ranges = (self.ranges)(*level);
            ranges.iter().zip(&parameters).all(|(range, parameter)| range.contains(parameter))
        })
    }
}

impl Form {
    /// How many different parameters the level of these numbers allows; none beyond every level are too many.
    pub(super) fn questions(&self, numbers: &[i128]) -> i128 {
        let Some(level) = self.level(numbers) else { return i128::MAX };
        let sizes = (self.ranges)(level).into_iter().map(|range| range.end() - range.start() + 1);
        sizes.fold(1, i128::saturating_mul)
    }
}

/// Numbers that are their own parameters.
#[expect(clippy::unnecessary_wraps, reason = "other forms have none")]
pub(super) fn same(numbers: &[i128]) -> Option<Vec<i128>> {
    Some(numbers.to_vec())
}

/// An answer with its working.
#[expect(clippy::unnecessary_wraps, reason = "other questions have none")]
pub(super) fn solved(value: i128, working: String) -> Option<Solved> {
    Some(Solved { value: Value::whole(value), working })
}

/// The entry of a table with a row for each level, the last row for all beyond it.
pub(super) fn at<T: Copy>(level: u32, table: &[T; 8]) -> T {
    table[(level.clamp(1, 8) - 1) as usize]
}
