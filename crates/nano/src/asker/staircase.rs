//! The staircase: probe where it pays, end with the question most likely to split the pair.

use super::history::{Asked, History};
use super::posterior::{Expected, Prior, Tally};
use crate::{Family, Question};
use fastrand::Rng;

/// What to ask.
pub(super) enum Choice<'h> {
    /// A question that was asked before.
    Again(&'h Question),
    /// A new question of this cell.
    Fresh((Family, u32)),
}

/// How much a nat of information counts against a chance to split.
const CURIOSITY: f64 = 0.25;
/// Among questions this close to the best, chance decides, so that sessions differ.
const CLOSE: f64 = 0.01;

/// The next question.
pub(super) fn choose<'h>(
    prior: &Prior,
    history: &'h History,
    is_final: bool,
    random: &mut Rng,
) -> Choice<'h> {
    let tallies: Vec<[Tally; 2]> = history.asked.iter().map(|asked| tallies(prior, asked)).collect();
    let [one, two] = [0, 1].map(|side| {
        let own: Vec<Tally> = tallies.iter().map(|both| both[side]).collect();
        prior.after(&own)
    });
    let again: Vec<f64> =
        tallies.iter().map(|[first, second]| split(one.again(*first), two.again(*second))).collect();
    let expected: Vec<[Expected; 2]> =
        (0..prior.cells()).map(|cell| [one.fresh(cell), two.fresh(cell)]).collect();
    let fresh: Vec<f64> = expected.iter().map(|[one, two]| split(one.right, two.right)).collect();
    if is_final {
        return match best(&again) {
            Some((place, value)) if best(&fresh).is_none_or(|(_, other)| value >= other) => {
                Choice::Again(&history.asked[place].question)
            }
            _ => Choice::Fresh(prior.at(close_to_best(&fresh, random))),
        };
    }
    // What the final question would be worth now, without another probe.
    let now = again.iter().chain(&fresh).copied().fold(0.0, f64::max);
    let worth: Vec<f64> = expected
        .iter()
        .zip(&fresh)
        .map(|([one, two], first)| {
            let found = (repeated(one, two) - now).max(0.0);
            first * found + CURIOSITY * (one.information + two.information)
        })
        .collect();
    Choice::Fresh(prior.at(close_to_best(&worth, random)))
}

/// The chance that exactly one of two is right.
fn split(one: f64, two: f64) -> f64 {
    one * (1.0 - two) + two * (1.0 - one)
}

/// The chance that a new question which splits the pair splits it again.
fn repeated(one: &Expected, two: &Expected) -> f64 {
    let both_wrong = |solver: &Expected| 1.0 - 2.0 * solver.right + solver.twice;
    let one_of_each = |solver: &Expected| solver.right - solver.twice;
    let first = split(one.right, two.right);
    let again =
        one.twice * both_wrong(two) + 2.0 * one_of_each(one) * one_of_each(two) + both_wrong(one) * two.twice;
    again / first.max(f64::MIN_POSITIVE)
}

fn tallies(prior: &Prior, asked: &Asked) -> [Tally; 2] {
    let level = asked.question.level().unwrap_or(prior.levels());
    let cell = prior.cell(asked.question.family(), level);
    asked.right.map(|right| Tally { cell, right, times: asked.times })
}

fn best(values: &[f64]) -> Option<(usize, f64)> {
    values.iter().copied().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b))
}

fn close_to_best(values: &[f64], random: &mut Rng) -> usize {
    let top = best(values).map_or(0.0, |(_, value)| value);
    let close: Vec<usize> = (0..values.len()).filter(|i| values[*i] >= top - CLOSE).collect();
    close.get(random.usize(..close.len().max(1))).copied().unwrap_or(0)
}
