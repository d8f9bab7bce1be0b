//! Laws that hold for any data.

use aske_stats::{
    AdaptiveSampler, Estimate, Interval, audit_terms, clustered, fisher, holm, kendall, newcombe, same_order,
    wilson,
};
use proptest::prelude::*;

/// Hits out of at least one trial.
fn trials() -> impl Strategy<Value = (u64, u64)> {
    (1u64..200).prop_flat_map(|total| (0..=total, Just(total)))
}

/// Clusters of sessions: hits and sessions.
fn clusters() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let cluster = (1u32..10).prop_flat_map(|total| (0..=total, Just(total)));
    prop::collection::vec(cluster.prop_map(|(hits, total)| (f64::from(hits), f64::from(total))), 2..40)
}

proptest! {
    #[test]
    fn intervals_hold_the_rate_and_mirror_with_it((hits, total) in trials()) {
        let p = hits as f64 / total as f64;
        let (one, other) = (wilson(hits, total).unwrap(), wilson(total - hits, total).unwrap());
        prop_assert!(0.0 <= one.low && one.low <= p + 1e-12 && p - 1e-12 <= one.high && one.high <= 1.0);
        prop_assert!(one.low < one.high && (one.low + other.high - 1.0).abs() < 1e-9);
    }

    #[test]
    fn comparing_two_askers_does_not_depend_on_their_order((a, n) in trials(), (b, m) in trials()) {
        let (one, two) = (newcombe(a, n, b, m).unwrap(), newcombe(b, m, a, n).unwrap());
        prop_assert!((one.interval.low + two.interval.high).abs() < 1e-12);
        let p = fisher(a, n, b, m);
        prop_assert!(p > 0.0 && p <= 1.0 && (p - fisher(b, m, a, n)).abs() < 1e-9);
    }

    #[test]
    fn adjusted_p_values_are_larger_and_keep_the_order(p in prop::collection::vec(0.0f64..1.0, 1..20)) {
        let adjusted = holm(&p);
        for (i, one) in p.iter().enumerate() {
            prop_assert!(adjusted[i] >= *one && adjusted[i] <= 1.0);
            for (j, two) in p.iter().enumerate() {
                prop_assert!(one > two || adjusted[i] <= adjusted[j]);
            }
        }
    }

    #[test]
    fn separation_and_noise_add_up(draws in [2u32..40, 2..40], right in [0u32..40, 0..40]) {
        let terms = audit_terms([0, 1].map(|i| right[i].min(draws[i])), draws).unwrap();
        prop_assert!((terms.separation + terms.noise - terms.calibrated).abs() < 1e-12);
        prop_assert!((terms.same - terms.noise).abs() < 1e-12);
    }

    #[test]
    fn a_clustered_interval_holds_the_rate_and_has_a_width(clusters in clusters(), seed: u64) {
        let estimate = clustered(&clusters, seed).unwrap();
        let Interval { low, high } = estimate.interval;
        prop_assert!(low >= 0.0 && high <= 1.0 && high - low > 1e-3, "{estimate:?}");
        prop_assert!(low <= estimate.value && estimate.value <= high, "{estimate:?}");
    }

    #[test]
    fn a_ranking_agrees_with_itself_and_opposes_its_mirror(values in prop::collection::vec(-9i32..9, 2..20)) {
        let one: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        let mirror: Vec<f64> = one.iter().map(|value| -value).collect();
        prop_assume!(values.iter().any(|value| *value != values[0]));
        prop_assert!((kendall(&one, &one) - 1.0).abs() < 1e-12);
        prop_assert!((kendall(&one, &mirror) + 1.0).abs() < 1e-12);
        prop_assert!(same_order(&one, &one) && !same_order(&one, &mirror));
    }

    #[test]
    fn a_sampler_can_be_stored_and_goes_on_alike(
        pairs in 1usize..12,
        seed: u64,
        outcomes: u64,
        sizes in prop::collection::vec(1usize..9, 1..9),
    ) {
        let mut sampler = AdaptiveSampler::new(pairs, seed);
        for size in sizes {
            let batch = sampler.next(size);
            prop_assert!(!batch.is_empty() && batch.iter().all(|drawn| drawn.probability > 0.0));
            let hit = |i: usize| outcomes >> (i % 64) & 1 == 1;
            let done: Vec<_> = batch.into_iter().enumerate().map(|(i, drawn)| (drawn, hit(i))).collect();
            sampler.record(&done);
            let stored: AdaptiveSampler = serde_json::from_str(&serde_json::to_string(&sampler).unwrap()).unwrap();
            prop_assert_eq!(stored.next(5), sampler.next(5));
            let Estimate { value, interval } = sampler.estimate().unwrap().rate;
            prop_assert!(interval.low <= value && value <= interval.high && interval.low < interval.high);
        }
    }
}
