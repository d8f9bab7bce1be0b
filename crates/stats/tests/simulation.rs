//! Simulated runs whose truth is known: intervals cover it, tests keep their size, adaptive runs are
//! unbiased.
//!
//! Seeds are fixed. Every check has enough replications that a true 95% lies within 93 to 97%.

#![expect(clippy::unwrap_used, reason = "an estimate that is missing ends its test")]
#![expect(clippy::print_stdout, reason = "the measured coverages are worth reading")]

mod worlds;

use aske_stats::{
    AdaptiveSampler, AuditSession, Cell, Interval, Response, audit, clustered, crossed, difficulty, paired,
    rasch, wilson,
};
use fastrand::Rng;
use worlds::{Coverage, Values, beta, cluster_rate, happens, hits, holds, normal, sigmoid};

/// Clusters of 1 to 10 sessions: hits and sessions.
fn pairs(rng: &mut Rng, clusters: usize, mean: f64, alike: f64) -> Vec<(f64, f64)> {
    let mut cluster = || {
        let (n, p) = (rng.u32(1..=10), cluster_rate(rng, mean, alike));
        (f64::from(hits(rng, p, n)), f64::from(n))
    };
    (0..clusters).map(|_| cluster()).collect()
}

fn cluster_coverage(clusters: usize, runs: u64) {
    for (mean, alike) in [(0.45, 0.25), (0.45, 0.0), (0.1, 0.1), (0.1, 0.0)] {
        let mut rng = Rng::with_seed(11);
        let mut coverage = Coverage::default();
        for run in 0..runs {
            let estimate = clustered(&pairs(&mut rng, clusters, mean, alike), run).unwrap();
            coverage.add(estimate.interval, mean);
        }
        coverage.check(&format!("clustered, {clusters} clusters, rate {mean}, correlation {alike}"));
    }
}

#[test]
fn the_cluster_bootstrap_covers_with_21_clusters() {
    cluster_coverage(21, 2000);
}

#[test]
fn the_cluster_bootstrap_covers_with_66_clusters() {
    cluster_coverage(66, 1500);
}

#[test]
fn the_cluster_bootstrap_covers_with_190_clusters() {
    cluster_coverage(190, 800);
}

#[test]
fn wilsons_interval_covers_on_average() {
    // Exactly: the coverage at each rate, averaged over rates. At single rates it swings by nature.
    for n in [20, 100] {
        let (mut covered, mut total) = (0.0, 0.0);
        for p in (1..200).map(|i| f64::from(i) / 200.0) {
            let mut chance = (1.0 - p).powi(n);
            for k in 0..=n {
                let (hits, trials) = (u64::from(k.unsigned_abs()), u64::from(n.unsigned_abs()));
                let Interval { low, high } = wilson(hits, trials).unwrap();
                covered += chance * f64::from(u8::from(low <= p && p <= high));
                chance *= f64::from(n - k) / f64::from(k + 1) * p / (1.0 - p);
            }
            total += 1.0;
        }
        let mean = covered / total;
        println!("n = {n}: Wilson's interval covers {mean:.4} on average");
        assert!((0.94..=0.96).contains(&mean), "{mean}");
    }
}

/// Differences of two askers that share a pair's rate; `effect` apart on average, more or less so by pair.
fn differences(rng: &mut Rng, clusters: usize, effect: f64) -> Vec<Vec<f64>> {
    let mut cluster = || {
        let (rate, apart) = (0.2 + 0.4 * rng.f64(), effect + 0.2 * (rng.f64() - 0.5));
        let session = |rng: &mut Rng| {
            f64::from(u8::from(happens(rng, rate + apart))) - f64::from(u8::from(happens(rng, rate)))
        };
        (0..rng.u32(1..=10)).map(|_| session(rng)).collect()
    };
    (0..clusters).map(|_| cluster()).collect()
}

