//! Fisher's exact test, and Holm's correction for multiple tests.

use statrs::function::factorial::ln_binomial;

/// Fisher's exact two-sided p-value for `hits1` of `total1` against `hits2` of `total2`.
///
/// The probability, with all margins fixed, of a table at most as likely as the observed one (Fisher, 1934); tables within
/// one part in 10⁷ of its probability count as equally likely, as in scipy. 1 if a margin is empty.
pub fn fisher(hits1: u64, total1: u64, hits2: u64, total2: u64) -> f64 {
    let hits = hits1 + hits2;
    let (least, most) = (hits.saturating_sub(total2), hits.min(total1));
    if hits1 > total1 || hits2 > total2 || least >= most {
        return 1.0;
    }
    let all = ln_binomial(total1 + total2, hits);
    let log_probability = |k: u64| ln_binomial(total1, k) + ln_binomial(total2, hits - k) - all;
    let observed = log_probability(hits1) + 1e-7;
    let p: f64 = (least..=most).map(log_probability).filter(|log| *log <= observed).map(f64::exp).sum();
    p.min(1.0)
}

/// Holm's adjusted p-values, in the order given: below 5% where the family-wise error rate allows a claim.
///
/// The i-th smallest of m is multiplied by m − i + 1, made monotone and capped at 1. Holm, 1979.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut largest: f64 = 0.0;
    for (rank, index) in order.into_iter().enumerate() {
        largest = largest.max(p[index] * (p.len() - rank) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_margins_say_nothing() {
        for (a, b, c, d) in [(0, 0, 1, 2), (0, 5, 0, 7), (5, 5, 7, 7)] {
            assert!((fisher(a, b, c, d) - 1.0).abs() < 1e-12);
        }
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }

    #[test]
    fn adjusted_values_keep_their_places() {
        assert_eq!(holm(&[0.04, 0.01, 0.5]), [0.08, 0.03, 0.5]);
    }
}
