//! Agreement of rankings.

use std::cmp::Ordering;

/// Spearman's rank correlation (Spearman, 1904): Pearson's over ranks, ties at their mean rank.
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

/// Kendall's τ-b (Kendall, 1945): concordant minus discordant pairs, corrected for ties.
///
/// τ = (C − D) / √((n₀ − n₁)(n₀ − n₂)) with n₀ all pairs, n₁ and n₂ the pairs tied in `one` and in `two`. NaN if all
/// values of one side are tied.
pub fn kendall(one: &[f64], two: &[f64]) -> f64 {
    let (mut score, mut first, mut second) = (0.0, 0.0, 0.0);
    for (a, b) in pairs(one, two) {
        score += sign(a) * sign(b);
        first += sign(a).abs();
        second += sign(b).abs();
    }
    let scale: f64 = first * second;
    score / scale.sqrt()
}

/// Whether two lists have the same order, including ties.
pub fn same_order(one: &[f64], two: &[f64]) -> bool {
    one.len() == two.len() && pairs(one, two).all(|(a, b)| a == b)
}

/// How each pair of items compares in both lists.
fn pairs<'a>(one: &'a [f64], two: &'a [f64]) -> impl Iterator<Item = (Ordering, Ordering)> + 'a {
    let n = one.len().min(two.len());
    (0..n).flat_map(move |i| (0..i).map(move |j| (compare(one[i], one[j]), compare(two[i], two[j]))))
}

/// Numeric order: −0 equals 0, unlike in `total_cmp`.
fn compare(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

fn sign(order: Ordering) -> f64 {
    match order {
        Ordering::Less => -1.0,
        Ordering::Equal => 0.0,
        Ordering::Greater => 1.0,
    }
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

    #[test]
    fn one_swap_or_one_tie_changes_the_order() {
        assert!(same_order(&[0.1, 0.4, 0.3], &[1.0, 9.0, 2.0]));
        assert!(!same_order(&[0.1, 0.4, 0.3], &[1.0, 2.0, 9.0]));
        assert!(!same_order(&[0.1, 0.4, 0.4], &[1.0, 2.0, 9.0]));
        assert!(!same_order(&[0.1], &[0.1, 0.2]));
    }
}
