//! pass@k and avg@n of a run, by dataset, by level and over all datasets.

use crate::Declaration;
use aske_record::EvalRecord;
use aske_stats::{Interval, mean_share, pass_at};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The samples of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProblemResult {
    /// Difficulty level, if the dataset has levels.
    pub(crate) level: Option<u32>,
    /// Whether each sample is correct.
    pub(crate) samples: BTreeMap<u32, bool>,
}

impl ProblemResult {
    /// Number of samples.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.samples.len()).unwrap_or(u32::MAX)
    }

    /// Number of correct samples.
    pub(crate) fn right(&self) -> u32 {
        u32::try_from(self.samples.values().filter(|right| **right).count()).unwrap_or(u32::MAX)
    }

    /// The share of correct samples.
    pub(crate) fn average(&self) -> f64 {
        f64::from(self.right()) / f64::from(self.count().max(1))
    }
}

/// The problems of one dataset, by name.
pub(crate) type Problems = BTreeMap<String, ProblemResult>;

/// The problems of every dataset, by the dataset's name.
pub(crate) fn by_dataset<'r>(
    records: impl IntoIterator<Item = &'r EvalRecord>,
) -> BTreeMap<String, Problems> {
    let mut datasets: BTreeMap<String, Problems> = BTreeMap::new();
    for record in records {
        let problems = datasets.entry(record.dataset.clone()).or_default();
        let problem = problems
            .entry(record.problem.clone())
            .or_insert_with(|| ProblemResult { level: record.level, samples: BTreeMap::new() });
        problem.samples.insert(record.sample, record.right);
    }
    datasets
}

/// A mean over problems. Its interval is clustered by problem, as samples of one problem are correlated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The mean.
    pub value: f64,
    /// 95% interval; `None` for fewer than two problems.
    pub interval: Option<Interval>,
}

impl Rate {
    /// The mean of one share per problem; `samples` is their total number. `None` without problems.
    pub(crate) fn of(shares: &[f64], samples: u64) -> Option<Self> {
        if shares.is_empty() {
            return None;
        }
        let value = shares.iter().sum::<f64>() / shares.len() as f64;
        Some(Self { value, interval: mean_share(shares, samples as f64).map(|estimate| estimate.interval) })
    }
}

/// The scores of some problems.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Number of problems with a sample.
    pub problems: usize,
    /// Number of samples.
    pub samples: u64,
    /// Fewest samples of a problem.
    pub fewest: u32,
    /// Most samples of a problem: the n of avg@n.
    pub most: u32,
    /// avg@n: the share of correct samples, averaged over problems.
    pub average: Option<Rate>,
    /// pass@k for every k from 1 to the fewest samples, so that every k covers all problems.
    pub pass: Vec<Rate>,
}

impl Score {
    /// The scores of these problems.
    pub(crate) fn of<'t>(problems: impl Iterator<Item = &'t ProblemResult>) -> Self {
        let problems: Vec<&ProblemResult> = problems.collect();
        let counts = || problems.iter().map(|problem| problem.count());
        let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        let samples = counts().map(u64::from).sum();
        let averages: Vec<f64> = problems.iter().map(|problem| problem.average()).collect();
        let pass = |k: u32| {
            let shares: Vec<f64> =
                problems.iter().filter_map(|problem| pass_at(k, problem.right(), problem.count())).collect();
            Rate::of(&shares, samples)
        };
        Self {
            problems: averages.len(),
            samples,
            fewest,
            most,
            average: Rate::of(&averages, samples),
            pass: (1..=fewest).map_while(pass).collect(),
        }
    }
}

/// The scores of a dataset, with counts of unusual samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DatasetScore {
    /// The name of the dataset.
    pub dataset: String,
    /// Name in tables.
    pub title: String,
    /// The scores.
    #[serde(flatten)]
    pub score: Score,
    /// Scores by level, if the dataset has levels.
    pub levels: BTreeMap<u32, Score>,
    /// Samples truncated at the token limit.
    pub capped: u64,
    /// Samples without a boxed answer.
    pub unboxed: u64,
    /// Samples graded by the judge.
    pub judged: u64,
    /// Samples whose answer is too long or too deeply nested to compare; they count as wrong.
    pub undecided: u64,
    /// Mean completion tokens of a sample.
    pub tokens: f64,
}

/// The scores of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// The model.
    pub model: String,
    /// Scores by dataset, in table order.
    pub datasets: Vec<DatasetScore>,
    /// Scores over all problems, if there are several datasets.
    pub pooled: Option<Score>,
}

/// The scores of these records.
pub fn scores(records: &[EvalRecord]) -> Scores {
    let problems = by_dataset(records);
    let datasets: Vec<DatasetScore> = ordered_datasets(records)
        .into_iter()
        .filter_map(|(name, title)| Some(dataset(&name, title, problems.get(&name)?, records)))
        .collect();
    let pooled = (datasets.len() > 1).then(|| Score::of(problems.values().flat_map(BTreeMap::values)));
    let model = records.first().map(|record| record.model.clone()).unwrap_or_default();
    Scores { model, datasets, pooled }
}

