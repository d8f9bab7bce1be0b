//! 95% intervals.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The quantile of the normal distribution that leaves 2.5% above it.
const Z: f64 = 1.959_963_984_540_054;

/// A range of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Wilson's score interval for `hits` out of `total` independent trials; none without a trial.
///
/// Centre (p + z²/2n) / (1 + z²/n), half width z/(1 + z²/n) · √(p(1−p)/n + z²/4n²). Wilson, 1927.
pub fn wilson(hits: u64, total: u64) -> Option<Interval> {
    if total == 0 {
        return None;
    }
    let n = total as f64;
    let p = hits as f64 / n;
    let scale = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some(Interval { low: (centre - half).max(0.0), high: (centre + half).min(1.0) })
}

/// Student's t interval for the mean of independent values; none for fewer than two.
///
/// mean ± t(0.975, n−1) · s/√n, with s the sample standard deviation.
pub fn mean_interval(values: &[f64]) -> Option<Interval> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.975);
    let half = t * (variance / n).sqrt();
    Some(Interval { low: mean - half, high: mean + half })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(interval: Option<Interval>, low: f64, high: f64) {
        let interval = interval.unwrap();
        assert!((interval.low - low).abs() < 1e-6 && (interval.high - high).abs() < 1e-6, "{interval:?}");
    }

    #[test]
    fn wilson_agrees_with_scipy() {
        // scipy.stats.binomtest(k, n).proportion_ci(method="wilson")
        close(wilson(853, 1900), 0.426_707_889, 0.471_392_869);
        close(wilson(0, 10), 0.0, 0.277_532_800);
        close(wilson(10, 10), 0.722_467_200, 1.0);
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn the_t_interval_agrees_with_scipy() {
        // scipy.stats.t.interval(0.95, 3, loc=mean, scale=scipy.stats.sem(x)) for x = [0.40, 0.45, 0.50, 0.47]
        close(mean_interval(&[0.40, 0.45, 0.50, 0.47]), 0.388_118_132, 0.521_881_868);
        assert_eq!(mean_interval(&[0.4]), None);
    }
}
