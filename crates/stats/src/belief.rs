//! What is believed of each pair's rate, from few outcomes a pair.

use serde::{Deserialize, Serialize};

/// Outcomes of one pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Count {
    pub(crate) hits: u32,
    pub(crate) total: u32,
}

impl Count {
    pub(crate) fn add(&mut self, hit: bool) {
        self.hits += u32::from(hit);
        self.total += 1;
    }

    pub(crate) fn rate(self) -> Option<f64> {
        (self.total > 0).then(|| f64::from(self.hits) / f64::from(self.total))
    }

    /// Unbiased for μ(1−μ): x(n−x)/(n(n−1)).
    fn spread(self) -> Option<f64> {
        let (x, n) = (f64::from(self.hits), f64::from(self.total));
        (self.total >= 2).then(|| x * (n - x) / (n * (n - 1.0)))
    }
}

/// The mean over pairs of μ(1−μ), the noise of a single session. Half a session at its noisiest is added, so
/// that outcomes that all agree do not claim that there is none.
pub(crate) fn within(pairs: &[Count]) -> f64 {
    let spreads: Vec<f64> = pairs.iter().filter_map(|pair| pair.spread()).collect();
    (spreads.iter().sum::<f64>() + 0.125) / (spreads.len() as f64 + 0.5)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.5 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// A pair's rate, believed to be Beta distributed with this mean and this many outcomes behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Belief {
    pub(crate) mean: f64,
    weight: f64,
}

impl Belief {
    /// The variance of an outcome: that of the outcome given the rate, and that of the rate.
    pub(crate) fn outcome(self) -> f64 {
        self.mean * (1.0 - self.mean)
    }

    /// The variance of an outcome given the rate, as expected: E[μ(1−μ)].
    pub(crate) fn noise(self) -> f64 {
        self.outcome() * self.weight / (self.weight + 1.0)
    }
}

/// Each pair's belief after these outcomes: drawn towards the mean of all pairs, the more so the more alike
/// they are.
///
/// Pairs' rates follow a Beta distribution with mean θ and strength κ, matched to the first outcomes'
/// moments: κ = W/B with W the variance within pairs and B = θ(1−θ) − W between them.
pub(crate) fn beliefs(pairs: &[Count], first: &[Count]) -> Vec<Belief> {
    let rates: Vec<f64> = pairs.iter().filter_map(|pair| pair.rate()).collect();
    let mean = mean(&rates);
    let within = within(first);
    let strength = (within / (mean * (1.0 - mean) - within).max(1e-3)).clamp(0.5, 50.0);
    let belief = |pair: &Count| {
        let weight = f64::from(pair.total) + strength;
        Belief { mean: (f64::from(pair.hits) + strength * mean) / weight, weight }
    };
    pairs.iter().map(belief).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_differ_are_believed_and_alike_ones_pooled() {
        let count = |hits, total| Count { hits, total };
        let differ = [count(0, 4), count(4, 4), count(0, 4), count(4, 4)];
        let alike = [count(2, 4), count(2, 4), count(1, 4), count(3, 4)];
        assert!(beliefs(&differ, &differ)[1].mean > 0.9);
        assert!(beliefs(&alike, &alike)[3].mean < 0.55);
        assert!(within(&[count(0, 2), count(2, 2)]) > 0.0);
    }
}
