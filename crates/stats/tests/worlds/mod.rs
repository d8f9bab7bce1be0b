//! Made-up solvers, askers and pairs whose truth is known.
#![allow(dead_code, reason = "each test uses some of them")]

use aske_stats::{Estimate, Interval};
use fastrand::Rng;

/// Counts how often intervals hold the truth.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coverage {
    held: f64,
    total: f64,
}

impl Coverage {
    /// Counts one interval.
    pub(crate) fn add(&mut self, interval: Interval, truth: f64) {
        self.held += f64::from(u8::from(interval.low <= truth && truth <= interval.high));
        self.total += 1.0;
    }

    /// The share that held it.
    pub(crate) fn rate(&self) -> f64 {
        self.held / self.total
    }

    /// 93 to 97 of 100 have to.
    #[track_caller]
    pub(crate) fn check(&self, name: &str) {
        println!("{name}: covers {:.1}% of {}", 100.0 * self.rate(), self.total);
        assert!((0.93..=0.97).contains(&self.rate()), "{name} covers {:.4}", self.rate());
    }
}

/// A list of values, as a mean with its standard error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values(pub(crate) Vec<f64>);

impl Values {
    /// The mean.
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The standard error of the mean.
    pub(crate) fn error(&self) -> f64 {
        let (n, mean) = (self.0.len() as f64, self.mean());
        (self.0.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt()
    }
}

/// Whether an event with chance `p` happens.
pub(crate) fn happens(rng: &mut Rng, p: f64) -> bool {
    rng.f64() < p
}

/// How many of `n` do.
pub(crate) fn hits(rng: &mut Rng, p: f64, n: u32) -> u32 {
    (0..n).map(|_| u32::from(happens(rng, p))).sum()
}

/// A standard normal value (Box and Muller).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// A gamma value with this shape (Marsaglia and Tsang, 2000).
fn gamma(rng: &mut Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        return gamma(rng, shape + 1.0) * (1.0 - rng.f64()).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    loop {
        let x = normal(rng);
        let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
        if v > 0.0 && (1.0 - rng.f64()).ln() < x * x / 2.0 + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A Beta(a, b) value.
pub(crate) fn beta(rng: &mut Rng, a: f64, b: f64) -> f64 {
    let (x, y) = (gamma(rng, a), gamma(rng, b));
    x / (x + y)
}

/// A rate with this mean, whose outcomes within a cluster correlate by `alike`.
pub(crate) fn cluster_rate(rng: &mut Rng, mean: f64, alike: f64) -> f64 {
    if alike <= 0.0 {
        return mean;
    }
    let strength = 1.0 / alike - 1.0;
    beta(rng, mean * strength, (1.0 - mean) * strength)
}

/// σ(x).
pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Whether an estimate's interval holds the truth.
pub(crate) fn holds(estimate: &Estimate, truth: f64) -> bool {
    estimate.interval.low <= truth && truth <= estimate.interval.high
}
