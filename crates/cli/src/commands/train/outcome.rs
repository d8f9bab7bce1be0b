//! The results of a training: a table of before and after.

use super::measure::Measures;
use super::picture::{mean, picture};
use super::seed_folder;
use crate::display::evidence::{points, share};
use crate::display::tables::table;
use crate::error::CliError;
use crate::output::{BOLD, DIM, data, hint, note, paint, write};
use aske_evidence::{Evidence, Run, Share, Tally, evidence};
use aske_nano::parse_question;
use aske_report::number::percent;
use aske_session::Outcome;
use aske_stats::{Estimate, paired};
use aske_train::reinforce::{HeldOutEval, StepMetrics, read_metrics};
use aske_train::trackers::Measurement;
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// One measurement of an asker.
#[derive(Debug, Serialize)]
struct Measured {
    name: String,
    calibrated: Option<Estimate>,
    /// Difference to the measurement before training.
    gain: Option<Estimate>,
    /// Share of distinct final questions.
    distinct: f64,
    /// The share of sessions whose final question the oracle can answer.
    valid: f64,
    /// How often its own cross-check agreed with the oracle, over the last steps of training.
    judge: Option<f64>,
    avg: Option<f64>,
    avg_gain: Option<Estimate>,
    pass: Option<f64>,
}

/// The measurements: one run per seed, then the run before training, so that comparisons give gains.
struct Measurements {
    runs: Vec<Run>,
    evidence: Evidence,
    exams: Vec<Option<HeldOutEval>>,
}

impl Measurements {
    fn read(measures: &Measures, seeds: &[u64]) -> Result<Self, CliError> {
        let after = seeds.iter().map(|seed| measures.folder_after(*seed));
        let folders: Vec<PathBuf> = after.chain([measures.folder_before()]).collect();
        let runs = folders.iter().map(|folder| Run::read(folder, None)).collect::<Result<Vec<_>, _>>()?;
        let evidence = evidence(&runs);
        Ok(Self { runs, evidence, exams: folders.iter().map(|folder| HeldOutEval::read(folder)).collect() })
    }

    /// The index of the run before training.
    fn before(&self) -> usize {
        self.runs.len() - 1
    }
}

/// A number of a measurement.
type Value = fn(&Measured) -> Option<f64>;

/// The measurements before and after training with a seed, for trackers.
pub(super) fn benchmark(measures: &Measures, seed: u64) -> Result<Vec<Measurement>, CliError> {
    let found = Measurements::read(measures, &[seed])?;
    let [after, before] = [0, found.before()].map(|at| measured(String::new(), &found, at, &[]));
    let each: [(&str, Value); 7] = [
        ("calibrated", |row| row.calibrated.map(|estimate| estimate.value)),
        ("calibrated_gain", |row| row.gain.map(|estimate| estimate.value)),
        ("distinct", |row| Some(row.distinct)),
        ("valid", |row| Some(row.valid)),
        ("avg", |row| row.avg),
        ("avg_gain", |row| row.avg_gain.map(|estimate| estimate.value)),
        ("pass", |row| row.pass),
    ];
    let measurement = |(name, value): (&str, Value)| Measurement {
        name: name.to_owned(),
        before: value(&before),
        after: value(&after),
    };
    Ok(each.into_iter().map(measurement).collect())
}

/// Steps over which the end of a training is averaged.
const LAST: usize = 5;

