//! A base model and what training made of it, on the same problems.

use crate::score::{Problems, Tried, in_order, tried};
use aske_record::EvalRecord;
use aske_stats::{Paired, paired, pass_at};
use serde::Serialize;
use std::collections::BTreeMap;

/// Decides the resamples of intervals and the patterns of tests.
const SEED: u64 = 1;

/// A run to compare: what it is called, and its samples.
#[derive(Clone, Copy, Debug)]
pub struct Side<'r> {
    /// Its name in tables.
    pub name: &'r str,
    /// Its samples.
    pub records: &'r [EvalRecord],
}

/// Which number of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The chance that one of k samples is right.
    Pass,
    /// The share of right samples.
    Average,
}

impl Metric {
    /// Both, in the order of tables.
    pub const BOTH: [Self; 2] = [Self::Pass, Self::Average];

    /// `pass@8`.
    pub fn name(self, k: u32) -> String {
        match self {
            Self::Pass => format!("pass@{k}"),
            Self::Average => format!("avg@{k}"),
        }
    }

    fn of(self, tried: &Tried, k: u32) -> Option<f64> {
        match self {
            Self::Pass => pass_at(k, tried.right(), tried.count()),
            Self::Average => Some(tried.average()),
        }
    }
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The dataset; none for all of them together.
    pub dataset: Option<String>,
    /// Its name in tables.
    pub title: String,
    /// Which number.
    pub metric: Metric,
    /// Problems that every run has.
    pub problems: usize,
    /// The base model's.
    pub base: f64,
    /// The mean of the trained models'.
    pub mean: f64,
    /// Their standard deviation, with n − 1; none for fewer than two.
    pub spread: Option<f64>,
    /// Of every trained model.
    pub trained: Vec<f64>,
    /// The mean change of a problem, tested by problem; none for fewer than two problems.
    pub change: Option<Paired>,
}

/// The whole comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The base model's name.
    pub base: String,
    /// The trained models' names.
    pub trained: Vec<String>,
    /// The k of pass@k: the fewest samples that a problem has in any run.
    pub k: u32,
    /// The most samples of a problem, where not all have the same number; avg is over all of them.
    pub most: u32,
    /// Two rows for each dataset, then two for all of them together where there are several.
    pub lines: Vec<Line>,
    /// Problems that some run lacks, by dataset; they count nowhere.
    pub left_out: BTreeMap<String, usize>,
}

/// Compares on the problems that every run has; none where there are none.
pub fn compare(base: Side<'_>, trained: &[Side<'_>]) -> Option<Comparison> {
    let sides: Vec<BTreeMap<String, Problems>> =
        std::iter::once(&base).chain(trained).map(|side| tried(side.records)).collect();
    let mut left_out = BTreeMap::new();
    let mut datasets: Vec<(String, String, Vec<Vec<&Tried>>)> = Vec::new();
    for (name, title) in in_order(sides[0].keys().map(String::as_str)) {
        let of_sides: Option<Vec<&Problems>> = sides.iter().map(|side| side.get(name)).collect();
        let Some(of_sides) = of_sides else { continue };
        let common = |problem: &&String| of_sides.iter().all(|problems| problems.contains_key(*problem));
        let shared: Vec<&String> = of_sides[0].keys().filter(common).collect();
        let missing = of_sides.iter().map(|problems| problems.len() - shared.len()).max().unwrap_or(0);
        if missing > 0 {
            left_out.insert(name.to_owned(), missing);
        }
        if shared.is_empty() {
            continue;
        }
        let rows = of_sides.iter().map(|problems| shared.iter().map(|name| &problems[*name]).collect());
        datasets.push((name.to_owned(), title, rows.collect()));
    }
    let counts =
        || datasets.iter().flat_map(|(_, _, sides)| sides.iter().flatten()).map(|tried| tried.count());
    let (k, most) = (counts().min()?, counts().max()?);
    let mut lines: Vec<Line> = Vec::new();
    for (name, title, sides) in &datasets {
        lines.extend(Metric::BOTH.map(|metric| line(Some(name), title, metric, k, sides)));
    }
    if datasets.len() > 1 {
        let pooled: Vec<Vec<&Tried>> = (0..=trained.len())
            .map(|side| datasets.iter().flat_map(|(_, _, sides)| sides[side].iter().copied()).collect())
            .collect();
        lines.extend(Metric::BOTH.map(|metric| line(None, "All problems", metric, k, &pooled)));
    }
    let names = trained.iter().map(|side| side.name.to_owned()).collect();
    Some(Comparison { base: base.name.to_owned(), trained: names, k, most, lines, left_out })
}

