//! `/api/sessions`: a page of the list of sessions.

use crate::filter::SessionFilter;
use crate::flags::Flag;
use crate::params::Params;
use crate::render::excerpt;
use crate::request::{ApiRequest, Cost, Part};
use crate::runs::LoadedRun;
use aske_evidence::Session;
use aske_http::ApiError;
use axum::response::Response;
use serde_json::{Value, json};

/// Characters of a question in a list.
pub(super) const QUESTION_CHARS: usize = 300;
/// The maximum number of rows in a page, and the default.
const MAX_ROWS: usize = 200;
const DEFAULT_ROWS: usize = 100;
/// The approximate maximum size of a row in bytes.
pub(super) const ROW_BYTES: usize = 4 << 10;

/// The part of a list that is requested.
#[derive(Clone, Copy)]
pub(super) struct Paging {
    pub(super) offset: usize,
    pub(super) limit: usize,
}

impl Paging {
    /// Takes its parameters.
    pub(super) fn parse(params: &mut Params) -> Result<Self, ApiError> {
        let offset = params.number("offset", 0)?;
        let limit = params.number("limit", DEFAULT_ROWS)?;
        if limit > MAX_ROWS {
            return Err(ApiError::bad_request(format!("`limit` is at most {MAX_ROWS}")));
        }
        Ok(Self { offset, limit })
    }
}

pub(super) async fn handler(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    let filter = SessionFilter::parse(&mut request.params)?;
    let Paging { offset, limit } = Paging::parse(&mut request.params)?;
    request.params.end()?;
    // The first sessions of a large run are shown before all are read; a filter needs all of them.
    let part = if filter.is_plain() && offset == 0 { Part::First } else { Part::Whole };
    let respond = request.run_json(run, part, move |loaded: LoadedRun<'_>| {
        let cost = Cost { read_bytes: filter.cost(loaded.run), response_bytes: limit * ROW_BYTES };
        let page = move |loaded: LoadedRun<'_>| {
            let found = filter.find(loaded)?;
            let rows = found.indices.iter().skip(offset).take(limit);
            let rows = rows.map(|index| row(loaded, &loaded.run.sessions[*index]));
            Ok(json!({
                "version": loaded.status.version,
                // Whether all records have been read.
                "complete": loaded.status.complete,
                "total": found.indices.len(),
                "outcomes": found.outcomes,
                "offset": offset,
                "rows": rows.collect::<Vec<_>>(),
            }))
        };
        Ok((cost, page))
    });
    respond.await
}

fn row(loaded: LoadedRun<'_>, session: &Session) -> Value {
    json!({
        "name": loaded.run.name(session),
        // The smaller solver first.
        "pair": super::pair_names(loaded.run, session),
        "sample": session.sample,
        "outcome": session.grade.as_ref().map(|grade| grade.outcome),
        "right": session.right(),
        "question": session.question.as_ref().map(|question| excerpt(question, QUESTION_CHARS)),
        "flags": Flag::all_of(session, &loaded.status.duplicates),
    })
}
