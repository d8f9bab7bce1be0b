//! What came of a training: a table of before and after.

use super::folder_of;
use super::measure::Measures;
use crate::evidence::{points, share};
use crate::output::{BOLD, DIM, data, hint, note, paint};
use crate::problem::Problem;
use crate::tables::{percent, table};
use aske_evidence::{Evidence, Run, RunEvidence, Session, evidence};
use aske_nano::understand;
use aske_record::{Contents, Record};
use aske_report::{Panel, curves};
use aske_session::Outcome;
use aske_stats::{Estimate, clustered, paired};
use aske_train::reinforce::{Exam, Line, read_metrics};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::slice;

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
    let curves = place.join("curves.svg");
    write(&curves, &picture(&seeds.iter().map(|seed| (*seed, lines(place, *seed))).collect::<Vec<_>>()))?;
    note(format_args!("the curves: {}", curves.display()));
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
    if seeds.len() > 1 {
        rows.push(pooled(&runs, &folders, &rows));
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
        before.display(),
        measures.folder_after(seeds[0]).display()
    ));
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(file, text)
        .map_err(|error| Problem::usage(format!("{}: {error}", file.display()), "is the disk full?"))
}

/// A share that a step has.
type Share = fn(&Line) -> Option<f64>;

/// What the trainings aim at, seed by seed, and what the watch saw, as a mean over the seeds.
fn picture(seeds: &[(u64, Vec<Line>)]) -> String {
    let fixed = seeds.iter().flat_map(|(_, lines)| lines).any(|line| line.fixed_calibrated.is_some());
    let aim = |line: &Line| if fixed { line.fixed_calibrated } else { Some(line.calibrated) };
    let judge = if fixed { "by the fixed check" } else { "by its own judge" };
    let series = seeds.iter().map(|(seed, lines)| {
        (format!("seed {seed}"), lines.iter().filter_map(|line| Some((line.step, aim(line)?))).collect())
    });
    let aimed = Panel { title: format!("Calibrated questions, {judge}"), series: series.collect() };
    let watched: [(&str, Share); 4] = [
        ("distinct questions", |line| Some(line.distinct)),
        ("own judge right, by the oracle", |line| line.truth),
        ("valid questions", |line| Some(line.valid)),
        ("own judge agrees with the fixed check", |line| line.agreement),
    ];
    let mean = |share: Share| {
        let mut steps: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for line in seeds.iter().flat_map(|(_, lines)| lines) {
            steps.entry(line.step).or_default().extend(share(line));
        }
        steps.retain(|_, shares| !shares.is_empty());
        steps
            .into_iter()
            .map(|(step, shares)| (step, shares.iter().sum::<f64>() / shares.len() as f64))
            .collect()
    };
    let series = watched.into_iter().map(|(name, share)| (name.to_owned(), mean(share)));
    let series = series.filter(|(_, points): &(String, Vec<(u64, f64)>)| !points.is_empty()).collect();
    curves(
        "The curves of a training",
        &[aimed, Panel { title: "The watch, mean of the seeds".to_owned(), series }],
    )
}

/// All seeds together; the last run is the start. Sessions of one pair, and answers to one question, stay together.
fn pooled(runs: &[Run], folders: &[PathBuf], rows: &[Measured]) -> Measured {
    let (before, after) = (&runs[runs.len() - 1], &runs[..runs.len() - 1]);
    let (start, ends) = (&folders[after.len()], &folders[..after.len()]);
    let hit = |session: &Session| {
        session.grade.as_ref().map(|grade| f64::from(u8::from(grade.outcome == Outcome::Calibrated)))
    };
    let mut pairs: BTreeMap<[u16; 2], (f64, f64, Vec<f64>)> = BTreeMap::new();
    for run in after {
        for session in &run.sessions {
            let Some(now) = hit(session) else { continue };
            let (hits, count, gains) = pairs.entry(session.pair).or_default();
            (*hits, *count) = (*hits + now, *count + 1.0);
            gains.extend(before.session(&run.name(session)).and_then(hit).map(|then| now - then));
        }
    }
    let shares: Vec<(f64, f64)> = pairs.values().map(|(hits, count, _)| (*hits, *count)).collect();
    let gains: Vec<Vec<f64>> = pairs.into_values().map(|(.., gains)| gains).collect();
    let exams: Vec<Exam> = ends.iter().filter_map(|folder| Exam::read(folder)).collect();
    let mean = |value: fn(&Measured) -> Option<f64>| {
        let values: Vec<f64> = rows.iter().skip(1).filter_map(value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    Measured {
        name: "pooled".to_owned(),
        calibrated: clustered(&shares, 0),
        gain: paired(&gains, 0).map(|paired| paired.difference),
        distinct: mean(|row| Some(row.distinct)).unwrap_or_default(),
        valid: mean(|row| Some(row.valid)).unwrap_or_default(),
        judge: mean(|row| row.judge),
        avg: mean(|row| row.avg),
        avg_gain: Exam::read(start).and_then(|before| exam_gain(&exams, &before)),
        pass: mean(|row| row.pass),
    }
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
        avg_gain: exams
            .0
            .as_ref()
            .zip(exams.1.as_ref())
            .and_then(|(after, before)| exam_gain(slice::from_ref(after), before)),
        pass: exams.0.as_ref().map(Exam::passed),
    })
}

/// The calibrated share with its interval over pairs.
fn calibration(run: &RunEvidence) -> Option<Estimate> {
    let share = run.outcomes.iter().find(|share| share.outcome == Outcome::Calibrated)?;
    Some(Estimate { value: share.rate, interval: share.over_pairs? })
}

/// The gain in right answers, question by question.
fn exam_gain(after: &[Exam], before: &Exam) -> Option<Estimate> {
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
