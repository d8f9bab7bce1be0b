//! Compares a base model with the models trained from it, on the same problems.

use crate::score::{ProblemResult, Problems, by_dataset, ordered_datasets};
use aske_record::EvalRecord;
use aske_report::number::counted;
use aske_stats::{PairedComparison, paired, pass_at};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Seed of resampling for intervals and tests.
const SEED: u64 = 1;

/// A run to compare.
#[derive(Clone, Copy, Debug)]
pub struct ComparedRun<'r> {
    /// Name in tables.
    pub name: &'r str,
    /// The samples.
    pub records: &'r [EvalRecord],
}

/// A metric of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The probability that at least one of k samples is correct.
    Pass,
    /// The share of correct samples.
    Average,
}

impl Metric {
    /// Both, in table order.
    pub const BOTH: [Self; 2] = [Self::Pass, Self::Average];

    /// `pass@8`, or `pass@k`.
    pub fn name(self, k: impl std::fmt::Display) -> String {
        match self {
            Self::Pass => format!("pass@{k}"),
            Self::Average => format!("avg@{k}"),
        }
    }

    fn of(self, problem: &ProblemResult, k: u32) -> Option<f64> {
        match self {
            Self::Pass => pass_at(k, problem.right(), problem.count()),
            Self::Average => Some(problem.average()),
        }
    }
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// The dataset; `None` for all of them together.
    pub dataset: Option<String>,
    /// Name in tables.
    pub title: String,
    /// The metric.
    pub metric: Metric,
    /// The k of pass@k: samples that every problem has in every run. avg uses all samples.
    pub k: u32,
    /// Number of problems that every run has.
    pub problems: usize,
    /// Value of the base model.
    pub base: f64,
    /// Mean of the trained models.
    pub mean: f64,
    /// Sample standard deviation of the trained models; `None` for fewer than two.
    pub spread: Option<f64>,
    /// Value of each trained model.
    pub trained: Vec<f64>,
    /// Mean change per problem with a paired test; `None` for fewer than two problems.
    pub change: Option<PairedComparison>,
}

/// A base model compared with trained models.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelComparison {
    /// Name of the base model.
    pub base: String,
    /// Names of the trained models.
    pub trained: Vec<String>,
    /// Two rows per dataset, then two for all of them together if there are several.
    pub lines: Vec<ComparisonRow>,
    /// Number of problems left out by dataset, because a run has none or too few samples of them.
    pub left_out: BTreeMap<String, usize>,
    /// Differences in the protocol to the base model's run; set by the caller.
    pub differences: Vec<String>,
}

impl ModelComparison {
    /// Notes for the reader of the numbers.
    pub fn notes(&self) -> Vec<String> {
        let left_out = self.left_out.iter().map(|(dataset, count)| {
            let problems = counted(*count, "problem");
            format!("{problems} of {dataset} left out: not every run has enough samples.")
        });
        self.differences.iter().cloned().chain(left_out).collect()
    }
}

/// The shared problems of a dataset: the first run is the base model's, and all have the same problems in the same order.
struct Shared<'r> {
    name: String,
    title: String,
    /// Samples that each problem has in every run.
    k: u32,
    sides: Vec<Vec<&'r ProblemResult>>,
}

/// Compares on the problems that every run has; `None` if there are none.
pub fn compare(base: ComparedRun<'_>, trained: &[ComparedRun<'_>]) -> Option<ModelComparison> {
    let all = || std::iter::once(&base).chain(trained);
    let sides: Vec<BTreeMap<String, Problems>> = all().map(|side| by_dataset(side.records)).collect();
    let mut left_out = BTreeMap::new();
    let mut datasets: Vec<Shared<'_>> = Vec::new();
    for (name, title) in ordered_datasets(all().flat_map(|side| side.records)) {
        let of_sides: Vec<Option<&Problems>> = sides.iter().map(|side| side.get(&name)).collect();
        let every: BTreeSet<&String> =
            of_sides.iter().flatten().flat_map(|problems| problems.keys()).collect();
        let found = shared(&of_sides);
        let counted = found.as_ref().map_or(0, |(_, sides)| sides[0].len());
        if counted < every.len() {
            left_out.insert(name.clone(), every.len() - counted);
        }
        datasets.extend(found.map(|(k, sides)| Shared { name, title, k, sides }));
    }
    let mut lines: Vec<ComparisonRow> = Vec::new();
    for Shared { name, title, k, sides } in &datasets {
        lines.extend(Metric::BOTH.map(|metric| line(Some(name), title, metric, *k, sides)));
    }
    let k = datasets.iter().map(|dataset| dataset.k).min()?;
    if datasets.len() > 1 {
        let pooled: Vec<Vec<&ProblemResult>> = (0..sides.len())
            .map(|side| datasets.iter().flat_map(|dataset| dataset.sides[side].iter().copied()).collect())
            .collect();
        lines.extend(Metric::BOTH.map(|metric| line(None, "All problems", metric, k, &pooled)));
    }
    let names = trained.iter().map(|side| side.name.to_owned()).collect();
    let differences = Vec::new();
    Some(ModelComparison { base: base.name.to_owned(), trained: names, lines, left_out, differences })
}