#[test]
fn paired_differences_cover_and_the_test_keeps_its_size() {
    for (clusters, runs) in [(21, 2000), (66, 1000)] {
        for effect in [0.0, 0.15] {
            let mut rng = Rng::with_seed(5);
            let (mut coverage, mut below) = (Coverage::default(), 0.0);
            for run in 0..runs {
                let paired = paired(&differences(&mut rng, clusters, effect), run).unwrap();
                coverage.add(paired.difference.interval, effect);
                below += f64::from(u8::from(paired.p <= 0.05));
            }
            coverage.check(&format!("paired, {clusters} clusters, difference {effect}"));
            let size = below / runs as f64;
            println!("  sign flips reject {:.1}%", 100.0 * size);
            let bounds = if effect == 0.0 { 0.035..=0.065 } else { 0.3..=1.0 };
            assert!(bounds.contains(&size), "{size}");
        }
    }
}

#[test]
fn the_smallest_difference_is_seen_four_times_in_five() {
    // The formula is a normal test's; a test that also has to estimate the error sees a little less (about
    // 78%). Two passes: the smallest difference as a study reports it, then studies with that difference.
    let mut rng = Rng::with_seed(6);
    let smallest =
        Values((0..300).map(|run| paired(&differences(&mut rng, 66, 0.0), run).unwrap().smallest).collect());
    let effect = smallest.mean();
    let seen =
        (0..1200).filter(|run| paired(&differences(&mut rng, 66, effect), *run).unwrap().p <= 0.05).count();
    println!("a difference of {effect:.3} is seen in {seen} of 1200");
    assert!((0.73..=0.85).contains(&(seen as f64 / 1200.0)));
}

/// Questions whose right-chances are p = c + U/2 for the smaller solver and q = c + 0.2 + V/2 for the larger
/// one, with c = 0.3·W the pair's, and U, V, W uniform.
fn redraws(rng: &mut Rng, clusters: usize) -> Vec<AuditSession> {
    let mut sessions = Vec::new();
    for cluster in 0..clusters {
        let c = 0.3 * rng.f64();
        for _ in 0..rng.u32(1..=10) {
            let (p, q) = (c + rng.f64() / 2.0, c + 0.2 + rng.f64() / 2.0);
            let draws = [rng.u32(3..=5), rng.u32(2..=5)];
            sessions.push(AuditSession {
                cluster,
                right: [hits(rng, p, draws[0]), hits(rng, q, draws[1])],
                draws,
                calibrated: happens(rng, p) != happens(rng, q),
                control: Some([happens(rng, 0.5), happens(rng, 0.2)]),
            });
        }
    }
    sessions
}

/// Among calibrated sessions the chance to be calibrated again: E[x²]/E[x] with x = p + q − 2pq, on a fine
/// grid.
fn truly_again() -> f64 {
    let points: Vec<f64> = (0..40).map(|i| (f64::from(i) + 0.5) / 40.0).collect();
    let (mut once, mut twice) = (0.0, 0.0);
    for w in &points {
        for u in &points {
            for v in &points {
                let (p, q) = (0.3 * w + u / 2.0, 0.3 * w + 0.2 + v / 2.0);
                let x = p + q - 2.0 * p * q;
                once += x;
                twice += x * x;
            }
        }
    }
    twice / once
}

