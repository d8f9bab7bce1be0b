//! `/api/evals`: the problems of an evaluation in brief, and `/api/eval`: one of them with every reply.

use super::session::{Draw, reply};
use super::sessions::{QUESTION, limit};
use crate::params::Params;
use crate::problem::Problem;
use crate::runs::Runs;
use crate::shown::{Shown, beginning, whole};
use aske_evidence::Run;
use aske_record::{EvalRecord, Replies};
use aske_session::{Role, Slot};
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Serialize)]
pub(crate) struct Page {
    version: u64,
    total: usize,
    offset: usize,
    rows: Vec<Row>,
}

/// A problem in brief.
#[derive(Serialize)]
struct Row {
    dataset: String,
    problem: String,
    level: Option<u32>,
    question: Value,
    right: usize,
    samples: usize,
}

/// A problem with its samples.
#[derive(Serialize)]
pub(crate) struct One {
    dataset: String,
    problem: String,
    level: Option<u32>,
    model: String,
    question: Shown,
    reference: Shown,
    samples: Vec<Sample>,
    before: Option<[String; 2]>,
    after: Option<[String; 2]>,
}

#[derive(Serialize)]
struct Sample {
    number: u32,
    right: bool,
    /// What decided.
    by: String,
    boxed: bool,
    #[serde(flatten)]
    draw: Draw,
}

/// The samples of every problem, in the order of datasets and first answers; a sample that comes twice is the later one.
fn problems(run: &Run) -> Vec<(&EvalRecord, BTreeMap<u32, &EvalRecord>)> {
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut found: Vec<(&EvalRecord, BTreeMap<u32, &EvalRecord>)> = Vec::new();
    for record in &run.evals {
        let place = *places.entry((&record.dataset, &record.problem)).or_insert_with(|| {
            found.push((record, BTreeMap::new()));
            found.len() - 1
        });
        found[place].1.insert(record.sample, record);
    }
    found
}

pub(crate) async fn list(State(runs): State<Arc<Runs>>, mut params: Params) -> Result<Json<Page>, Problem> {
    let run = params.number("run", 0)?;
    let words = params.text("q")?.map(|words| words.to_lowercase());
    let offset = params.number("offset", 0)?;
    let limit = limit(&mut params)?;
    params.end()?;
    let page = runs.answer(move |shelves| {
        let all = problems(shelves.get(run)?.run);
        let fits = |first: &EvalRecord| {
            let texts = [&first.dataset, &first.problem, &first.question];
            words.as_ref().is_none_or(|words| texts.iter().any(|text| text.to_lowercase().contains(words)))
        };
        let fitting: Vec<_> = all.iter().filter(|(first, _)| fits(first)).collect();
        let rows = fitting.iter().skip(offset).take(limit).map(|(first, samples)| Row {
            dataset: first.dataset.clone(),
            problem: first.problem.clone(),
            level: first.level,
            question: beginning(&first.question, QUESTION),
            right: samples.values().filter(|sample| sample.right).count(),
            samples: samples.len(),
        });
        Ok(Page { version: shelves.version, total: fitting.len(), offset, rows: rows.collect() })
    });
    page.await.map(Json)
}

pub(crate) async fn one(State(runs): State<Arc<Runs>>, mut params: Params) -> Result<Json<One>, Problem> {
    let run = params.number("run", 0)?;
    let needed = |text: Option<String>, name| text.ok_or_else(|| Problem::bad(format!("`{name}` is needed")));
    let dataset = needed(params.text("dataset")?, "dataset")?;
    let problem = needed(params.text("problem")?, "problem")?;
    params.end()?;
    let one = runs.answer(move |shelves| {
        let run = shelves.get(run)?.run;
        let all = problems(run);
        let is_it = |(first, _): &(&EvalRecord, _)| first.dataset == dataset && first.problem == problem;
        let place = all.iter().position(is_it);
        let place = place.ok_or_else(|| Problem::missing("this run has no such problem"))?;
        let (first, samples) = &all[place];
        let name = |place: Option<usize>| {
            let (other, _) = all.get(place?)?;
            Some([other.dataset.clone(), other.problem.clone()])
        };
        Ok(One {
            dataset: first.dataset.clone(),
            problem: first.problem.clone(),
            level: first.level,
            model: first.model.clone(),
            question: whole(&first.question),
            reference: whole(&first.reference),
            samples: drawn(run, samples)?,
            before: name(place.checked_sub(1)),
            after: name(Some(place + 1)),
        })
    });
    one.await.map(Json)
}

fn drawn(run: &Run, samples: &BTreeMap<u32, &EvalRecord>) -> Result<Vec<Sample>, Problem> {
    let stored = Replies::open(&run.path)?;
    samples
        .values()
        .map(|record| {
            let calls = stored.of_record(&record.id())?;
            let call = calls.get(&Slot::first(0, Role::Panel));
            let answer = record.solved.answer.as_deref().map(whole);
            let draw = Draw { answer, truncated: record.is_capped(), reply: call.map(reply) };
            let (right, by, boxed) = (record.right, record.by.clone(), record.boxed);
            Ok(Sample { number: record.sample, right, by, boxed, draw })
        })
        .collect()
}
