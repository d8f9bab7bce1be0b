//! The adaptive strategy: probes where it is most informative, and ends with the question most likely to split the pair.

use super::history::{AskedQuestion, History};
use super::posterior::{AnswerCounts, Expected, Prior};
use crate::{Family, Question};
use fastrand::Rng;

/// What to ask.
pub(super) enum Choice<'h> {
    /// A question that was asked before.
    Again(&'h Question),
    /// A new question of this cell.
    Fresh((Family, u32)),
}

/// Value of a nat of information relative to the probability of a split.
const INFORMATION_WEIGHT: f64 = 0.25;
/// Ties within this tolerance are broken at random, so that sessions differ.
const TOLERANCE: f64 = 0.01;

/// The next question. Without `reuse`, the final question is a new one, and probes serve only to learn about the solvers.
pub(super) fn choose<'h>(
    prior: &Prior,
    history: &'h History,
    is_final: bool,
    reuse: bool,
    random: &mut Rng,
) -> Choice<'h> {
    let tallies: Vec<[AnswerCounts; 2]> = history.asked.iter().map(|asked| tallies(prior, asked)).collect();
    let [one, two] = [0, 1].map(|side| {
        let own: Vec<AnswerCounts> = tallies.iter().map(|both| both[side]).collect();
        prior.after(&own)
    });
    let again: Vec<f64> =
        tallies.iter().map(|[first, second]| split(one.again(*first), two.again(*second))).collect();
    let expected: Vec<[Expected; 2]> =
        (0..prior.cells()).map(|cell| [one.fresh(cell), two.fresh(cell)]).collect();
    let fresh: Vec<f64> = expected.iter().map(|[one, two]| split(one.right, two.right)).collect();
    if is_final {
        return match best(&again).filter(|_| reuse) {
            Some((place, value)) if best(&fresh).is_none_or(|(_, other)| value >= other) => {
                Choice::Again(&history.asked[place].question)
            }
            _ => Choice::Fresh(prior.at(close_to_best(&fresh, random))),
        };
    }
    // The value of the final question without another probe.
    let now = again.iter().chain(&fresh).copied().fold(0.0, f64::max);
    let worth: Vec<f64> = expected
        .iter()
        .zip(&fresh)
        .map(|([one, two], first)| {
            let found = if reuse { (repeated(one, two) - now).max(0.0) } else { 0.0 };
            first * found + INFORMATION_WEIGHT * (one.information + two.information)
        })
        .collect();
    Choice::Fresh(prior.at(close_to_best(&worth, random)))
}

/// Probability that exactly one of two is correct.
fn split(one: f64, two: f64) -> f64 {
    one * (1.0 - two) + two * (1.0 - one)
}

/// Probability that a new question which splits the pair splits it again.
fn repeated(one: &Expected, two: &Expected) -> f64 {
    let both_wrong = |solver: &Expected| 1.0 - 2.0 * solver.right + solver.twice;
    let one_of_each = |solver: &Expected| solver.right - solver.twice;
    let first = split(one.right, two.right);
    let again =
        one.twice * both_wrong(two) + 2.0 * one_of_each(one) * one_of_each(two) + both_wrong(one) * two.twice;
    again / first.max(f64::MIN_POSITIVE)
}

fn tallies(prior: &Prior, asked: &AskedQuestion) -> [AnswerCounts; 2] {
    let level = asked.question.level().unwrap_or(prior.levels());
    let cell = prior.cell(asked.question.family(), level);
    asked.right.map(|right| AnswerCounts { cell, right, times: asked.times })
}

fn best(values: &[f64]) -> Option<(usize, f64)> {
    values.iter().copied().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b))
}

fn close_to_best(values: &[f64], random: &mut Rng) -> usize {
    let top = best(values).map_or(0.0, |(_, value)| value);
    let close: Vec<usize> = (0..values.len()).filter(|i| values[*i] >= top - TOLERANCE).collect();
    close.get(random.usize(..close.len().max(1))).copied().unwrap_or(0)
}
