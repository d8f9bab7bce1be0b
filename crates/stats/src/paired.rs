//! Two askers on the same sessions.

use crate::cluster::{Ratio, Scale};
use crate::flip::flip;
use crate::interval::{Estimate, Z};
use serde::{Deserialize, Serialize};

/// The 80% quantile of the normal distribution.
const POWER: f64 = 0.841_621_233_572_914_3;

/// The fewest clusters whose signs can be flipped in enough ways: 2 / 2⁶ is below 5%.
const FLIPS: f64 = 6.0;

/// The mean of paired differences, and how surely it is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// The mean difference per session.
    pub difference: Estimate,
    /// Two-sided p-value of no difference, by flipping the sign of whole clusters.
    pub p: f64,
    /// The smallest true difference that a study of this size sees with 80% power at 5% two-sided.
    pub smallest: f64,
    /// Pairs of sessions.
    pub sessions: u64,
    /// Clusters with a session.
    pub clusters: u64,
}

/// Compares two askers session by session: differences −1, 0 or 1, grouped by solver pair. None for fewer
/// than two clusters.
///
/// The interval is that of [`clustered`](crate::clustered). The test flips the signs of whole clusters, since
/// only clusters are independent, and compares |mean|/se; it is exact up to 14 clusters and takes 4,999
/// random patterns beyond. `smallest` is (z₀.₉₇₅ + z₀.₈) · se, with se the linearised standard error of the
/// mean, and never less than a change that the test can see at all: fewer than six clusters that differ, all in one
/// direction, have a p-value above 5%.
pub fn paired(clusters: &[Vec<f64>], seed: u64) -> Option<Paired> {
    let sums: Vec<(f64, f64)> =
        clusters.iter().map(|cluster| (cluster.iter().sum(), cluster.len() as f64)).collect();
    let ratio = Ratio::of(&sums)?;
    let difference = ratio.estimate(Scale::Difference, seed)?;
    // Without any spread in the data the interval still knows how little was seen.
    let error = if ratio.error > 1e-9 { ratio.error } else { difference.half() / Z };
    let step =
        sums.iter().map(|(sum, _)| sum.abs()).filter(|step| *step > 1e-9).fold(f64::INFINITY, f64::min);
    let least = if step.is_finite() { FLIPS * step / ratio.sessions } else { 0.0 };
    Some(Paired {
        difference,
        p: flip(&sums, seed),
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