/// Shows the table and writes it next to the runs.
pub(super) fn show(
    root: &Path,
    seeds: &[u64],
    measures: Option<&Measures>,
    json: bool,
) -> Result<(), CliError> {
    let learnt: Vec<(u64, Vec<StepMetrics>)> = seeds
        .iter()
        .map(|seed| (*seed, read_metrics(&seed_folder(root, *seed)).unwrap_or_default()))
        .collect();
    let curves = root.join("curves.svg");
    write(&curves, picture(&learnt))?;
    note(format_args!("curves written to {}", curves.display()));
    let Some(measures) = measures else {
        if json {
            data(serde_json::json!(learnt));
        }
        return Ok(());
    };
    let found = Measurements::read(measures, seeds)?;
    let mut rows = vec![measured("before".to_owned(), &found, found.before(), &[])];
    for (at, (seed, lines)) in learnt.iter().enumerate() {
        rows.push(measured(format!("seed {seed}"), &found, at, lines));
    }
    if seeds.len() > 1 {
        rows.push(pooled(&found, &rows));
    }
    let text = serde_json::to_string_pretty(&rows).unwrap_or_default();
    write(&root.join("result.json"), &text)?;
    if json {
        data(text);
        return Ok(());
    }
    let mut shown = table(
        &[
            "",
            "calibrated",
            "gain, points",
            "distinct",
            "valid",
            "own judge right",
            "avg@8",
            "gain, points",
            "pass@8",
        ],
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    let maybe = |share: Option<f64>| share.map(percent).unwrap_or_default();
    for row in &rows {
        shown.add_row([
            row.name.clone(),
            row.calibrated.map(share).unwrap_or_default(),
            row.gain.map(points).unwrap_or_default(),
            percent(row.distinct),
            percent(row.valid),
            maybe(row.judge),
            maybe(row.avg),
            row.avg_gain.map(points).unwrap_or_default(),
            maybe(row.pass),
        ]);
    }
    data(format_args!("{}\n{shown}", paint(BOLD, "Before and after")));
    note(paint(
        DIM,
        "calibration by the benchmark with a fixed cross-check solver on all pairs; avg@8 and pass@8 on held-out questions",
    ));
    hint(format_args!(
        "`aske report {} {}` compares the runs",
        measures.folder_before().display(),
        measures.folder_after(seeds[0]).display()
    ));
    Ok(())
}

/// All seeds together; clustered by pair and by question.
fn pooled(found: &Measurements, rows: &[Measured]) -> Measured {
    let (before, after) = (&found.runs[found.before()], &found.runs[..found.before()]);
    let mut tally = Tally::default();
    for run in after {
        for session in &run.sessions {
            if let Some(grade) = &session.grade {
                tally.add(&run.pair(session), session.sample, grade);
            }
        }
    }
    let exams: Vec<&HeldOutEval> = found.exams[..found.before()].iter().flatten().collect();
    let each = |value: fn(&Measured) -> Option<f64>| mean(rows.iter().skip(1).filter_map(value));
    Measured {
        name: "pooled".to_owned(),
        calibrated: calibration(&tally.shares()),
        gain: aske_evidence::pooled(after, before).map(|paired| paired.difference),
        distinct: each(|row| Some(row.distinct)).unwrap_or_default(),
        valid: each(|row| Some(row.valid)).unwrap_or_default(),
        judge: each(|row| row.judge),
        avg: each(|row| row.avg),
        avg_gain: found.exams[found.before()].as_ref().and_then(|before| exam_gain(&exams, before)),
        pass: each(|row| row.pass),
    }
}

/// The measurement of one run.
fn measured(name: String, found: &Measurements, at: usize, lines: &[StepMetrics]) -> Measured {
    let Measurements { runs, evidence, exams } = found;
    let gain = evidence.comparisons.iter().find(|comparison| comparison.runs == [at, found.before()]);
    let questions: Vec<&str> =
        runs[at].sessions.iter().filter_map(|session| session.question.as_deref()).collect();
    let different: HashSet<&str> = questions.iter().copied().collect();
    let valid =
        questions.iter().filter(|text| parse_question(text).and_then(|question| question.answer()).is_some());
    let count = runs[at].sessions.len().max(1) as f64;
    let before = exams[found.before()].as_ref().filter(|_| at != found.before());
    let exam = exams[at].as_ref();
    Measured {
        name,
        calibrated: calibration(&evidence.runs[at].outcomes),
        gain: gain.map(|comparison| comparison.paired.difference),
        distinct: different.len() as f64 / count,
        valid: valid.count() as f64 / count,
        judge: mean(lines.iter().rev().take(LAST).filter_map(|line| line.truth)),
        avg: exam.map(HeldOutEval::mean_accuracy),
        avg_gain: exam.zip(before).and_then(|(after, before)| exam_gain(&[after], before)),
        pass: exam.map(HeldOutEval::pass_rate),
    }
}

/// The calibrated share with its interval over pairs; of a single pair, over its sessions.
fn calibration(shares: &[Share]) -> Option<Estimate> {
    let share = shares.iter().find(|share| share.outcome == Outcome::Calibrated)?;
    Some(Estimate { value: share.rate, interval: share.over_pairs.or(share.these_pairs)? })
}

/// The gain in correct answers, paired by question.
fn exam_gain(after: &[&HeldOutEval], before: &HeldOutEval) -> Option<Estimate> {
    let share = |exam: &HeldOutEval, at: usize| {
        exam.questions.get(at).map(|(_, right)| f64::from(*right) / f64::from(exam.samples.max(1)))
    };
    let gains = |at| {
        let then = share(before, at)?;
        Some(after.iter().filter_map(|exam| Some(share(exam, at)? - then)).collect())
    };
    let clusters: Vec<Vec<f64>> = (0..before.questions.len()).filter_map(gains).collect();
    Some(paired(&clusters, 0)?.difference)
}
