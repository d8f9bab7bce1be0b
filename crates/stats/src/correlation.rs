//! Rank correlation.

/// Spearman's rank correlation: Pearson's over ranks, ties at their mean rank.
pub fn rank_correlation(one: &[f64], two: &[f64]) -> f64 {
    let (one, two) = (ranks(one), ranks(two));
    let mean = f64::midpoint(one.len() as f64, 1.0);
    let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
    for (a, b) in one.iter().zip(&two) {
        both += (a - mean) * (b - mean);
        first += (a - mean) * (a - mean);
        second += (b - mean) * (b - mean);
    }
    both / (first * second).sqrt()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let same = values.iter().filter(|other| other.total_cmp(value).is_eq()).count() as f64;
        below + f64::midpoint(same, 1.0)
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_compared_and_ties_share_one() {
        // scipy.stats.spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]) = 0.8207826816681233
        let value = rank_correlation(&[1.0, 2.0, 3.0, 4.0, 5.0], &[5.0, 6.0, 7.0, 8.0, 7.0]);
        assert!((value - 0.820_782_681_668_123_3).abs() < 1e-12);
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[9.0, 5.0, 1.0]) + 1.0).abs() < 1e-12);
    }
}