/// The problems that every run has, and k: the number of samples that at least 95% of them have in every run. Problems
/// with fewer are left out, so that a single failure does not lower k for all.
fn shared<'r>(sides: &[Option<&'r Problems>]) -> Option<(u32, Vec<Vec<&'r ProblemResult>>)> {
    let sides: Vec<&Problems> = sides.iter().copied().collect::<Option<_>>()?;
    let samples =
        |problem: &String| sides.iter().map(|side| side.get(problem).map_or(0, ProblemResult::count)).min();
    let mut found: Vec<(u32, &String)> = sides[0]
        .keys()
        .filter_map(|problem| Some((samples(problem)?, problem)))
        .filter(|(k, _)| *k > 0)
        .collect();
    let mut counts: Vec<u32> = found.iter().map(|(samples, _)| *samples).collect();
    counts.sort_unstable();
    let k = *counts.get(counts.len() / 20)?;
    found.retain(|(samples, _)| *samples >= k);
    let of = |side: &&'r Problems| found.iter().filter_map(|(_, problem)| side.get(*problem)).collect();
    Some((k, sides.iter().map(of).collect()))
}

/// One row; the first run is the base model, and every run has the same problems in the same order, with k samples.
fn line(
    dataset: Option<&String>,
    title: &str,
    metric: Metric,
    k: u32,
    sides: &[Vec<&ProblemResult>],
) -> ComparisonRow {
    let shares: Vec<Vec<f64>> =
        sides.iter().map(|side| side.iter().filter_map(|problem| metric.of(problem, k)).collect()).collect();
    let means: Vec<f64> = shares.iter().map(|side| mean(side)).collect();
    let (base, trained) = (means[0], means[1..].to_vec());
    let change: Vec<Vec<f64>> = (0..shares[0].len())
        .map(|problem| {
            let after: Vec<f64> = shares[1..].iter().map(|side| side[problem]).collect();
            vec![mean(&after) - shares[0][problem]]
        })
        .collect();
    ComparisonRow {
        dataset: dataset.cloned(),
        title: title.to_owned(),
        metric,
        k,
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

/// The sample standard deviation.
fn spread(values: &[f64]) -> Option<f64> {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() as f64 - 1.0)).sqrt())
}

impl ComparisonRow {
    /// Whether a value is above the base model's.
    pub fn beats(&self, value: f64) -> bool {
        value > self.base + 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::tests::run;

    fn side<'r>(name: &'r str, records: &'r [EvalRecord]) -> ComparedRun<'r> {
        ComparedRun { name, records }
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
        assert_eq!((average.k, found.lines.len(), average.problems), (8, 2, 30));
        assert!(average.beats(average.mean) && !average.beats(average.base));
    }

    #[test]
    fn only_problems_that_every_run_has_count_and_the_others_are_reported() {
        let base = run("x", 4, &[("a", 4), ("b", 0), ("c", 1)]);
        let after = run("x", 4, &[("a", 4), ("b", 2)]);
        let found = compare(side("base", &base), &[side("after", &after)]).unwrap();
        assert_eq!((found.lines[0].problems, found.left_out["x"]), (2, 1));
        let change = found.lines[1].change.unwrap();
        assert!((change.difference.value - 0.25).abs() < 1e-12, "{change:?}");
        assert_eq!(change.clusters, 2);
        assert!(compare(side("base", &base), &[side("other", &run("y", 1, &[("a", 1)]))]).is_none());
        // Problems that only the base has, only the other has, and a dataset that only one has.
        let mut after = run("x", 4, &[("b", 4), ("d", 0), ("e", 0)]);
        after.extend(run("y", 4, &[("a", 4)]));
        let found = compare(side("base", &base), &[side("after", &after)]).unwrap();
        assert_eq!((found.lines[0].problems, found.left_out["x"], found.left_out["y"]), (1, 4, 1));
        assert!(found.notes()[0].starts_with("4 problems of x left out"), "{:?}", found.notes());
    }

    #[test]
    fn a_problem_that_failed_is_left_out_and_does_not_lower_every_k() {
        let names: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let all: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 4)).collect();
        let base = run("x", 8, &all);
        let mut after = run("x", 8, &all[1..]);
        after.extend(run("x", 1, &all[..1]));
        let found = compare(side("base", &base), &[side("after", &after)]).unwrap();
        assert_eq!((found.lines[0].k, found.lines[0].problems, found.left_out["x"]), (8, 39, 1));
        // Where many have fewer, k is theirs.
        let mut after = run("x", 8, &all[20..]);
        after.extend(run("x", 3, &all[..20]));
        let found = compare(side("base", &base), &[side("after", &after)]).unwrap();
        assert_eq!((found.lines[0].k, found.lines[0].problems, found.left_out.len()), (3, 40, 0));
    }

    #[test]
    fn the_test_is_by_problem_and_the_smallest_change_is_reported() {
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
