//! What came of a training: a table of before and after.

use super::folder_of;
use super::measure::Measures;
use crate::evidence::{points, share};
use crate::output::{BOLD, DIM, data, hint, note, paint};
use crate::problem::Problem;
use crate::tables::{percent, table};
use aske_evidence::{Evidence, Run, RunEvidence, evidence};
use aske_nano::understand;
use aske_record::{Contents, Record};
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

/// Steps over which the end of a training is averaged.
const LAST: usize = 5;

/// Shows the table, and writes it beside the runs.
pub(super) fn show(
    place: &Path,
    seeds: &[u64],
    measures: Option<&Measures>,
    json: bool,
) -> Result<(), Problem> {
    let Some(measures) = measures else {
        if json {
            let lines: Vec<(u64, Vec<Line>)> =
                seeds.iter().map(|seed| (*seed, lines(place, *seed))).collect();
            data(serde_json::json!(lines));
        }
        return Ok(());
    };
    // The start comes last among the runs, so that a difference is what a training has gained.
    let before = measures.folder_before();
    let mut folders: Vec<PathBuf> = seeds.iter().map(|seed| measures.folder_after(*seed)).collect();
    folders.push(before.clone());
    let runs = folders.iter().map(|folder| Run::read(folder, None)).collect::<Result<Vec<_>, _>>()?;
    let told = evidence(&runs)?;
    let mut rows = vec![measured("before", &told, seeds.len(), &folders, &[])?];
    for (at, seed) in seeds.iter().enumerate() {
        rows.push(measured(&format!("seed {seed}"), &told, at, &folders, &lines(place, *seed))?);
    }
    let text = serde_json::to_string_pretty(&rows).unwrap_or_default();
    let file = place.join("result.json");
    std::fs::write(&file, &text)
        .map_err(|error| Problem::usage(format!("{}: {error}", file.display()), "is the disk full?"))?;
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
        before.display(),
        measures.folder_after(seeds[0]).display()
    ));
    Ok(())
}

fn lines(place: &Path, seed: u64) -> Vec<Line> {
    read_metrics(&folder_of(place, seed)).unwrap_or_default()
}

/// The run at this place; the last one is the start.
fn measured(
    name: &str,
    told: &Evidence,
    at: usize,
    folders: &[PathBuf],
    lines: &[Line],
) -> Result<Measured, Problem> {
    let (start, folder) = (folders.len() - 1, &folders[at]);
    let before = (at != start).then(|| &folders[start]);
    let gain = told.comparisons.iter().find(|comparison| comparison.runs == [at, start]);
    let contents = Contents::read(folder)?;
    let questions: Vec<Option<&str>> = contents
        .records
        .iter()
        .filter_map(Record::session)
        .map(|session| session.transcript.answers().question)
        .collect();
    let different: HashSet<&str> = questions.iter().flatten().copied().collect();
    let valid = questions
        .iter()
        .flatten()
        .filter(|text| understand(text).and_then(|question| question.answer()).is_some());
    let count = questions.len().max(1) as f64;
    let exams = (Exam::read(folder), before.and_then(|before| Exam::read(before)));
    let judged: Vec<f64> = lines.iter().rev().take(LAST).filter_map(|line| line.truth).collect();
    Ok(Measured {
        name: name.to_owned(),
        calibrated: calibration(&told.runs[at]),
        gain: gain.map(|comparison| comparison.paired.difference),
        distinct: different.len() as f64 / count,
        valid: valid.count() as f64 / count,
        judge: (!judged.is_empty()).then(|| judged.iter().sum::<f64>() / judged.len() as f64),
        avg: exams.0.as_ref().map(Exam::average),
        avg_gain: exams.0.as_ref().zip(exams.1.as_ref()).and_then(|(after, before)| exam_gain(after, before)),
        pass: exams.0.as_ref().map(Exam::passed),
    })
}

/// The calibrated share with its interval over pairs.
fn calibration(run: &RunEvidence) -> Option<Estimate> {
    let share = run.outcomes.iter().find(|share| share.outcome == Outcome::Calibrated)?;
    Some(Estimate { value: share.rate, interval: share.over_pairs? })
}

/// The gain in right answers, question by question.
fn exam_gain(after: &Exam, before: &Exam) -> Option<Estimate> {
    let each = after.questions.iter().zip(&before.questions);
    let share = |right: u32| f64::from(right) / f64::from(after.samples.max(1));
    let clusters: Vec<Vec<f64>> =
        each.map(|((_, after), (_, before))| vec![share(*after) - share(*before)]).collect();
    Some(paired(&clusters, 0)?.difference)
}
