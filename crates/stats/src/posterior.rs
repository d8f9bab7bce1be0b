//! Empirical Bayes posteriors of the pairs' rates, from few outcomes per pair. Used by `adaptive` and `round`.

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
    fn variance(self) -> Option<f64> {
        let (x, n) = (f64::from(self.hits), f64::from(self.total));
        (self.total >= 2).then(|| x * (n - x) / (n * (n - 1.0)))
    }
}

/// The mean over pairs of μ(1−μ), the variance of an outcome within a pair. Half an observation of the maximum 1/4 is
/// added, so that the estimate is positive when all outcomes agree.
pub(crate) fn within_pair_variance(pairs: &[Count]) -> f64 {
    let variances: Vec<f64> = pairs.iter().filter_map(|pair| pair.variance()).collect();
    (variances.iter().sum::<f64>() + 0.125) / (variances.len() as f64 + 0.5)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.5 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The Beta posterior of a pair's rate, by its mean and effective sample size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BetaPosterior {
    pub(crate) mean: f64,
    weight: f64,
}

impl BetaPosterior {
    /// The variance of an outcome, including that of the rate.
    pub(crate) fn outcome_variance(self) -> f64 {
        self.mean * (1.0 - self.mean)
    }

    /// The expected variance of an outcome given the rate: E[μ(1−μ)].
    pub(crate) fn conditional_variance(self) -> f64 {
        self.outcome_variance() * self.weight / (self.weight + 1.0)
    }
}

/// Empirical Bayes posteriors in the beta-binomial model, with the prior fitted by the method of moments.
///
/// The prior has mean θ and strength κ = W/B, with W the variance within pairs and B = θ(1−θ) − W that between them,
/// both from the first batch.
pub(crate) fn posteriors(pairs: &[Count], first: &[Count]) -> Vec<BetaPosterior> {
    let rates: Vec<f64> = pairs.iter().filter_map(|pair| pair.rate()).collect();
    let mean = mean(&rates);
    let within = within_pair_variance(first);
    let strength = (within / (mean * (1.0 - mean) - within).max(1e-3)).clamp(0.5, 50.0);
    let posterior = |pair: &Count| {
        let weight = f64::from(pair.total) + strength;
        BetaPosterior { mean: (f64::from(pair.hits) + strength * mean) / weight, weight }
    };
    pairs.iter().map(posterior).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_pairs_are_kept_apart_and_similar_ones_pooled() {
        let count = |hits, total| Count { hits, total };
        let differ = [count(0, 4), count(4, 4), count(0, 4), count(4, 4)];
        let alike = [count(2, 4), count(2, 4), count(1, 4), count(3, 4)];
        assert!(posteriors(&differ, &differ)[1].mean > 0.9);
        assert!(posteriors(&alike, &alike)[3].mean < 0.55);
        assert!(within_pair_variance(&[count(0, 2), count(2, 2)]) > 0.0);
    }
}
