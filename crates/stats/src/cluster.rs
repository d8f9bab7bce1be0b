//! A rate over sessions that come in clusters.

use crate::interval::{Estimate, Interval, wilson};
use fastrand::Rng;

/// How many times the clusters are drawn again.
const RESAMPLES: usize = 2000;

/// The ratio Σsum / Σcount over clusters, with an interval that allows for sessions of one cluster being alike.
///
/// The interval is the studentised cluster bootstrap (bootstrap-t; Efron 1982, Hall 1988).
pub fn clustered(clusters: &[(f64, f64)], seed: u64) -> Option<Estimate> {
    let range =
        if clusters.iter().all(|(sum, count)| *sum >= 0.0 && sum <= count) { 0.0..=1.0 } else { -1.0..=1.0 };
    Ratio::of(clusters)?.estimate(*range.start(), *range.end(), seed)
}

/// A ratio estimate and its linearised standard error.
#[derive(Clone, Debug)]
pub(crate) struct Ratio {
    clusters: Vec<Moments>,
    total: f64,
    /// Σsum / Σcount.
    pub(crate) value: f64,
    /// √(m/(m−1) Σ(sum − value·count)²) / Σcount, over m clusters.
    pub(crate) error: f64,
}

/// What a cluster adds to a resample's sums: sum, count, sum², sum·count, count².
type Moments = [f64; 5];

impl Ratio {
    /// None for fewer than two clusters with a session.
    pub(crate) fn of(clusters: &[(f64, f64)]) -> Option<Self> {
        let clusters: Vec<Moments> = clusters
            .iter()
            .filter(|(_, count)| *count > 0.0)
            .map(|&(sum, count)| [sum, count, sum * sum, sum * count, count * count])
            .collect();
        if clusters.len() < 2 {
            return None;
        }
        let mut all = [0.0; 5];
        for cluster in &clusters {
            add(&mut all, cluster);
        }
        let (value, error) = ratio(&all, clusters.len());
        Some(Self { clusters, total: all[1], value, error })
    }

    /// The bootstrap-t interval, kept within what the ratio can be.
    pub(crate) fn estimate(&self, least: f64, most: f64, seed: u64) -> Option<Estimate> {
        let Self { value, error, .. } = *self;
        if error < 1e-9 {
            return self.constant(least, most);
        }
        let mut rng = Rng::with_seed(seed);
        let mut scores: Vec<f64> = (0..RESAMPLES).map(|_| self.score(&mut rng)).collect();
        scores.sort_by(f64::total_cmp);
        let low = value - scores[RESAMPLES - 1 - RESAMPLES / 40] * error;
        let high = value - scores[RESAMPLES / 40] * error;
        Some(Estimate { value, interval: Interval { low: low.max(least), high: high.min(most) } })
    }

    /// How many standard errors a resample lies from the sample, by the resample's own standard error.
    fn score(&self, rng: &mut Rng) -> f64 {
        let m = self.clusters.len();
        let mut sums = [0.0; 5];
        for _ in 0..m {
            add(&mut sums, &self.clusters[rng.usize(0..m)]);
        }
        let (value, error) = ratio(&sums, m);
        if error > 1e-9 {
            (value - self.value) / error
        } else {
            (value - self.value) * f64::INFINITY.min(1e9)
        }
    }

    /// Where every cluster says the same, a share u of sessions may still differ and lie at either end of the range.
    /// u is Wilson's upper end for no such session among all: at a rate of 0 or 1 this is Wilson's interval.
    fn constant(&self, least: f64, most: f64) -> Option<Estimate> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of sessions")]
        let unseen = wilson(0, self.total.round().max(1.0) as u64)?.high;
        let value = self.value;
        let interval =
            Interval { low: value - unseen * (value - least), high: value + unseen * (most - value) };
        Some(Estimate { value, interval })
    }
}

fn add(sums: &mut Moments, cluster: &Moments) {
    for (sum, value) in sums.iter_mut().zip(cluster) {
        *sum += value;
    }
}

/// The ratio and its standard error from the sums over m clusters.
fn ratio(&[sum, count, squares, products, counts]: &Moments, m: usize) -> (f64, f64) {
    let value = sum / count;
    let m = m as f64;
    let residual = (squares - 2.0 * value * products + value * value * counts).max(0.0);
    (value, (m / (m - 1.0) * residual).sqrt() / count)
}