fn dataset(name: &str, title: String, problems: &Problems, records: &[EvalRecord]) -> DatasetScore {
    let levels: BTreeSet<u32> = problems.values().filter_map(|problem| problem.level).collect();
    let of_level = |level| Score::of(problems.values().filter(move |problem| problem.level == Some(level)));
    let own = || records.iter().filter(|record| record.dataset == name);
    let count = |test: fn(&EvalRecord) -> bool| own().filter(|record| test(record)).count() as u64;
    let written: u64 = own().map(EvalRecord::completion_tokens).sum();
    DatasetScore {
        dataset: name.to_owned(),
        title,
        score: Score::of(problems.values()),
        levels: levels.into_iter().map(|level| (level, of_level(level))).collect(),
        capped: count(EvalRecord::is_capped),
        unboxed: count(|record| !record.boxed),
        judged: count(|record| record.by == "judge"),
        undecided: count(|record| record.by == "bounds"),
        tokens: written as f64 / own().count().max(1) as f64,
    }
}

/// Datasets with their titles: the built-in ones in table order, then the others by name.
pub(crate) fn ordered_datasets<'r>(
    records: impl IntoIterator<Item = &'r EvalRecord>,
) -> Vec<(String, String)> {
    let known = Declaration::builtin().unwrap_or_default();
    let place = |name: &str| known.iter().position(|dataset| dataset.name == name).unwrap_or(known.len());
    let titled: BTreeMap<(usize, &str), Option<&str>> = records
        .into_iter()
        .map(|record| ((place(&record.dataset), &*record.dataset), record.title.as_deref()))
        .collect();
    let title = |place: usize, name| known.get(place).map_or(name, Declaration::title);
    let named = titled.into_iter().map(|((place, name), own)| (name, own.unwrap_or(title(place, name))));
    named.map(|(name, title)| (name.to_owned(), title.to_owned())).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use aske_chat::Finish;
    use aske_session::SolverAnswer;

    /// A sample.
    pub(crate) fn record(dataset: &str, problem: &str, sample: u32, right: bool) -> EvalRecord {
        EvalRecord {
            schema: aske_record::SCHEMA,
            dataset: dataset.to_owned(),
            title: None,
            problem: problem.to_owned(),
            sample,
            level: Some(1 + u32::from(problem.len() > 1)),
            model: "m".to_owned(),
            question: "q".to_owned(),
            reference: "1".to_owned(),
            solved: SolverAnswer { answer: Some("1".to_owned()), finish: Finish::Stop },
            boxed: true,
            right,
            by: "exact".to_owned(),
            comparison: None,
            used: BTreeMap::new(),
        }
    }

    /// A run with this many samples per problem, of which the given number are correct.
    pub(crate) fn run(dataset: &str, samples: u32, right: &[(&str, u32)]) -> Vec<EvalRecord> {
        let of = |(problem, right): &(&str, u32)| {
            (0..samples).map(|sample| record(dataset, problem, sample, sample < *right)).collect::<Vec<_>>()
        };
        right.iter().flat_map(of).collect()
    }

    #[test]
    fn the_papers_two_metrics_follow_from_the_counts() {
        let records = run("aime-2025", 8, &[("1", 0), ("2", 1), ("3", 8), ("4", 3)]);
        let scores = scores(&records);
        let [dataset] = scores.datasets.as_slice() else { panic!("{scores:?}") };
        // 12 of 32 samples, and 3 of 4 problems at least once.
        assert!((dataset.score.average.unwrap().value - 12.0 / 32.0).abs() < 1e-12);
        assert!((dataset.score.pass[7].value - 0.75).abs() < 1e-12);
        assert!((dataset.score.pass[0].value - 12.0 / 32.0).abs() < 1e-12, "pass@1 is avg@n");
        assert_eq!((dataset.score.pass.len(), dataset.title.as_str()), (8, "AIME 2025"));
        assert!(scores.pooled.is_none());
        let rates = dataset.score.pass.windows(2).all(|pair| pair[0].value <= pair[1].value + 1e-12);
        assert!(rates, "more samples never pass less");
    }

    #[test]
    fn the_pool_counts_problems_and_not_datasets() {
        let mut records = run("hmmt-feb-2025", 2, &[("1", 2)]);
        records.extend(run("aime-2025", 2, &[("1", 0), ("2", 0), ("3", 0)]));
        let scores = scores(&records);
        assert_eq!(scores.datasets[0].dataset, "aime-2025", "in the order of tables");
        assert!((scores.pooled.unwrap().average.unwrap().value - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_k_that_only_some_problems_have_is_not_shown() {
        let mut records = run("x", 4, &[("a", 4)]);
        records.extend(run("x", 2, &[("bb", 0)]));
        // The same sample again, as a damaged file may have it.
        records.push(record("x", "bb", 1, false));
        let score = &scores(&records).datasets[0];
        let values: Vec<f64> = score.score.pass.iter().map(|rate| rate.value).collect();
        assert_eq!(values, [0.5, 0.5]);
        assert_eq!((score.score.samples, score.score.fewest, score.score.most), (6, 2, 4));
        assert_eq!(score.levels.keys().copied().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn the_interval_is_that_of_problems() {
        // All samples of a problem agree: the interval is as wide as that of 20 trials, not of 160.
        let names: Vec<String> = (0..20).map(|i| i.to_string()).collect();
        let right: Vec<(&str, u32)> =
            names.iter().zip(0_u32..).map(|(name, i)| (name.as_str(), 8 * (i % 2))).collect();
        let interval = scores(&run("x", 8, &right)).datasets[0].score.average.unwrap().interval.unwrap();
        assert!(interval.high - interval.low > 0.35, "{interval:?}");
    }
}
