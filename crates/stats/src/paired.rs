//! Paired comparison of two askers.

use crate::cluster::{Ratio, Scale};
use crate::interval::{Estimate, Z};
use crate::sign_flip::sign_flip;
use serde::{Deserialize, Serialize};

/// The 80% quantile of the normal distribution.
const POWER: f64 = 0.841_621_233_572_914_3;

/// The fewest clusters with which the sign-flip test can be significant: 2 / 2⁶ is below 5%.
const MIN_CLUSTERS: f64 = 6.0;

/// The mean of paired differences, with its interval, p-value and power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairedComparison {
    /// The mean difference per session.
    pub difference: Estimate,
    /// The two-sided p-value of no difference, by the sign-flip test.
    pub p: f64,
    /// The minimum detectable difference with 80% power at 5% two-sided.
    pub smallest: f64,
    /// Pairs of sessions.
    pub sessions: u64,
    /// Clusters with a session.
    pub clusters: u64,
}

/// The mean of paired differences −1, 0 or 1, clustered by solver pair, with a studentised sign-flip test (Janssen,
/// 1997). None for fewer than two clusters.
///
/// The interval is that of [`clustered`](crate::clustered). The test flips the signs of whole clusters, as only clusters
/// are independent; it is exact up to 14 clusters and uses 4,999 random patterns beyond. `smallest` is (z₀.₉₇₅ + z₀.₈) · se, with se the linearised standard error of the
/// mean, and never less than a difference that the test can detect: fewer than six clusters that differ, all in one
/// direction, have a p-value above 5%.
pub fn paired(clusters: &[Vec<f64>], seed: u64) -> Option<PairedComparison> {
    let sums: Vec<(f64, f64)> =
        clusters.iter().map(|cluster| (cluster.iter().sum(), cluster.len() as f64)).collect();
    let ratio = Ratio::of(&sums)?;
    let difference = ratio.estimate(Scale::Difference, seed)?;
    // Without variance in the data, the interval gives the error.
    let error = if ratio.error > 1e-9 { ratio.error } else { difference.half_width() / Z };
    let step =
        sums.iter().map(|(sum, _)| sum.abs()).filter(|step| *step > 1e-9).fold(f64::INFINITY, f64::min);
    let least = if step.is_finite() { MIN_CLUSTERS * step / ratio.sessions } else { 0.0 };
    Some(PairedComparison {
        difference,
        p: sign_flip(&sums, seed),
        smallest: ((Z + POWER) * error).max(least),
        sessions: clusters.iter().map(|cluster| cluster.len() as u64).sum(),
        clusters: clusters.iter().filter(|cluster| !cluster.is_empty()).count() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_difference_is_not_a_sure_zero() {
        let none = paired(&[vec![0.0; 5], vec![0.0; 4]], 1).unwrap();
        assert!((none.p - 1.0).abs() < 1e-12);
        assert!(none.difference.interval.low < -0.2 && none.difference.interval.high > 0.2, "{none:?}");
        assert!(none.smallest > 0.2);
        assert_eq!((none.sessions, none.clusters), (9, 2));
        assert_eq!(paired(&[vec![1.0], vec![]], 1), None);
    }

    #[test]
    fn no_change_is_visible_that_the_test_cannot_see() {
        // One of 100 clusters differs by 1/8: six of them would be needed, 6/8 of 100.
        let few: Vec<Vec<f64>> = (0..100).map(|at| vec![if at == 0 { 0.125 } else { 0.0 }]).collect();
        assert!((paired(&few, 1).unwrap().smallest - 0.0075).abs() < 1e-12);
        let six: Vec<Vec<f64>> = (0..100).map(|at| vec![if at < 6 { 0.125 } else { 0.0 }]).collect();
        assert!(paired(&six, 1).unwrap().p < 0.05);
        let five: Vec<Vec<f64>> = (0..100).map(|at| vec![if at < 5 { 0.125 } else { 0.0 }]).collect();
        assert!(paired(&five, 1).unwrap().p > 0.05);
    }
}