#[test]
fn the_audit_recovers_luck_and_skill() {
    // E(p−q)² = ¼·⅙ + 0.2²; Var p = Var q = 0.09/12 + 0.25/12; noise = Σ mean − mean² − Var.
    let separation = 0.25 / 6.0 + 0.04;
    let spread = 0.34 / 12.0;
    let noise = 0.4 - 0.16 - spread + 0.6 - 0.36 - spread;
    let names = ["calibrated", "separation", "noise", "gap", "again", "same", "shuffled"];
    let truths = [separation + noise, separation, noise, 0.2, truly_again(), noise, 0.5 * 0.8 + 0.5 * 0.2];
    for (clusters, runs) in [(21, 1000), (66, 600)] {
        let mut rng = Rng::with_seed(8);
        let mut coverage = [Coverage::default(); 7];
        let mut means: [Values; 7] = Default::default();
        for run in 0..runs {
            let audit = audit(&redraws(&mut rng, clusters), run).unwrap();
            let estimates = [
                audit.calibrated,
                audit.separation,
                audit.noise,
                audit.gap,
                audit.again.unwrap(),
                audit.same,
                audit.shuffled.unwrap(),
            ];
            for (i, estimate) in estimates.iter().enumerate() {
                coverage[i].add(estimate.interval, truths[i]);
                means[i].0.push(estimate.value);
            }
        }
        for i in 0..7 {
            coverage[i].check(&format!("audit, {clusters} clusters, {}", names[i]));
            let off = (means[i].mean() - truths[i]).abs();
            assert!(off < 4.0 * means[i].error(), "{}: off by {off}", names[i]);
        }
    }
}

#[test]
fn one_large_audit_holds_both_terms() {
    let audit = audit(&redraws(&mut Rng::with_seed(2), 2000), 1).unwrap();
    assert!(holds(&audit.separation, 0.25 / 6.0 + 0.04) && audit.separation.half_width() < 0.01, "{audit:?}");
    assert!(
        holds(&audit.noise, 0.76 - 0.52 - 0.68 / 12.0 + 0.24) && audit.noise.half_width() < 0.01,
        "{audit:?}"
    );
}

#[test]
fn abilities_cover_although_askers_choose_the_questions() {
    let truth = [1.4, 0.9, 0.4, 0.1, -0.2, -0.5, -0.8, -1.3];
    let mut rng = Rng::with_seed(3);
    let (mut coverage, mut poor, runs) = (Coverage::default(), 0.0, 300);
    for _ in 0..runs {
        let mut responses = Vec::new();
        for item in 0..280 {
            let a = rng.usize(0..8);
            let b = (a + rng.usize(1..8)) % 8;
            // The asker aims between the two solvers, and misses upwards for strong ones.
            let aim =
                f64::midpoint(truth[a], truth[b]) + 0.5 * truth[a].max(truth[b]) + 0.7 * normal(&mut rng);
            for person in [a, b] {
                responses.push(Response {
                    person,
                    item,
                    right: happens(&mut rng, sigmoid(truth[person] - aim)),
                });
            }
        }
        let abilities = rasch(8, &responses).unwrap();
        for (ability, truth) in abilities.ability.iter().zip(truth) {
            coverage.add(ability.unwrap().interval, truth);
        }
        poor += f64::from(u8::from(abilities.p.unwrap() <= 0.05));
    }
    coverage.check("ability");
    println!("  the fit is rejected in {:.1}% where the model holds", 100.0 * poor / f64::from(runs));
    assert!((0.02..=0.09).contains(&(poor / f64::from(runs))), "{poor}");
}

#[test]
fn skills_of_askers_cover() {
    let skill = [0.8, 0.3, 0.0, -0.3, -0.8];
    let mut rng = Rng::with_seed(4);
    let (mut skills, mut hardness, mut poor, runs) = (Coverage::default(), Coverage::default(), 0.0, 200);
    for _ in 0..runs {
        let hard: Vec<f64> = (0..21).map(|_| 0.8 * normal(&mut rng)).collect();
        let mut cells = Vec::new();
        for (row, skill) in skill.iter().enumerate() {
            for (column, hard) in hard.iter().enumerate() {
                let total = rng.u32(2..=5);
                cells.push(Cell {
                    row,
                    column,
                    hits: hits(&mut rng, sigmoid(skill - hard - 0.2), total),
                    total,
                });
            }
        }
        let fit = crossed(5, 21, &cells).unwrap();
        for (got, truth) in fit.skill.iter().zip(skill) {
            skills.add(got.unwrap().interval, truth);
        }
        for (got, truth) in fit.hardness.iter().zip(&hard) {
            hardness.add(got.unwrap().interval, *truth);
        }
        poor += f64::from(u8::from(fit.p.unwrap() <= 0.05));
    }
    skills.check("skill");
    hardness.check("hardness");
    println!("  the fit is rejected in {:.1}% where the model holds", 100.0 * poor / f64::from(runs));
    assert!((0.01..=0.1).contains(&(poor / f64::from(runs))), "{poor}");
}

