//! The sign-flip test of a mean of zero.

use fastrand::Rng;

/// Up to this many clusters every sign pattern is tried.
const ENUMERATED: usize = 14;
/// Otherwise this many random ones.
const DRAWN: u32 = 9999;

/// The two-sided p-value of the cluster totals' sum, when each total could as well have had the other sign.
///
/// p = P(|Σ ±tᵢ| ≥ |Σ tᵢ|) over independent fair signs (Fisher, 1935). Flipping leaves Σtᵢ² as it is, so the
/// studentised sum orders the patterns in the same way: the test keeps its size for totals of unequal variance.
/// Whole totals are convolved, which is exact for any number of clusters. Others are enumerated up to 14
/// clusters, and beyond that drawn at random with p = (b + 1)/(m + 1).
pub(crate) fn flip(totals: &[f64], seed: u64) -> f64 {
    let sum: f64 = totals.iter().sum::<f64>().abs();
    // A total of zero is the same either way.
    let sizes: Vec<f64> = totals.iter().map(|total| total.abs()).filter(|total| *total > 1e-12).collect();
    // Equal sums may differ in their last digits.
    let bar = sum - 1e-9 * (1.0 + sum);
    if sizes.iter().all(|size| size.fract() == 0.0) && sizes.iter().sum::<f64>() < 1e5 {
        convolved(&sizes, bar)
    } else if sizes.len() <= ENUMERATED {
        enumerated(&sizes, bar)
    } else {
        drawn(&sizes, bar, seed)
    }
}

/// Over whole totals: the chance of every sum, one total after the other.
fn convolved(sizes: &[f64], bar: f64) -> f64 {
    let mut chances = vec![1.0];
    for size in sizes {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole size below 10⁵")]
        let shift = 2 * *size as usize;
        let mut next = vec![0.0; chances.len() + shift];
        for (place, chance) in chances.iter().enumerate() {
            next[place] += chance / 2.0;
            next[place + shift] += chance / 2.0;
        }
        chances = next;
    }
    // The places are the sums from −Σ to Σ.
    let most = sizes.iter().sum::<f64>();
    let beyond = |place: usize| (place as f64 - most).abs() >= bar;
    let p: f64 =
        chances.iter().enumerate().filter(|(place, _)| beyond(*place)).map(|(_, chance)| chance).sum();
    p.min(1.0)
}

fn enumerated(sizes: &[f64], bar: f64) -> f64 {
    let patterns = 1u32 << sizes.len();
    let beyond = (0..patterns).filter(|pattern| signed(sizes, u64::from(*pattern)).abs() >= bar).count();
    beyond as f64 / f64::from(patterns)
}

fn drawn(sizes: &[f64], bar: f64, seed: u64) -> f64 {
    let mut rng = Rng::with_seed(seed);
    let beyond = (0..DRAWN).filter(|_| {
        let sum: f64 = sizes.chunks(64).map(|chunk| signed(chunk, rng.u64(..))).sum();
        sum.abs() >= bar
    });
    (beyond.count() as f64 + 1.0) / (f64::from(DRAWN) + 1.0)
}

/// The sum with each sign taken from a bit.
fn signed(sizes: &[f64], bits: u64) -> f64 {
    sizes.iter().enumerate().map(|(i, size)| if bits >> i & 1 == 1 { *size } else { -size }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_ways_agree() {
        let totals: Vec<f64> = (0..14).map(|i| f64::from(i % 4) - 1.0).collect();
        let sizes: Vec<f64> = totals.iter().map(|t: &f64| t.abs()).filter(|t| *t > 0.0).collect();
        let bar = totals.iter().sum::<f64>().abs() - 1e-9;
        let exact = enumerated(&sizes, bar);
        assert!((convolved(&sizes, bar) - exact).abs() < 1e-12);
        assert!((drawn(&sizes, bar, 3) - exact).abs() < 0.02);
        assert!((flip(&totals, 1) - exact).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_flip_is_no_evidence() {
        assert!((flip(&[], 1) - 1.0).abs() < 1e-12);
        assert!((flip(&[0.0, 0.0], 1) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn many_fractional_totals_on_one_side_are_far_out() {
        assert!(flip(&[0.5; 40], 1) <= 1e-4 + 1e-12);
    }
}
