//! `/api/compare`: the sessions that two runs share.

use super::sessions::{QUESTION, ROW, limit};
use crate::filter::Label;
use crate::params::Params;
use crate::problem::Problem;
use crate::reply::{Http, Work};
use crate::runs::{Runs, Shelves};
use crate::shown::beginning;
use aske_evidence::Session;
use aske_session::Outcome;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

#[derive(Serialize)]
struct Comparison {
    version: u64,
    /// Sessions that both have graded.
    shared: usize,
    /// Of these, with two different outcomes.
    differ: usize,
    /// The first run's outcomes against the second's, in the order of tables.
    table: [[usize; 5]; 5],
    /// Rows under the filter.
    total: usize,
    offset: usize,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    pair: [String; 2],
    sample: u32,
    outcomes: [Outcome; 2],
    right: [Option<[bool; 2]>; 2],
    questions: [Option<Value>; 2],
}

pub(crate) async fn answer(
    State(runs): State<Arc<Runs>>,
    Extension(http): Http,
    mut params: Params,
) -> Result<Response, Problem> {
    let places = [params.number("first", 0)?, params.number("second", 1)?];
    let wanted = [params.choice("one", Outcome::ALL)?, params.choice("two", Outcome::ALL)?];
    let differs = params.choice("differs", [true, false])?.unwrap_or(false);
    let offset = params.number("offset", 0)?;
    let limit = limit(&mut params)?;
    params.end()?;
    let count = move |shelves: &Shelves| Ok(shelves.get(places[0])?.run.sessions.len());
    let sessions = runs.measure(&http, count).await?;
    let work = Work { cost: sessions.saturating_mul(64), most: 2 * limit * ROW };
    let shared = runs.json(&http, work, move |shelves| {
        let [first, second] = [&shelves.get(places[0])?.run, &shelves.get(places[1])?.run];
        let mut answer = Comparison {
            version: shelves.version,
            shared: 0,
            differ: 0,
            table: [[0; 5]; 5],
            total: 0,
            offset,
            rows: Vec::new(),
        };
        for one in &first.sessions {
            let name = first.name(one);
            let Some(two) = second.session(&name) else { continue };
            let (Label::Graded(a), Label::Graded(b)) = (Label::of(one), Label::of(two)) else { continue };
            answer.shared += 1;
            answer.differ += usize::from(a != b);
            answer.table[a as usize][b as usize] += 1;
            let other = |at: usize, outcome| wanted[at].is_some_and(|wanted| wanted != outcome);
            if differs && a == b || other(0, a) || other(1, b) {
                continue;
            }
            answer.total += 1;
            if answer.total > offset && answer.rows.len() < limit {
                let begin = |session: &Session| session.question.as_deref().map(|q| beginning(q, QUESTION));
                let [pair, others] = [(first, one), (second, two)]
                    .map(|(run, session)| session.pair.map(|place| super::solver(run, place)));
                // The second run may list the solvers in another order.
                let turned = two.right().map(|[a, b]| if others == pair { [a, b] } else { [b, a] });
                answer.rows.push(Row {
                    name,
                    pair,
                    sample: one.sample,
                    outcomes: [a, b],
                    right: [one.right(), turned],
                    questions: [begin(one), begin(two)],
                });
            }
        }
        Ok(answer)
    });
    shared.await
}
