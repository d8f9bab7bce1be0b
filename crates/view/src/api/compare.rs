//! `/api/compare`: the sessions that two runs share.

use super::pair_names;
use super::sessions::{Paging, QUESTION_CHARS, ROW_BYTES};
use crate::filter::Label;
use crate::params::json_word;
use crate::render::excerpt;
use crate::request::{ApiRequest, Cost};
use aske_evidence::{Run, Session};
use aske_http::ApiError;
use aske_session::Outcome;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Default, Serialize)]
struct Comparison {
    version: u64,
    /// Sessions that are graded in both runs.
    shared: usize,
    /// Of these, with two different outcomes.
    differ: usize,
    /// The first run's outcomes against the second's, in the order of tables.
    table: [[usize; 5]; 5],
    /// Rows that match the filter.
    total: usize,
    offset: usize,
    rows: Vec<Value>,
}

/// Which shared sessions are listed.
struct OutcomeFilter {
    outcomes: [Option<Outcome>; 2],
    differing_only: bool,
}

impl OutcomeFilter {
    fn matches(&self, outcomes: [Outcome; 2]) -> bool {
        let selected = self.outcomes.iter().zip(outcomes);
        !(self.differing_only && outcomes[0] == outcomes[1])
            && selected.into_iter().all(|(wanted, outcome)| wanted.is_none_or(|wanted| wanted == outcome))
    }
}

pub(super) async fn handler(mut request: ApiRequest) -> Result<Response, ApiError> {
    let params = &mut request.params;
    let [first, second] = [params.required("first")?, params.required("second")?];
    let filter = OutcomeFilter {
        outcomes: [
            params.choice("one", Outcome::ALL, json_word)?,
            params.choice("two", Outcome::ALL, json_word)?,
        ],
        differing_only: params.choice("differs", [true, false], bool::to_string)?.unwrap_or(false),
    };
    let paging = Paging::parse(params)?;
    params.end()?;
    let entries = [request.runs.find(Some(&first))?, request.runs.find(Some(&second))?];
    let runs = Arc::clone(&request.runs);
    let sessions = entries[0].with_summary(|summary, _, _| summary.sessions);
    let cost = Cost { read_bytes: sessions.saturating_mul(64), response_bytes: 2 * paging.limit * ROW_BYTES };
    let respond = move || {
        runs.with_runs(&entries, |loaded| {
            let [one, two] = loaded else { return Err(ApiError::internal("two runs are compared")) };
            let version = one.status.version.max(two.status.version);
            Ok(Comparison { version, ..compare([one.run, two.run], &filter, paging) })
        })
    };
    request.respond(cost, respond).await
}

fn compare(
    [first, second]: [&Run; 2],
    filter: &OutcomeFilter,
    Paging { offset, limit }: Paging,
) -> Comparison {
    let mut found = Comparison { offset, ..Comparison::default() };
    for one in &first.sessions {
        let name = first.name(one);
        let Some(two) = second.session(&name) else { continue };
        let (Label::Graded(a), Label::Graded(b)) = (Label::of(one), Label::of(two)) else { continue };
        found.shared += 1;
        found.differ += usize::from(a != b);
        found.table[a as usize][b as usize] += 1;
        if !filter.matches([a, b]) {
            continue;
        }
        found.total += 1;
        if found.total > offset && found.rows.len() < limit {
            let question = |session: &Session| Some(excerpt(session.question.as_ref()?, QUESTION_CHARS));
            let [pair, other_pair] = [pair_names(first, one), pair_names(second, two)];
            // The second run may list the solvers in another order.
            let aligned = two.right().map(|[a, b]| if other_pair == pair { [a, b] } else { [b, a] });
            found.rows.push(json!({
                "name": name,
                "pair": pair,
                "sample": one.sample,
                "outcomes": [a, b],
                "right": [one.right(), aligned],
                "questions": [question(one), question(two)],
            }));
        }
    }
    found
}
