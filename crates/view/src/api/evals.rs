//! `/api/evals`: the problems of an evaluation in brief, and `/api/eval`: one of them with every reply.

use super::session::{Calls, Draw, page, stored};
use super::sessions::{QUESTION, ROW, limit};
use crate::params::Params;
use crate::problem::Problem;
use crate::reply::{Http, Work};
use crate::runs::{Runs, Shelves};
use crate::shown::{Room, Shown, beginning};
use aske_evidence::Run;
use aske_record::{EvalRecord, Replies};
use aske_session::{Role, Slot};
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Serialize)]
struct Page {
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
struct One {
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

/// A problem by its first answer, with all of its samples.
type Tried<'r> = (&'r EvalRecord, BTreeMap<u32, &'r EvalRecord>);

/// The samples of every problem, by dataset and name; a sample that comes twice is the later one.
fn problems(run: &Run) -> Vec<Tried<'_>> {
    let mut found = BTreeMap::new();
    for record in &run.evals {
        let name = (in_parts(&record.dataset), in_parts(&record.problem));
        let (_, samples) = found.entry(name).or_insert_with(|| (record, BTreeMap::new()));
        samples.insert(record.sample, record);
    }
    found.into_values().collect()
}

/// A name as letters and numbers, so that 10 comes after 9: each part is letters, how many digits follow, and they.
fn in_parts(mut name: &str) -> Vec<(&str, usize, &str)> {
    let mut parts = Vec::new();
    while !name.is_empty() {
        let (letters, rest) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
        let (digits, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        parts.push((letters, digits.trim_start_matches('0').len(), digits));
        name = rest;
    }
    parts
}

/// How often the model was right.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Solved {
    Always,
    Sometimes,
    Never,
}

impl Solved {
    fn named(name: &str) -> Result<Self, Problem> {
        match name {
            "always" => Ok(Self::Always),
            "sometimes" => Ok(Self::Sometimes),
            "never" => Ok(Self::Never),
            _ => Err(Problem::bad("`solved` is always, sometimes or never")),
        }
    }

    fn of(samples: &BTreeMap<u32, &EvalRecord>) -> Self {
        match samples.values().filter(|sample| sample.right).count() {
            0 => Self::Never,
            all if all == samples.len() => Self::Always,
            _ => Self::Sometimes,
        }
    }
}

/// Which problems are looked at.
struct Filter {
    words: Option<String>,
    solved: Option<Solved>,
}

impl Filter {
    fn take(params: &mut Params) -> Result<Self, Problem> {
        Ok(Self {
            words: params.text("q")?.map(|words| words.to_lowercase()),
            solved: params.text("solved")?.map(|name| Solved::named(&name)).transpose()?,
        })
    }

    fn fits(&self, (first, samples): &Tried<'_>) -> bool {
        let texts = [&first.dataset, &first.problem, &first.question];
        self.words.as_ref().is_none_or(|words| texts.iter().any(|text| text.to_lowercase().contains(words)))
            && self.solved.is_none_or(|solved| solved == Solved::of(samples))
    }
}

pub(crate) async fn list(
    State(runs): State<Arc<Runs>>,
    Extension(http): Http,
    mut params: Params,
) -> Result<Response, Problem> {
    let run = params.number("run", 0)?;
    let filter = Filter::take(&mut params)?;
    let offset = params.number("offset", 0)?;
    let limit = limit(&mut params)?;
    params.end()?;
    let count = move |shelves: &Shelves| Ok(shelves.get(run)?.run.evals.len());
    let samples = runs.measure(&http, count).await?;
    let work = Work { cost: samples.saturating_mul(512), most: limit * ROW };
    let page = runs.json(&http, work, move |shelves| {
        let all = problems(shelves.get(run)?.run);
        let fitting: Vec<_> = all.iter().filter(|tried| filter.fits(tried)).collect();
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
    page.await
}

pub(crate) async fn one(
    State(runs): State<Arc<Runs>>,
    Extension(http): Http,
    mut params: Params,
) -> Result<Response, Problem> {
    let at = params.number("run", 0)?;
    let needed = |text: Option<String>, name| text.ok_or_else(|| Problem::bad(format!("`{name}` is needed")));
    let dataset = needed(params.text("dataset")?, "dataset")?;
    let problem = needed(params.text("problem")?, "problem")?;
    let filter = Filter::take(&mut params)?;
    params.end()?;
    let wanted = [dataset, problem];
    let measure = move |shelves: &Shelves| {
        let run = shelves.get(at)?.run;
        let all = problems(run);
        let (_, samples) = &all[place_of(&all, &wanted)?];
        let replies = samples.values().map(|sample| stored(run, &sample.id()));
        let cost = replies.sum::<Result<usize, Problem>>()? + 512 * run.evals.len();
        Ok((cost, wanted))
    };
    let (cost, wanted) = runs.measure(&http, measure).await?;
    let one = move |shelves: &Shelves| {
        let run = shelves.get(at)?.run;
        let all = problems(run);
        let place = place_of(&all, &wanted)?;
        let room = Room::new();
        let (first, samples) = &all[place];
        let name = |(other, _): &Tried<'_>| [other.dataset.clone(), other.problem.clone()];
        let fits = |tried: &&Tried<'_>| filter.fits(tried);
        Ok(One {
            dataset: first.dataset.clone(),
            problem: first.problem.clone(),
            level: first.level,
            model: first.model.clone(),
            question: room.whole(&first.question),
            reference: room.whole(&first.reference),
            samples: drawn((at, run), samples, &room)?,
            before: all[..place].iter().rev().find(fits).map(name),
            after: all[place + 1..].iter().find(fits).map(name),
        })
    };
    runs.json(&http, page(cost), one).await
}

/// Where a problem stands among all.
fn place_of(all: &[Tried<'_>], [dataset, problem]: &[String; 2]) -> Result<usize, Problem> {
    let place = all.iter().position(|(first, _)| first.dataset == *dataset && first.problem == *problem);
    place.ok_or_else(|| Problem::missing("this run has no such problem"))
}

fn drawn(
    (at, run): (usize, &Run),
    samples: &BTreeMap<u32, &EvalRecord>,
    room: &Room,
) -> Result<Vec<Sample>, Problem> {
    let stored = Replies::open(&run.path)?;
    samples
        .values()
        .map(|record| {
            let calls = Calls::read(&stored, (at, &record.id()), room)?;
            let reply = calls.reply(Slot::first(0, Role::Panel));
            let answer = record.solved.answer.as_deref().map(|answer| room.whole(answer));
            let draw = Draw { answer, truncated: record.is_capped(), reply };
            let (right, by, boxed) = (record.right, record.by.clone(), record.boxed);
            Ok(Sample { number: record.sample, right, by, boxed, draw })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_their_numbers() {
        let mut names = ["10", "a-2-b", "9", "a-10", "a-2", "", "09", "b"];
        names.sort_by_key(|name| in_parts(name));
        assert_eq!(names, ["", "09", "9", "10", "a-2", "a-2-b", "a-10", "b"]);
    }
}
