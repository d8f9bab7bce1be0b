//! The distribution of an item's right responses given their number, by elementary symmetric functions. Used by `rasch`.
//!
//! With weights εᵥ = exp(abilityᵥ) the probability of a subset S of size t is Π_{v∈S} εᵥ / γₜ(ε), where γₜ sums that
//! product over all subsets of size t. The item's difficulty cancels out.

use crate::newton::SymmetricMatrix;
use fastrand::Rng;

/// The conditional distribution of one item's responses.
pub(crate) struct SubsetDistribution {
    weights: Vec<f64>,
    total: usize,
    /// ln γₜ.
    pub(crate) log_sum: f64,
    /// The probability that each response is right.
    pub(crate) probabilities: Vec<f64>,
}

impl SubsetDistribution {
    /// `total` right among responses with these abilities; 0 < `total` < the number of responses.
    pub(crate) fn of(abilities: &[f64], total: usize) -> Self {
        // Only differences matter; centring avoids overflow.
        let mean = abilities.iter().sum::<f64>() / abilities.len() as f64;
        let weights: Vec<f64> = abilities.iter().map(|ability| (ability - mean).exp()).collect();
        let all = sums(weights.iter(), total)[total];
        let rests = without_each(&weights, total - 1);
        let probabilities = rests.iter().zip(&weights).map(|(rest, weight)| weight * rest / all).collect();
        Self { total, log_sum: all.ln() + total as f64 * mean, probabilities, weights }
    }

    /// The covariance of the responses: P(both right) − P(one right) P(other right).
    pub(crate) fn covariance(&self) -> SymmetricMatrix {
        let n = self.weights.len();
        let all = sums(self.weights.iter(), self.total)[self.total];
        let mut covariance = SymmetricMatrix::zero(n);
        for v in 0..n {
            covariance.add(v, v, self.probabilities[v] * (1.0 - self.probabilities[v]));
            if self.total >= 2 {
                let mut others = self.weights.clone();
                let first = others.remove(v);
                for (place, rest) in without_each(&others, self.total - 2).into_iter().enumerate() {
                    let w = if place < v { place } else { place + 1 };
                    covariance.add(v, w, first * self.weights[w] * rest / all);
                }
            }
            for w in (0..n).filter(|w| *w != v) {
                covariance.add(v, w, -self.probabilities[v] * self.probabilities[w]);
            }
        }
        covariance
    }

    /// Draws which responses are right.
    pub(crate) fn draw(&self, rng: &mut Rng) -> Vec<bool> {
        let mut left = self.total;
        let draw = |v: usize| {
            if left == 0 {
                return false;
            }
            let rest = &self.weights[v + 1..];
            let after = sums(rest.iter(), left);
            let right = self.weights[v] * after[left - 1];
            let hit = rng.f64() * (right + after[left]) < right;
            left -= usize::from(hit);
            hit
        };
        (0..self.weights.len()).map(draw).collect()
    }
}

/// γ₀ … γ_most of these weights.
fn sums<'a>(weights: impl Iterator<Item = &'a f64>, most: usize) -> Vec<f64> {
    let mut sums = vec![0.0; most + 1];
    sums[0] = 1.0;
    for weight in weights {
        for t in (1..=most).rev() {
            sums[t] += weight * sums[t - 1];
        }
    }
    sums
}

/// γₜ of the weights with each one left out in turn, by sums from both ends, as subtraction would lose precision.
fn without_each(weights: &[f64], t: usize) -> Vec<f64> {
    let n = weights.len();
    let mut after: Vec<Vec<f64>> = (0..n).map(|v| sums(weights[v + 1..].iter(), t)).collect();
    for (v, after) in after.iter_mut().enumerate() {
        let before = sums(weights[..v].iter(), t);
        let joined = (0..=t).map(|k| before[k] * after[t - k]).sum();
        after[0] = joined;
    }
    after.into_iter().map(|sums| sums[0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_to_the_total() {
        let abilities = [0.3, -1.0, 2.0, 0.0];
        for total in 1..4 {
            let subset = SubsetDistribution::of(&abilities, total);
            assert!((subset.probabilities.iter().sum::<f64>() - total as f64).abs() < 1e-12);
            let covariance = subset.covariance();
            for v in 0..4 {
                assert!((0..4).map(|w| covariance.at(v, w)).sum::<f64>().abs() < 1e-12, "rows sum to zero");
            }
        }
    }

    #[test]
    fn draws_follow_the_chances() {
        let subset = SubsetDistribution::of(&[0.5, -0.5, 0.0], 2);
        let mut rng = Rng::with_seed(1);
        let mut counts = [0.0; 3];
        for _ in 0..20_000 {
            let draw = subset.draw(&mut rng);
            assert_eq!(draw.iter().filter(|right| **right).count(), 2);
            for (count, right) in counts.iter_mut().zip(draw) {
                *count += f64::from(u8::from(right)) / 20_000.0;
            }
        }
        for (count, chance) in counts.iter().zip(&subset.probabilities) {
            assert!((count - chance).abs() < 0.015, "{counts:?} {:?}", subset.probabilities);
        }
    }
}
