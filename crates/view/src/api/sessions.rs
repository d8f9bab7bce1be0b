//! `/api/sessions`: a page of sessions in brief.

use crate::filter::{Filter, Label};
use crate::flags::Flag;
use crate::params::Params;
use crate::problem::Problem;
use crate::reply::{Http, Work};
use crate::runs::{Runs, Shelf, Shelves};
use crate::shown::beginning;
use aske_evidence::Session;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// Characters of a question in a list.
pub(super) const QUESTION: usize = 300;
/// Rows in a page at most, and where nothing is said.
pub(super) const ROWS: [usize; 2] = [200, 100];
/// Bytes of a row at most, about.
pub(super) const ROW: usize = 4 << 10;

#[derive(Serialize)]
struct Page {
    version: u64,
    total: usize,
    /// By outcome in the order of tables, then without a grade; as if every outcome were asked for.
    outcomes: [usize; Label::COUNT],
    offset: usize,
    rows: Vec<Row>,
}

/// A session in brief.
#[derive(Serialize)]
struct Row {
    name: String,
    /// The smaller solver first.
    pair: [String; 2],
    sample: u32,
    outcome: Option<aske_session::Outcome>,
    right: Option<[bool; 2]>,
    question: Option<Value>,
    flags: Vec<Flag>,
}

pub(crate) async fn answer(
    State(runs): State<Arc<Runs>>,
    Extension(http): Http,
    mut params: Params,
) -> Result<Response, Problem> {
    let run = params.number("run", 0)?;
    let filter = Filter::take(&mut params)?;
    let offset = params.number("offset", 0)?;
    let limit = limit(&mut params)?;
    params.end()?;
    let measure = move |shelves: &Shelves| Ok((filter.cost(shelves.get(run)?.run), filter));
    let (cost, filter) = runs.measure(&http, measure).await?;
    let work = Work { cost, most: limit * ROW };
    let page = runs.json(&http, work, move |shelves| {
        let shelf = shelves.get(run)?;
        let found = filter.find(shelf)?;
        let places = found.places.iter().skip(offset).take(limit);
        let rows = places.map(|place| row(shelf, &shelf.run.sessions[*place])).collect();
        let (total, outcomes) = (found.places.len(), found.outcomes);
        Ok(Page { version: shelves.version, total, outcomes, offset, rows })
    });
    page.await
}

/// Takes the number of rows.
pub(super) fn limit(params: &mut Params) -> Result<usize, Problem> {
    let [most, usual] = ROWS;
    let limit = params.number("limit", usual)?;
    if limit > most {
        return Err(Problem::bad(format!("`limit` is at most {most}")));
    }
    Ok(limit)
}

fn row(shelf: Shelf<'_>, session: &Session) -> Row {
    let run = shelf.run;
    Row {
        name: run.name(session),
        pair: session.pair.map(|place| super::solver(run, place)),
        sample: session.sample,
        outcome: session.grade.as_ref().map(|grade| grade.outcome),
        right: session.right(),
        question: session.question.as_ref().map(|question| beginning(question, QUESTION)),
        flags: Flag::all_of(session, &shelf.about.repeated),
    }
}
