//! The sign-flip test of a mean of zero.

use fastrand::Rng;

/// Up to this many clusters every sign pattern is tried.
const ENUMERATED: usize = 14;
/// Otherwise this many random ones.
const DRAWN: u32 = 4999;

/// The two-sided p-value of no difference over clusters (sum, count), when each sum could as well have had
/// the other sign.
///
/// The share of sign patterns whose |r|/se is at least the observed one, with r = Σsum/Σcount and se its
/// linearised standard error (Fisher, 1935; studentised as by Janssen, 1997). Studentising makes the test
/// hold its size also where large clusters vary more, and it breaks ties: with the plain sum as statistic,
/// whole numbers tie so often that a 5% test of 21 clusters rejects 3%. Up to 14 clusters with a sum other
/// than zero all patterns are tried, which is exact. Beyond, 4,999 are drawn, and p = (b + 1)/(m + 1) keeps
/// the size (Phipson and Smyth, 2010).
pub(crate) fn flip(clusters: &[(f64, f64)], seed: u64) -> f64 {
    let test = Test::of(clusters);
    if test.sums.is_empty() {
        return 1.0;
    }
    if test.sums.len() <= ENUMERATED {
        let patterns = 1u32 << test.sums.len();
        let beyond = (0..patterns).filter(|pattern| test.beyond(|_| u64::from(*pattern))).count();
        return beyond as f64 / f64::from(patterns);
    }
    let mut rng = Rng::with_seed(seed);
    let beyond = (0..DRAWN).filter(|_| test.beyond(|_| rng.u64(..))).count();
    (beyond as f64 + 1.0) / (f64::from(DRAWN) + 1.0)
}

/// What stays the same when signs flip, and the observed statistic.
struct Test {
    /// |sum| and |sum|·count of the clusters whose sum is not zero: the others are the same either way.
    sums: Vec<(f64, f64)>,
    sessions: f64,
    /// Σsum².
    squares: f64,
    /// Σcount².
    counts: f64,
    /// r² and Σ(sum − r·count)² as observed.
    seen: (f64, f64),
}

impl Test {
    fn of(clusters: &[(f64, f64)]) -> Self {
        let some = clusters.iter().filter(|(sum, _)| sum.abs() > 1e-12);
        let mut test = Self {
            sums: some.map(|(sum, count)| (sum.abs(), sum.abs() * count)).collect(),
            sessions: clusters.iter().map(|(_, count)| count).sum(),
            squares: clusters.iter().map(|(sum, _)| sum * sum).sum(),
            counts: clusters.iter().map(|(_, count)| count * count).sum(),
            seen: (0.0, 0.0),
        };
        let (sum, product) =
            clusters.iter().fold((0.0, 0.0), |(a, b), (sum, count)| (a + sum, b + sum * count));
        test.seen = test.statistic(sum, product);
        test
    }

    /// r² and Σ(sum − r·count)², given Σsum and Σsum·count.
    fn statistic(&self, sum: f64, product: f64) -> (f64, f64) {
        let r = sum / self.sessions;
        (r * r, (self.squares - 2.0 * r * product + r * r * self.counts).max(0.0))
    }

    /// Whether a pattern lies at least as far out as the data; `bits` gives signs, 64 at a time.
    fn beyond(&self, mut bits: impl FnMut(usize) -> u64) -> bool {
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
        // r*²/se*² ≥ r²/se², without dividing by an error of zero. Equal ones may differ in their last
        // digits.
        let (square, rest) = self.statistic(sum, product);
        let slack = 1e-9 * (self.seen.0 + square) * self.squares;
        square * self.seen.1 >= self.seen.0 * rest - slack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_patterns_come_close_to_all_patterns() {
        let clusters: Vec<(f64, f64)> =
            (0..14).map(|i| (f64::from(i % 4) - 0.9, f64::from(1 + i % 5))).collect();
        let exact = flip(&clusters, 1);
        let test = Test::of(&clusters);
        let mut rng = Rng::with_seed(2);
        let beyond = (0..20_000).filter(|_| test.beyond(|_| rng.u64(..))).count();
        assert!((beyond as f64 / 20_000.0 - exact).abs() < 0.015, "{exact} {beyond}");
    }

    #[test]
    fn nothing_to_flip_is_no_evidence() {
        assert!((flip(&[], 1) - 1.0).abs() < 1e-12);
        assert!((flip(&[(0.0, 3.0), (0.0, 2.0)], 1) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn all_on_one_side_is_as_far_out_as_it_gets() {
        assert!((flip(&[(2.0, 2.0); 10], 1) - 2.0 / 1024.0).abs() < 1e-12);
        assert!((flip(&[(0.5, 3.0); 40], 1) - 1.0 / 5000.0).abs() < 1e-12);
    }
}
