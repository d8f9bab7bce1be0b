//! Which pairs to ask next, and the unbiased rate that comes out.
//!
//! The benchmark's rate θ is the mean over M pairs of the pair's chance μⱼ to be calibrated. Pairs whose outcome is
//! uncertain tell more about θ, so they are drawn more often, and each outcome is weighted by the probability it
//! was drawn with.

use crate::interval::{Estimate, Interval, Z, student};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// How often the first batch asks every pair: twice, as one outcome says nothing of a pair's spread.
const PASSES: usize = 2;
/// The share of later draws that goes to all pairs alike. It bounds every weight by 1/FLOOR.
const FLOOR: f64 = 0.25;

/// A pair to ask, and how it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// The pair.
    pub pair: usize,
    /// The probability with which one draw of the batch takes this pair.
    pub probability: f64,
    /// In the first batch every pair is asked equally often, by design and not by chance.
    pub fixed: bool,
}

/// The rate so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adaptive {
    /// The mean of the pairs' rates.
    pub rate: Estimate,
    /// Sessions recorded.
    pub sessions: u64,
    /// Sessions that simple random sampling would have needed for this half-width: p(1−p)(z/h)².
    pub uniform: f64,
    /// Sessions that asking every pair equally often would have needed: the mean of μ(1−μ), times (z/h)².
    pub balanced: f64,
}

/// Draws batches of pairs and estimates the benchmark's rate from their outcomes.
///
/// ```
/// let mut sampler = aske_stats::Sampler::new(3, 1);
/// let batch = sampler.next(10); // the first batch: every pair twice
/// assert_eq!(batch.len(), 6);
/// sampler.record(&batch.into_iter().map(|drawn| (drawn, drawn.pair == 0)).collect::<Vec<_>>());
/// assert!((sampler.estimate().unwrap().rate.value - 1.0 / 3.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampler {
    seed: u64,
    batches: u64,
    /// Hits and sessions of each pair, over all batches.
    pairs: Vec<(f64, f64)>,
    /// Hits and sessions of each pair in the first batch.
    first: Vec<(f64, f64)>,
    /// Σψ, Σψ² and the number of later draws, ψ = mean m + (y − m)/(Mπ).
    later: (f64, f64, f64),
}

impl Sampler {
    /// A sampler over this many pairs, before its first batch.
    pub fn new(pairs: usize, seed: u64) -> Self {
        Self {
            seed,
            batches: 0,
            pairs: vec![(0.0, 0.0); pairs],
            first: vec![(0.0, 0.0); pairs],
            later: (0.0, 0.0, 0.0),
        }
    }

