//! 95% intervals over independent trials.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

/// The 97.5% quantile of the normal distribution.
pub(crate) const Z: f64 = 1.959_963_984_540_054;

/// A range of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// An estimate with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The 95% interval.
    pub interval: Interval,
}

impl Estimate {
    /// Half the width of the interval.
    pub fn half_width(&self) -> f64 {
        (self.interval.high - self.interval.low) / 2.0
    }

    /// value ± 1.96 · `error`, with `error` the standard error.
    pub(crate) fn normal(value: f64, error: f64) -> Self {
        Self { value, interval: Interval { low: value - Z * error, high: value + Z * error } }
    }
}

/// Wilson's score interval for `hits` out of `total` independent trials; none without a trial.
///
/// Centre (p + z²/2n) / (1 + z²/n), half width z/(1 + z²/n) · √(p(1−p)/n + z²/4n²). Wilson, 1927.
pub fn wilson(hits: u64, total: u64) -> Option<Interval> {
    if total == 0 {
        return None;
    }
    let n = total as f64;
    Some(wilson_score(hits as f64 / n, n, Z))
}

/// Wilson's score interval for a proportion p of n trials, at the quantile z.
pub(crate) fn wilson_score(p: f64, n: f64, z: f64) -> Interval {
    let scale = 1.0 + z * z / n;
    let centre = (p + z * z / (2.0 * n)) / scale;
    let half = z / scale * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    Interval { low: (centre - half).max(0.0), high: (centre + half).min(1.0) }
}

/// The exact interval of Clopper and Pearson for `hits` out of `total` independent trials; none without a trial.
///
/// From the 2.5% quantile of Beta(x, n−x+1) to the 97.5% quantile of Beta(x+1, n−x), for x of n. Clopper and Pearson, 1934.
///
/// The trials need not have the same probability: over fixed pairs with the rates pᵢ and nᵢ sessions each, it covers
/// Σnᵢpᵢ/n at least 95% of the time, whatever the rates, because hits of unequal probability are in either tail no more likely
/// than as many of equal probability (Hoeffding, 1956).
pub fn clopper_pearson(hits: u64, total: u64) -> Option<Interval> {
    if total == 0 || hits > total {
        return None;
    }
    let (x, n) = (hits as f64, total as f64);
    let quantile = |a: f64, b: f64, p: f64| Some(Beta::new(a, b).ok()?.inverse_cdf(p));
    Some(Interval {
        low: if hits == 0 { 0.0 } else { quantile(x, n - x + 1.0, 0.025)? },
        high: if hits == total { 1.0 } else { quantile(x + 1.0, n - x, 0.975)? },
    })
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
    let t = t_quantile(n - 1.0);
    let half = t * (variance / n).sqrt();
    Some(Interval { low: mean - half, high: mean + half })
}

/// The 97.5% quantile of Student's t with this many degrees of freedom; that of the normal distribution for none.
pub(crate) fn t_quantile(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(Z, |t| t.inverse_cdf(0.975))
}

/// The difference p₁ − p₂ of two independent proportions, with Newcombe's hybrid score interval; none without
/// trials.
///
/// With [lᵢ, uᵢ] Wilson's interval of pᵢ: p₁ − p₂ − √((p₁−l₁)² + (u₂−p₂)²) to p₁ − p₂ + √((u₁−p₁)² +
/// (p₂−l₂)²). Newcombe, 1998, method 10.
pub fn newcombe(hits1: u64, total1: u64, hits2: u64, total2: u64) -> Option<Estimate> {
    let (one, two) = (wilson(hits1, total1)?, wilson(hits2, total2)?);
    let (p1, p2) = (hits1 as f64 / total1 as f64, hits2 as f64 / total2 as f64);
    let value = p1 - p2;
    let interval = Interval {
        low: value - (p1 - one.low).hypot(two.high - p2),
        high: value + (one.high - p1).hypot(p2 - two.low),
    };
    Some(Estimate { value, interval })
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

    /// P(hits ≤ x) for n trials of probability p, summed term by term.
    fn at_most(x: u64, n: u64, p: f64) -> f64 {
        let (mut sum, mut log) = (0.0, n as f64 * (1.0 - p).ln());
        for k in 0..=x {
            sum += log.exp();
            log += ((n - k) as f64 / (k as f64 + 1.0) * p / (1.0 - p)).ln();
        }
        sum
    }

    #[test]
    fn at_the_ends_of_the_exact_interval_each_tail_has_two_and_a_half_percent() {
        for (hits, total) in [(1, 6), (56, 90), (3, 10), (140, 210), (853, 1900), (1, 1900), (19, 20)] {
            let Interval { low, high } = clopper_pearson(hits, total).unwrap();
            assert!((1.0 - at_most(hits - 1, total, low) - 0.025).abs() < 1e-9, "{hits} of {total}: {low}");
            assert!((at_most(hits, total, high) - 0.025).abs() < 1e-9, "{hits} of {total}: {high}");
        }
        // Without a hit, (1 − p)ⁿ = 2.5%.
        close(clopper_pearson(0, 10), 0.0, 1.0 - 0.025_f64.powf(0.1));
        close(clopper_pearson(10, 10), 0.025_f64.powf(0.1), 1.0);
        assert_eq!(clopper_pearson(0, 0), None);
    }

    #[test]
    fn the_t_interval_agrees_with_scipy() {
        // scipy.stats.t.interval(0.95, 3, loc=mean, scale=scipy.stats.sem(x)) for x = [0.40, 0.45, 0.50,
        // 0.47]
        close(mean_interval(&[0.40, 0.45, 0.50, 0.47]), 0.388_118_132, 0.521_881_868);
        assert_eq!(mean_interval(&[0.4]), None);
    }

    #[test]
    fn a_difference_needs_trials_on_both_sides() {
        assert_eq!(newcombe(1, 2, 0, 0), None);
    }
}
