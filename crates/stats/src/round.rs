//! One round of adaptive sampling: every pair at least once, uncertain pairs more often. Used by `adaptive`.

use crate::posterior::BetaPosterior;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// The mean number of sessions per pair in a round, before rounding up to one.
const MEAN_SESSIONS: f64 = 2.0;

/// A round, in progress or finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// The number of sessions of each pair.
    times: Vec<u32>,
    /// The posterior mean of each pair before the round.
    means: Vec<f64>,
    /// The fraction of the outcomes' variance that remains given the pairs' rates.
    noise: f64,
    /// Outcomes recorded.
    pub(crate) done: u32,
    /// Σψ and Σψ² over them.
    sums: (f64, f64),
}

impl Round {
    /// Plans a round by Neyman allocation: sessions in proportion to √(m(1−m)), and at least one per pair.
    pub(crate) fn plan(posteriors: &[BetaPosterior]) -> Self {
        let deviations: Vec<f64> =
            posteriors.iter().map(|posterior| posterior.outcome_variance().sqrt()).collect();
        let scale = MEAN_SESSIONS * posteriors.len() as f64 / deviations.iter().sum::<f64>().max(1e-9);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let times: Vec<u32> =
            deviations.iter().map(|deviation| (deviation * scale).round().clamp(1.0, 1e6) as u32).collect();
        let sum = |value: &dyn Fn(BetaPosterior) -> f64| -> f64 {
            posteriors
                .iter()
                .zip(&times)
                .map(|(posterior, times)| value(*posterior) / f64::from(*times))
                .sum()
        };
        let noise =
            sum(&BetaPosterior::conditional_variance) / sum(&BetaPosterior::outcome_variance).max(1e-9);
        Self {
            times,
            means: posteriors.iter().map(|posterior| posterior.mean).collect(),
            noise,
            done: 0,
            sums: (0.0, 0.0),
        }
    }

    /// Sessions of the whole round.
    pub(crate) fn size(&self) -> u32 {
        self.times.iter().sum()
    }

    /// The probability that a session of the round is of this pair.
    pub(crate) fn probability(&self, pair: usize) -> f64 {
        f64::from(self.times[pair]) / f64::from(self.size())
    }

    /// The pairs of the round, in random order.
    pub(crate) fn order(&self, seed: u64) -> Vec<usize> {
        let times = self.times.iter().enumerate();
        let mut order: Vec<usize> =
            times.flat_map(|(pair, times)| std::iter::repeat_n(pair, *times as usize)).collect();
        Rng::with_seed(seed).shuffle(&mut order);
        order
    }

    /// Records an outcome as ψ = mean m + (y − m)/(Mπ), whose mean over the round is the rate for any m and π.
    pub(crate) fn record(&mut self, pair: usize, probability: f64, hit: bool) {
        let pairs = self.means.len() as f64;
        let base = self.means.iter().sum::<f64>() / pairs;
        let value = base + (f64::from(u8::from(hit)) - self.means[pair]) / (pairs * probability);
        self.done += 1;
        self.sums.0 += value;
        self.sums.1 += value * value;
    }

    /// Σψ.
    pub(crate) fn sum(&self) -> f64 {
        self.sums.0
    }

    /// The variance of Σψ, with θ the overall rate.
    ///
    /// Σ(ψ − θ)² · (1 − f(1 − ρ)): the finite-population correction for the fraction f of the round that is done, applied
    /// to the fraction 1 − ρ of the variance that lies between pairs.
    pub(crate) fn variance(&self, rate: f64) -> f64 {
        let squares = self.sums.1 - 2.0 * rate * self.sums.0 + rate * rate * f64::from(self.done);
        let share = f64::from(self.done) / f64::from(self.size());
        squares.max(0.0) * (1.0 - share.min(1.0) * (1.0 - self.noise))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::{Count, posteriors};

    /// Beliefs that are far off: pair 2 is believed to be calibrated now and then, the others nearly never.
    fn wrong() -> Round {
        let count = |hits, total| Count { hits, total };
        let counts = [count(0, 9), count(0, 9), count(4, 9)];
        Round::plan(&posteriors(&counts, &counts))
    }

    #[test]
    fn a_full_round_gives_the_mean_of_the_pairs_whatever_was_believed() {
        let mut round = wrong();
        assert!(round.times[2] > round.times[0]);
        for pair in round.order(1) {
            // Pairs 0 and 1 are always calibrated, pair 2 never.
            round.record(pair, round.probability(pair), pair < 2);
        }
        assert_eq!(round.done, round.size());
        assert!((round.sum() / f64::from(round.done) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_part_of_a_round_is_right_on_average() {
        let runs = 4000;
        let mean = (0..runs).map(|seed| {
            let mut round = wrong();
            for pair in round.order(seed).into_iter().take(2) {
                round.record(pair, round.probability(pair), pair < 2);
            }
            round.sum() / 2.0
        });
        assert!((mean.sum::<f64>() / runs as f64 - 2.0 / 3.0).abs() < 0.02);
    }
}
