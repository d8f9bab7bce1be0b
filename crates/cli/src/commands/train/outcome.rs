//! What came of a training: a table of before and after.

use super::folder_of;
use super::measure::Measures;
use super::picture::{mean, picture};
use crate::evidence::{points, share};
use crate::output::{BOLD, DIM, data, hint, note, paint};
use crate::problem::Problem;
use crate::tables::{percent, table};
use aske_evidence::{Evidence, Run, Share, Tally, evidence};
use aske_nano::understand;
use aske_session::Outcome;
use aske_stats::{Estimate, paired};
use aske_train::reinforce::{Exam, Line, read_metrics};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// One measurement of an asker.
#[derive(Debug, Serialize)]
struct Measured {
    name: String,
    calibrated: Option<Estimate>,
    /// Less what it was before.
    gain: Option<Estimate>,
    /// Different final questions, as a share of all.
    distinct: f64,
    /// The share of sessions whose final question the oracle can answer.
    valid: f64,
    /// How often its own judgement was the oracle's, over the last steps of training.
    judge: Option<f64>,
    avg: Option<f64>,
    avg_gain: Option<Estimate>,
    pass: Option<f64>,
}

/// What was measured. The start comes last, so that a difference is what a training has gained.
struct Found {
    runs: Vec<Run>,
    told: Evidence,
    exams: Vec<Option<Exam>>,
}

impl Found {
    fn read(measures: &Measures, seeds: &[u64]) -> Result<Self, Problem> {
        let after = seeds.iter().map(|seed| measures.folder_after(*seed));
        let folders: Vec<PathBuf> = after.chain([measures.folder_before()]).collect();
        let runs = folders.iter().map(|folder| Run::read(folder, None)).collect::<Result<Vec<_>, _>>()?;
        let told = evidence(&runs)?;
        Ok(Self { runs, told, exams: folders.iter().map(|folder| Exam::read(folder)).collect() })
    }

    /// The place of the start.
    fn start(&self) -> usize {
        self.runs.len() - 1
    }
}

/// Steps over which the end of a training is averaged.
const LAST: usize = 5;

/// Shows the table, and writes it beside the runs.
pub(super) fn show(
    place: &Path,
    seeds: &[u64],
    measures: Option<&Measures>,
    json: bool,
) -> Result<(), Problem> {
    let learnt: Vec<(u64, Vec<Line>)> = seeds
        .iter()
        .map(|seed| (*seed, read_metrics(&folder_of(place, *seed)).unwrap_or_default()))
        .collect();
    let curves = place.join("curves.svg");
    write(&curves, &picture(&learnt))?;
    note(format_args!("the curves: {}", curves.display()));
    let Some(measures) = measures else {
        if json {
            data(serde_json::json!(learnt));
        }
        return Ok(());
    };
    let found = Found::read(measures, seeds)?;
    let mut rows = vec![measured("before".to_owned(), &found, found.start(), &[])];
    for (at, (seed, lines)) in learnt.iter().enumerate() {
        rows.push(measured(format!("seed {seed}"), &found, at, lines));
    }
    if seeds.len() > 1 {
        rows.push(pooled(&found, &rows));
    }
    let text = serde_json::to_string_pretty(&rows).unwrap_or_default();
    write(&place.join("result.json"), &text)?;
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
        "`aske view {}` reads the rollouts, `aske report {} {}` compares",
        folder_of(place, seeds[0]).display(),
        measures.folder_before().display(),
        measures.folder_after(seeds[0]).display()
    ));
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(file, text)
        .map_err(|error| Problem::usage(format!("{}: {error}", file.display()), "is the disk full?"))
}

/// All seeds together. Sessions of one pair, and answers to one question, stay together.
fn pooled(found: &Found, rows: &[Measured]) -> Measured {
    let (before, after) = (&found.runs[found.start()], &found.runs[..found.start()]);
    let mut tally = Tally::default();
    for run in after {
        for session in &run.sessions {
            if let Some(grade) = &session.grade {
                tally.add(&run.pair(session), session.sample, grade);
            }
        }
    }
    let exams: Vec<&Exam> = found.exams[..found.start()].iter().flatten().collect();
    let each = |value: fn(&Measured) -> Option<f64>| mean(rows.iter().skip(1).filter_map(value));
    Measured {
        name: "pooled".to_owned(),
        calibrated: calibration(&tally.shares()),
        gain: aske_evidence::pooled(after, before).map(|paired| paired.difference),
        distinct: each(|row| Some(row.distinct)).unwrap_or_default(),
        valid: each(|row| Some(row.valid)).unwrap_or_default(),
        judge: each(|row| row.judge),
        avg: each(|row| row.avg),
        avg_gain: found.exams[found.start()].as_ref().and_then(|before| exam_gain(&exams, before)),
        pass: each(|row| row.pass),
    }
}

/// The run at this place.
fn measured(name: String, found: &Found, at: usize, lines: &[Line]) -> Measured {
    let Found { runs, told, exams } = found;
    let gain = told.comparisons.iter().find(|comparison| comparison.runs == [at, found.start()]);
    let questions: Vec<&str> =
        runs[at].sessions.iter().filter_map(|session| session.question.as_deref()).collect();
    let different: HashSet<&str> = questions.iter().copied().collect();
    let valid =
        questions.iter().filter(|text| understand(text).and_then(|question| question.answer()).is_some());
    let count = runs[at].sessions.len().max(1) as f64;
    let before = exams[found.start()].as_ref().filter(|_| at != found.start());
    let exam = exams[at].as_ref();
    Measured {
        name,
        calibrated: calibration(&told.runs[at].outcomes),
        gain: gain.map(|comparison| comparison.paired.difference),
        distinct: different.len() as f64 / count,
        valid: valid.count() as f64 / count,
        judge: mean(lines.iter().rev().take(LAST).filter_map(|line| line.truth)),
        avg: exam.map(Exam::average),
        avg_gain: exam.zip(before).and_then(|(after, before)| exam_gain(&[after], before)),
        pass: exam.map(Exam::passed),
    }
}

/// The calibrated share with its interval over pairs.
fn calibration(shares: &[Share]) -> Option<Estimate> {
    let share = shares.iter().find(|share| share.outcome == Outcome::Calibrated)?;
    Some(Estimate { value: share.rate, interval: share.over_pairs? })
}

/// The gain in right answers, question by question.
fn exam_gain(after: &[&Exam], before: &Exam) -> Option<Estimate> {
    let share = |exam: &Exam, at: usize| {
        exam.questions.get(at).map(|(_, right)| f64::from(*right) / f64::from(exam.samples.max(1)))
    };
    let gains = |at| {
        let then = share(before, at)?;
        Some(after.iter().filter_map(|exam| Some(share(exam, at)? - then)).collect())
    };
    let clusters: Vec<Vec<f64>> = (0..before.questions.len()).filter_map(gains).collect();
    Some(paired(&clusters, 0)?.difference)
}
