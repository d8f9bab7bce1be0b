//! One round of adaptive sampling: every pair at least once, uncertain ones more often.

use crate::belief::Belief;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// The mean number of times that a round asks a pair, before each is asked at least once.
const DEPTH: f64 = 2.0;

/// A round in progress, or finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// How often each pair is asked.
    times: Vec<u32>,
    /// What was believed of each pair before the round.
    means: Vec<f64>,
    /// The share of the outcomes' variance that is noise given the pairs' rates.
    noise: f64,
    /// Outcomes recorded.
    pub(crate) done: u32,
    /// Σψ and Σψ² over them.
    sums: (f64, f64),
}

impl Round {
    /// Plans a round on what is believed now: pairs are asked in proportion to √(m(1−m)), and at least once.
    pub(crate) fn plan(beliefs: &[Belief]) -> Self {
        let spreads: Vec<f64> = beliefs.iter().map(|belief| belief.outcome().sqrt()).collect();
        let scale = DEPTH * beliefs.len() as f64 / spreads.iter().sum::<f64>().max(1e-9);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let times: Vec<u32> =
            spreads.iter().map(|spread| (spread * scale).round().clamp(1.0, 1e6) as u32).collect();
        let sum = |value: &dyn Fn(Belief) -> f64| -> f64 {
            beliefs.iter().zip(&times).map(|(belief, times)| value(*belief) / f64::from(*times)).sum()
        };
        let noise = sum(&Belief::noise) / sum(&Belief::outcome).max(1e-9);
        Self {
            times,
            means: beliefs.iter().map(|belief| belief.mean).collect(),
            noise,
            done: 0,
            sums: (0.0, 0.0),
        }
    }

    /// Sessions of the whole round.
    pub(crate) fn size(&self) -> u32 {
        self.times.iter().sum()
    }

    /// The chance that any one session of the round goes to this pair.
    pub(crate) fn probability(&self, pair: usize) -> f64 {
        f64::from(self.times[pair]) / f64::from(self.size())
    }

    /// The pairs of the round in the order they are asked.
    pub(crate) fn order(&self, seed: u64) -> Vec<usize> {
        let times = self.times.iter().enumerate();
        let mut order: Vec<usize> =
            times.flat_map(|(pair, times)| std::iter::repeat_n(pair, *times as usize)).collect();
        Rng::with_seed(seed).shuffle(&mut order);
        order
    }

    /// Takes an outcome: ψ = mean m + (y − m)/(Mπ), whose mean over the round is the rate, whatever m and π
    /// are.
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
    /// Σ(ψ − θ)² · (1 − f(1 − ρ)): the part 1 − ρ of the variance lies between sessions of the round, which
    /// are drawn without replacement, and so fades as the share f of the round that is done grows.
    pub(crate) fn variance(&self, rate: f64) -> f64 {
        let squares = self.sums.1 - 2.0 * rate * self.sums.0 + rate * rate * f64::from(self.done);
        let share = f64::from(self.done) / f64::from(self.size());
        squares.max(0.0) * (1.0 - share.min(1.0) * (1.0 - self.noise))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{Count, beliefs};

    /// Beliefs that are far off: pair 2 is believed to be calibrated now and then, the others nearly never.
    fn wrong() -> Round {
        let count = |hits, total| Count { hits, total };
        let counts = [count(0, 9), count(0, 9), count(4, 9)];
        Round::plan(&beliefs(&counts, &counts))
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