/// One row; the first side is the base model, and every side has the same problems in the same order.
fn line(dataset: Option<&String>, title: &str, metric: Metric, k: u32, sides: &[Vec<&Tried>]) -> Line {
    let shares: Vec<Vec<f64>> = sides
        .iter()
        .map(|side| side.iter().map(|tried| metric.of(tried, k).unwrap_or(0.0)).collect())
        .collect();
    let means: Vec<f64> = shares.iter().map(|side| mean(side)).collect();
    let (base, trained) = (means[0], means[1..].to_vec());
    let change: Vec<Vec<f64>> = (0..shares[0].len())
        .map(|problem| {
            let after: Vec<f64> = shares[1..].iter().map(|side| side[problem]).collect();
            vec![mean(&after) - shares[0][problem]]
        })
        .collect();
    Line {
        dataset: dataset.cloned(),
        title: title.to_owned(),
        metric,
        problems: shares[0].len(),
        base,
        mean: mean(&trained),
        spread: spread(&trained),
        trained,
        change: paired(&change, SEED),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The standard deviation of a sample, with n − 1.
fn spread(values: &[f64]) -> Option<f64> {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() as f64 - 1.0)).sqrt())
}

impl Line {
    /// Whether a value beats the base model's; equal counts do not.
    pub fn beats(&self, value: f64) -> bool {
        value > self.base + 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::tests::run;

    fn side<'r>(name: &'r str, records: &'r [EvalRecord]) -> Side<'r> {
        Side { name, records }
    }

    #[test]
    fn the_mean_and_the_spread_over_seeds_are_those_of_the_papers_table() {
        // AIME 2025, avg@8 over 30 problems: 54.17% before; 58.33, 54.58 and 58.75% after, 57.22% on average. Right
        // samples of 240: 130, then 140, 131, 141.
        let spreaded = |right: u32| {
            let problems: Vec<(String, u32)> =
                (0..30_u32).map(|i| (i.to_string(), right / 30 + u32::from(i < right % 30))).collect();
            let of: Vec<(&str, u32)> = problems.iter().map(|(name, right)| (name.as_str(), *right)).collect();
            run("aime-2025", 8, &of)
        };
        let [base, one, two, three] = [130, 140, 131, 141].map(spreaded);
        let trained = [side("seed 0", &one), side("seed 1", &two), side("seed 2", &three)];
        let found = compare(side("base", &base), &trained).unwrap();
        let average = &found.lines[1];
        let percent = |value: f64| format!("{:.2}", 100.0 * value);
        assert_eq!(percent(average.base), "54.17");
        assert_eq!(percent(average.mean), "57.22");
        let each: Vec<String> = average.trained.iter().map(|value| percent(*value)).collect();
        assert_eq!(each, ["58.33", "54.58", "58.75"]);
        // statistics.stdev([58.3333, 54.5833, 58.75])
        assert_eq!(percent(average.spread.unwrap()), "2.29");
        assert_eq!((found.k, found.lines.len(), average.problems), (8, 2, 30));
        assert!(average.beats(average.mean) && !average.beats(average.base));
    }

    #[test]
    fn only_problems_that_every_run_has_count_and_the_others_are_told() {
        let base = run("x", 4, &[("a", 4), ("b", 0), ("c", 1)]);
        let after = run("x", 4, &[("a", 4), ("b", 2)]);
        let found = compare(side("base", &base), &[side("after", &after)]).unwrap();
        assert_eq!((found.lines[0].problems, found.left_out["x"]), (2, 1));
        let change = found.lines[1].change.unwrap();
        assert!((change.difference.value - 0.25).abs() < 1e-12, "{change:?}");
        assert_eq!(change.clusters, 2);
        assert!(compare(side("base", &base), &[side("other", &run("y", 1, &[("a", 1)]))]).is_none());
    }

    #[test]
    fn the_test_is_by_problem_and_the_smallest_change_is_told() {
        let names: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let with = |right: fn(u32) -> u32| {
            let of: Vec<(&str, u32)> =
                names.iter().zip(0..).map(|(name, i)| (name.as_str(), right(i))).collect();
            run("x", 8, &of)
        };
        let (base, better) = (with(|i| i % 7), with(|i| (i % 7) + 1));
        let found = compare(side("base", &base), &[side("better", &better)]).unwrap();
        let change = found.lines[1].change.unwrap();
        assert!((change.difference.value - 0.125).abs() < 1e-12 && change.p < 0.001, "{change:?}");
        assert!(change.smallest > 0.0);
        let same = compare(side("base", &base), &[side("same", &base)]).unwrap();
        assert!((same.lines[1].change.unwrap().p - 1.0).abs() < 1e-12);
    }
}