    /// The pairs to ask next: `size` of them, or every pair twice in the first batch.
    ///
    /// Depends only on the seed and on what was recorded, so an interrupted run draws the same batch again. Record
    /// the batch before the next one is drawn.
    pub fn next(&self, size: usize) -> Vec<Drawn> {
        let m = self.pairs.len();
        if self.batches == 0 {
            let probability = 1.0 / m as f64;
            return (0..PASSES * m).map(|i| Drawn { pair: i % m, probability, fixed: true }).collect();
        }
        let probabilities = self.probabilities(&self.means());
        let mut sums = Vec::with_capacity(m);
        let mut sum = 0.0;
        for probability in &probabilities {
            sum += probability;
            sums.push(sum);
        }
        // Each batch has its own stream, whatever the sizes of those before.
        let mut rng = Rng::with_seed(self.seed ^ self.batches.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let draw = |_| {
            let point = rng.f64() * sum;
            let pair = sums.partition_point(|sum| *sum <= point).min(m - 1);
            Drawn { pair, probability: probabilities[pair], fixed: false }
        };
        (0..size).map(draw).collect()
    }

    /// Takes a finished batch: what [`next`](Self::next) gave, and whether each session was calibrated.
    ///
    /// A session that failed has to be asked again, not left out: pairs that fail often would count too little.
    pub fn record(&mut self, batch: &[(Drawn, bool)]) {
        // The means were fixed before the batch: that is what makes the estimate unbiased.
        let means = self.means();
        let m = means.len() as f64;
        let base = means.iter().sum::<f64>() / m;
        for (drawn, hit) in batch.iter().filter(|(drawn, _)| drawn.pair < means.len()) {
            let hit = f64::from(u8::from(*hit));
            if drawn.fixed {
                self.first[drawn.pair].0 += hit;
                self.first[drawn.pair].1 += 1.0;
            } else {
                let value = base + (hit - means[drawn.pair]) / (m * drawn.probability);
                self.later.0 += value;
                self.later.1 += value * value;
                self.later.2 += 1.0;
            }
            self.pairs[drawn.pair].0 += hit;
            self.pairs[drawn.pair].1 += 1.0;
        }
        self.batches += 1;
    }

    /// Batches recorded.
    pub fn batches(&self) -> u64 {
        self.batches
    }

    /// The rate over what was recorded; none before the first batch.
    pub fn estimate(&self) -> Option<Adaptive> {
        let asked: Vec<(f64, f64)> = self.first.iter().copied().filter(|(_, total)| *total > 0.0).collect();
        if asked.is_empty() {
            return None;
        }
        let m = asked.len() as f64;
        let early = asked.iter().map(|(hits, total)| hits / total).sum::<f64>() / m;
        let early_sessions: f64 = asked.iter().map(|(_, total)| total).sum();
        let (sum, squares, later) = self.later;
        let sessions = early_sessions + later;
        let value = (early_sessions * early + sum) / sessions;
        let within = self.within();
        let early_variance = within / early_sessions;
        let spread = (squares - 2.0 * value * sum + value * value * later).max(0.0);
        let variance = (early_sessions.powi(2) * early_variance + spread) / sessions.powi(2);
        let half = student(m - 1.0 + later) * variance.sqrt();
        let rate = Estimate {
            value,
            interval: Interval { low: (value - half).max(0.0), high: (value + half).min(1.0) },
        };
        let scale = (Z / half).powi(2);
        Some(Adaptive {
            rate,
            sessions: self.pairs.iter().map(|(_, total)| *total as u64).sum(),
            uniform: value * (1.0 - value) * scale,
            balanced: within * scale,
        })
    }

    /// The mean over pairs of μ(1−μ).
    fn within(&self) -> f64 {
        let spreads: Vec<f64> = self
            .pairs
            .iter()
            .filter(|(_, total)| *total >= 2.0)
            .map(|(hits, total)| hits * (total - hits) / (total * (total - 1.0)))
            .collect();
        (spreads.iter().sum::<f64>() + 0.25) / (spreads.len() as f64 + 1.0)
    }

    /// Each pair's rate, drawn towards the mean of all as far as the pairs are alike.
    fn means(&self) -> Vec<f64> {
        let total: f64 = self.pairs.iter().map(|(_, total)| total).sum();
        let asked = self.pairs.iter().filter(|(_, total)| *total > 0.0);
        let count = asked.clone().count() as f64;
        let mean =
            if count > 0.0 { asked.map(|(hits, total)| hits / total).sum::<f64>() / count } else { 0.5 };
        let within = self.within();
        let between = (mean * (1.0 - mean) - within).max(0.0);
        let strength = if total > 0.0 { (within / between.max(1e-3)).clamp(0.5, 50.0) } else { 1.0 };
        self.pairs.iter().map(|(hits, total)| (hits + strength * mean) / (total + strength)).collect()
    }

    fn probabilities(&self, means: &[f64]) -> Vec<f64> {
        let spreads: Vec<f64> = means.iter().map(|mean| (mean * (1.0 - mean)).sqrt()).collect();
        let total: f64 = spreads.iter().sum();
        let m = means.len() as f64;
        let share = |spread: &f64| if total > 0.0 { spread / total } else { 1.0 / m };
        spreads.iter().map(|spread| FLOOR / m + (1.0 - FLOOR) * share(spread)).collect()
    }
}
