//! Training curves as an SVG file.

use aske_report::{Panel, XAxis, curves};
use aske_train::reinforce::StepMetrics;
use std::collections::BTreeMap;

/// A value of a step.
type Value = fn(&StepMetrics) -> Option<f64>;

/// The training target by seed, and the monitored values as means over the seeds.
pub(super) fn picture(seeds: &[(u64, Vec<StepMetrics>)]) -> String {
    let fixed = seeds.iter().flat_map(|(_, lines)| lines).any(|line| line.fixed_calibrated.is_some());
    let aim = |line: &StepMetrics| if fixed { line.fixed_calibrated } else { Some(line.calibrated) };
    let judge = if fixed { "by the fixed check" } else { "by its own judge" };
    let series = seeds.iter().map(|(seed, lines)| {
        (format!("seed {seed}"), lines.iter().filter_map(|line| Some((line.step, aim(line)?))).collect())
    });
    let aimed = Panel { title: format!("Calibrated questions, {judge}"), series: series.collect() };
    let watched: [(&str, Value); 4] = [
        ("distinct questions", |line| Some(line.distinct)),
        ("own judge right, by the oracle", |line| line.truth),
        ("valid questions", |line| Some(line.valid)),
        ("own judge agrees with the fixed check", |line| line.agreement),
    ];
    let over_seeds = |share: Value| {
        let mut steps: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for line in seeds.iter().flat_map(|(_, lines)| lines) {
            steps.entry(line.step).or_default().extend(share(line));
        }
        steps.into_iter().filter_map(|(step, shares)| Some((step, mean(shares.into_iter())?))).collect()
    };
    let series = watched.into_iter().map(|(name, share)| (name.to_owned(), over_seeds(share)));
    let series = series.filter(|(_, points): &(String, Vec<(u64, f64)>)| !points.is_empty()).collect();
    curves(
        "The curves of a training",
        XAxis::Steps,
        &[aimed, Panel { title: "The watch, mean of the seeds".to_owned(), series }],
    )
}

/// The mean; `None` of nothing.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
