//! pass@k: the probability that at least one of k samples is right.

/// The unbiased estimator of pass@k (Chen et al., 2021, "Evaluating Large Language Models Trained on Code", equation 1)
/// from `right` right samples among `samples`; none if k is 0 or exceeds `samples`.
///
/// 1 − C(n−c, k)/C(n, k), with n samples and c right ones: the fraction of k-subsets with a right one. It is computed as
/// 1 − Π_{i=n−c+1..n} (1 − k/i), in which no number grows large.
pub fn pass_at(k: u32, right: u32, samples: u32) -> Option<f64> {
    if k == 0 || k > samples || right > samples {
        return None;
    }
    if samples - right < k {
        return Some(1.0);
    }
    let miss: f64 = (samples - right + 1..=samples).map(|i| 1.0 - f64::from(k) / f64::from(i)).product();
    Some(1.0 - miss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_share_of_subsets_with_a_right_sample_in_every_small_case() {
        for samples in 1..=10_u32 {
            for right in 0..=samples {
                for k in 1..=samples {
                    // Samples 0 to right − 1 are the right ones.
                    let subsets = (0..1_u32 << samples).filter(|subset| subset.count_ones() == k);
                    let (mut all, mut holding) = (0_u32, 0_u32);
                    for subset in subsets {
                        all += 1;
                        holding += u32::from(subset & ((1 << right) - 1) != 0);
                    }
                    let estimate = pass_at(k, right, samples).unwrap();
                    let share = f64::from(holding) / f64::from(all);
                    assert!((estimate - share).abs() < 1e-12, "n {samples}, c {right}, k {k}: {estimate}");
                }
            }
        }
    }

    #[test]
    fn it_agrees_with_the_published_implementation() {
        // `estimate_pass_at_k` of github.com/openai/human-eval (human_eval/evaluation.py), NumPy 2:
        // 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)).
        for (samples, right, k, published) in PUBLISHED {
            let estimate = pass_at(k, right, samples).unwrap();
            assert!((estimate - published).abs() < 1e-12, "n {samples}, c {right}, k {k}: {estimate}");
        }
    }

    #[test]
    fn one_sample_is_the_average_and_all_samples_are_any_right() {
        for right in 0..=8 {
            assert!((pass_at(1, right, 8).unwrap() - f64::from(right) / 8.0).abs() < 1e-15);
            assert_eq!(pass_at(8, right, 8), Some(f64::from(u32::from(right > 0))));
        }
        assert_eq!(pass_at(0, 1, 8), None);
        assert_eq!(pass_at(9, 1, 8), None);
        assert_eq!(pass_at(1, 9, 8), None);
    }

    /// Samples, right ones, k, and what it gave.
    const PUBLISHED: [(u32, u32, u32, f64); 10] = [
        (8, 1, 1, 0.125),
        (8, 1, 4, 0.5),
        (8, 3, 2, 0.642_857_142_857_142_8),
        (8, 5, 3, 0.982_142_857_142_857_1),
        (10, 3, 5, 0.916_666_666_666_666_6),
        (16, 2, 8, 0.766_666_666_666_666_6),
        (100, 7, 10, 0.533_259_585_682_785_5),
        (200, 3, 100, 0.876_884_422_110_552_7),
        (200, 50, 1, 0.250_000_000_000_000_33),
        (1000, 1, 500, 0.5),
    ];
}
