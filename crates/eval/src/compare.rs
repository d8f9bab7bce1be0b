//! Compares a base model with the models trained from it, on the same problems.

use crate::score::{ProblemResult, Problems, by_dataset, ordered_datasets};
use aske_record::EvalRecord;
use aske_report::number::counted;
use aske_stats::{PairedComparison, holm, paired, pass_at};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Seed of resampling for intervals and tests.
const SEED: u64 = 1;
/// Significance level.
const LEVEL: f64 = 0.05;

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
    /// The p-value of `change` after Holm's correction over the rows.
    pub p_holm: Option<f64>,
    /// The change of each trained model.
    pub trained_changes: Vec<Option<TrainedChange>>,
}

/// The change of one trained model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrainedChange {
    /// Mean change per problem with a paired test.
    #[serde(flatten)]
    pub paired: PairedComparison,
    /// Its p-value after Holm's correction over the rows and the trained models.
    pub p_holm: f64,
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
    /// Runs that are the base model's; set by the caller.
    pub warnings: Vec<String>,
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
        self.warnings.iter().chain(&self.differences).cloned().chain(left_out).collect()
    }
}

/// The shared problems of a dataset: the first run is the base model's, and all have the same problems in the same order.
struct SharedProblems<'r> {
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
    let mut datasets: Vec<SharedProblems<'_>> = Vec::new();
    for (name, title) in ordered_datasets(all().flat_map(|side| side.records)) {
        let of_sides: Vec<Option<&Problems>> = sides.iter().map(|side| side.get(&name)).collect();
        let every: BTreeSet<&String> =
            of_sides.iter().flatten().flat_map(|problems| problems.keys()).collect();
        let found = shared(&of_sides);
        let counted = found.as_ref().map_or(0, |(_, sides)| sides[0].len());
        if counted < every.len() {
            left_out.insert(name.clone(), every.len() - counted);
        }
        datasets.extend(found.map(|(k, sides)| SharedProblems { name, title, k, sides }));
    }
    let mut lines: Vec<ComparisonRow> = Vec::new();
    for SharedProblems { name, title, k, sides } in &datasets {
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
    correct(&mut lines);
    Some(ModelComparison {
        base: base.name.to_owned(),
        trained: names,
        lines,
        left_out,
        warnings: Vec::new(),
        differences: Vec::new(),
    })
}

/// Holm's correction: of the changes of the mean over the rows, and of those of single models over rows and models.
fn correct(lines: &mut [ComparisonRow]) {
    let means: Vec<&mut ComparisonRow> = lines.iter_mut().filter(|line| line.change.is_some()).collect();
    let p: Vec<f64> = means.iter().filter_map(|line| Some(line.change?.p)).collect();
    for (line, p_holm) in means.into_iter().zip(holm(&p)) {
        line.p_holm = Some(p_holm);
    }
    let single: Vec<&mut TrainedChange> =
        lines.iter_mut().flat_map(|line| line.trained_changes.iter_mut().flatten()).collect();
    let p: Vec<f64> = single.iter().map(|change| change.paired.p).collect();
    for (change, p_holm) in single.into_iter().zip(holm(&p)) {
        change.p_holm = p_holm;
    }
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
    // Against the mean of these runs, problem by problem.
    let change = |after: &[Vec<f64>]| {
        let of = |problem: usize| mean(&after.iter().map(|side| side[problem]).collect::<Vec<_>>());
        let changes: Vec<Vec<f64>> =
            (0..shares[0].len()).map(|problem| vec![of(problem) - shares[0][problem]]).collect();
        paired(&changes, SEED)
    };
    let single = |side: &Vec<f64>| {
        let paired = change(std::slice::from_ref(side))?;
        Some(TrainedChange { paired, p_holm: paired.p })
    };
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
        change: change(&shares[1..]),
        p_holm: None,
        trained_changes: shares[1..].iter().map(single).collect(),
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
    /// Whether the mean of the trained models is significantly above the base model.
    pub fn mean_is_better(&self) -> bool {
        self.mean > self.base && self.p_holm.is_some_and(|p| p < LEVEL)
    }

    /// Whether one trained model is significantly above the base model.
    pub fn is_better(&self, trained: usize) -> bool {
        let change = self.trained_changes.get(trained).copied().flatten();
        change.is_some_and(|change| change.paired.difference.value > 0.0 && change.p_holm < LEVEL)
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
        // 3 points over 30 problems: every mean is above the base, but seed 1 by one answer of 240.
        assert!(average.mean_is_better() && !average.is_better(1), "{average:?}");
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
    fn better_is_what_the_corrected_tests_support() {
        let names: Vec<String> = (0..6).map(|i| i.to_string()).collect();
        let side_of = |right: fn(u32) -> u32| {
            let of: Vec<(&str, u32)> =
                names.iter().zip(0..).map(|(name, i)| (name.as_str(), right(i))).collect();
            run("x", 8, &of)
        };
        let (base, better) = (side_of(|_| 0), side_of(|i| i % 2 + 3));
        let one = compare(side("base", &base), &[side("one", &better)]).unwrap();
        // Six problems, all better: p = 2/2⁶ = 0.03125, for pass@8 and for avg@8; Holm doubles it.
        let [pass, average] = &one.lines[..] else { panic!("{one:?}") };
        for line in [pass, average] {
            assert!((line.change.unwrap().p - 0.031_25).abs() < 1e-12, "{line:?}");
            assert!((line.p_holm.unwrap() - 0.062_5).abs() < 1e-12, "{line:?}");
            assert!(!line.mean_is_better() && !line.is_better(0), "above the base, but not beyond chance");
        }
        // Twelve problems: 2/2¹², times 4 tests of two models.
        let twelve: Vec<String> = (0..12).map(|i| i.to_string()).collect();
        let of =
            |right: u32| -> Vec<(&str, u32)> { twelve.iter().map(|name| (name.as_str(), right)).collect() };
        let (base, better) = (run("x", 8, &of(1)), run("x", 8, &of(4)));
        let two = compare(side("base", &base), &[side("one", &better), side("two", &base)]).unwrap();
        let average = &two.lines[1];
        assert!(average.mean_is_better() && average.is_better(0) && !average.is_better(1));
        let p_holm = average.trained_changes[0].unwrap().p_holm;
        assert!((p_holm - 4.0 * 2.0 / 4096.0).abs() < 1e-12, "{p_holm}");
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
