//! The sign-flip test of a mean of zero. Used by `paired`.

use fastrand::Rng;

/// Up to this many clusters all sign patterns are enumerated.
const MAX_ENUMERATED: usize = 14;
/// Random patterns for more clusters.
const RANDOM_PATTERNS: u32 = 4999;

/// The two-sided p-value of the studentised sign-flip test (Fisher, 1935; Janssen, 1997) over clusters (sum, count).
///
/// The fraction of sign patterns whose |r|/se is at least the observed one, with r = Σsum/Σcount and se its
/// linearised standard error. Studentising keeps the size of the test when large clusters vary more, and breaks ties: with
/// the sum as statistic, a 5% test of 21 clusters rejects 3%. Up to 14 clusters with a non-zero sum the test is exact.
/// Beyond, 4,999 patterns are drawn, and p = (b + 1)/(m + 1) keeps the size (Phipson and Smyth, 2010).
pub(crate) fn sign_flip(clusters: &[(f64, f64)], seed: u64) -> f64 {
    let test = Test::of(clusters);
    if test.sums.is_empty() {
        return 1.0;
    }
    if test.sums.len() <= MAX_ENUMERATED {
        let patterns = 1u32 << test.sums.len();
        let beyond = (0..patterns).filter(|pattern| test.is_extreme(|_| u64::from(*pattern))).count();
        return beyond as f64 / f64::from(patterns);
    }
    let mut rng = Rng::with_seed(seed);
    let beyond = (0..RANDOM_PATTERNS).filter(|_| test.is_extreme(|_| rng.u64(..))).count();
    (beyond as f64 + 1.0) / (f64::from(RANDOM_PATTERNS) + 1.0)
}

/// Quantities that do not depend on the signs, and the observed statistic.
struct Test {
    /// |sum| and |sum|·count of the clusters with a non-zero sum.
    sums: Vec<(f64, f64)>,
    sessions: f64,
    /// Σsum².
    squares: f64,
    /// Σcount².
    counts: f64,
    /// r² and Σ(sum − r·count)² as observed.
    observed: (f64, f64),
}

impl Test {
    fn of(clusters: &[(f64, f64)]) -> Self {
        let some = clusters.iter().filter(|(sum, _)| sum.abs() > 1e-12);
        let mut test = Self {
            sums: some.map(|(sum, count)| (sum.abs(), sum.abs() * count)).collect(),
            sessions: clusters.iter().map(|(_, count)| count).sum(),
            squares: clusters.iter().map(|(sum, _)| sum * sum).sum(),
            counts: clusters.iter().map(|(_, count)| count * count).sum(),
            observed: (0.0, 0.0),
        };
        let (sum, product) =
            clusters.iter().fold((0.0, 0.0), |(a, b), (sum, count)| (a + sum, b + sum * count));
        test.observed = test.statistic(sum, product);
        test
    }

    /// r² and Σ(sum − r·count)², given Σsum and Σsum·count.
    fn statistic(&self, sum: f64, product: f64) -> (f64, f64) {
        let r = sum / self.sessions;
        (r * r, (self.squares - 2.0 * r * product + r * r * self.counts).max(0.0))
    }

    /// Whether a pattern is at least as extreme as the data; `bits` gives 64 signs at a time.
    fn is_extreme(&self, mut bits: impl FnMut(usize) -> u64) -> bool {
        let (mut sum, mut product) = (0.0, 0.0);
        for (place, chunk) in self.sums.chunks(64).enumerate() {
            let mut signs = bits(place);
            for (one, two) in chunk {
                let sign = if signs & 1 == 1 { 1.0 } else { -1.0 };
                sum += sign * one;
                product += sign * two;
                signs >>= 1;
            }
        }
        // r*²/se*² ≥ r²/se², without dividing by zero; the tolerance is for rounding.
        let (square, rest) = self.statistic(sum, product);
        let tolerance = 1e-9 * (self.observed.0 + square) * self.squares;
        square * self.observed.1 >= self.observed.0 * rest - tolerance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_patterns_come_close_to_all_patterns() {
        let clusters: Vec<(f64, f64)> =
            (0..14).map(|i| (f64::from(i % 4) - 0.9, f64::from(1 + i % 5))).collect();
        let exact = sign_flip(&clusters, 1);
        let test = Test::of(&clusters);
        let mut rng = Rng::with_seed(2);
        let beyond = (0..20_000).filter(|_| test.is_extreme(|_| rng.u64(..))).count();
        assert!((beyond as f64 / 20_000.0 - exact).abs() < 0.015, "{exact} {beyond}");
    }

    #[test]
    fn nothing_to_flip_is_no_evidence() {
        assert!((sign_flip(&[], 1) - 1.0).abs() < 1e-12);
        assert!((sign_flip(&[(0.0, 3.0), (0.0, 2.0)], 1) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn all_on_one_side_is_as_far_out_as_it_gets() {
        assert!((sign_flip(&[(2.0, 2.0); 10], 1) - 2.0 / 1024.0).abs() < 1e-12);
        assert!((sign_flip(&[(0.5, 3.0); 40], 1) - 1.0 / 5000.0).abs() < 1e-12);
    }
}