#[test]
fn difficulties_cover_under_their_prior() {
    let mut rng = Rng::with_seed(9);
    let mut coverage = Coverage::default();
    for _ in 0..1500 {
        let b = 0.3 + 1.2 * normal(&mut rng);
        let answers = [-0.5, 0.2, 1.0].map(|ability| (ability, hits(&mut rng, sigmoid(ability - b), 4), 4));
        coverage.add(difficulty(&answers, (0.3, 1.2)).interval, b);
    }
    coverage.check("difficulty");
}

/// A thousand runs that stop at a half-width.
fn stopped_runs(name: &str, rates: &[f64], target: f64, size: usize) {
    let truth = rates.iter().sum::<f64>() / rates.len() as f64;
    let mut rng = Rng::with_seed(1);
    let mut coverage = Coverage::default();
    let [mut errors, mut sessions, mut uniform, mut balanced]: [Values; 4] = Default::default();
    for run in 0..1000 {
        let mut sampler = AdaptiveSampler::new(rates.len(), run);
        let end = loop {
            let batch = sampler.next(size);
            let outcomes: Vec<_> =
                batch.into_iter().map(|drawn| (drawn, happens(&mut rng, rates[drawn.pair]))).collect();
            sampler.record(&outcomes);
            let now = sampler.estimate().unwrap();
            if now.rate.half_width() <= target {
                break now;
            }
        };
        coverage.add(end.rate.interval, truth);
        errors.0.push(end.rate.value - truth);
        sessions.0.push(end.sessions as f64);
        uniform.0.push(end.uniform);
        balanced.0.push(end.balanced);
    }
    println!(
        "{name}: rate {truth:.3}, mean error {:+.3} ± {:.3} points, {:.0} sessions, \
         saved {:.0}% of {:.0} uniform and {:.0}% of {:.0} balanced",
        100.0 * errors.mean(),
        100.0 * errors.error(),
        sessions.mean(),
        100.0 * (1.0 - sessions.mean() / uniform.mean()),
        uniform.mean(),
        100.0 * (1.0 - sessions.mean() / balanced.mean()),
        balanced.mean(),
    );
    coverage.check(name);
    assert!(errors.mean().abs() < 3.0 * errors.error() && errors.mean().abs() < 0.003, "{}", errors.mean());
    assert!(sessions.mean() < uniform.mean());
    // The interval is neither lucky nor lazy: errors are as large as it says.
    let promised = target / 1.96;
    let errors = errors.error() * (errors.0.len() as f64).sqrt();
    assert!((errors / promised - 1.0).abs() < 0.06, "errors of {errors}, promised {promised}");
}

#[test]
fn adaptive_runs_over_190_pairs_stop_unbiased() {
    let mut rng = Rng::with_seed(5);
    let rates: Vec<f64> = (0..190).map(|_| beta(&mut rng, 0.8, 1.0)).collect();
    stopped_runs("adaptive, 190 pairs", &rates, 0.025, 40);
    let rates: Vec<f64> = (0..190).map(|_| beta(&mut rng, 0.3, 0.4)).collect();
    stopped_runs("adaptive, 190 extreme pairs", &rates, 0.02, 40);
}

#[test]
fn adaptive_runs_over_21_pairs_stop_unbiased() {
    let mut rng = Rng::with_seed(5);
    let rates: Vec<f64> = (0..21).map(|_| beta(&mut rng, 0.8, 1.0)).collect();
    stopped_runs("adaptive, 21 pairs", &rates, 0.05, 10);
}
