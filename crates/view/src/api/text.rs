//! `/api/text`: one reply in full, as plain text.

use crate::request::ApiRequest;
use aske_http::ApiError;
use aske_record::Replies;
use aske_session::{Role, Slot};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What is escaped in a query: all but RFC 3986's unreserved characters.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The address of a reply's full text.
pub(super) fn address(run: &str, record: &str, slot: Slot) -> String {
    let run = utf8_percent_encode(run, RESERVED);
    let name = utf8_percent_encode(record, RESERVED);
    let Slot { turn, role, draw } = slot;
    format!("/api/text?run={run}&name={name}&turn={turn}&role={role}&draw={draw}")
}

pub(super) async fn handler(mut request: ApiRequest) -> Result<Response, ApiError> {
    let params = &mut request.params;
    let run = params.run()?;
    let name = params.required("name")?;
    let role = params.choice("role", Role::ALL, ToString::to_string)?;
    let role = role.ok_or_else(|| ApiError::bad_request("`role` is required"))?;
    let slot = Slot { turn: params.number("turn", 0)?, role, draw: params.number("draw", 0)? };
    params.end()?;
    // A training or an evaluation has replies without sessions, so the records are not read.
    let path = request.runs.find(run.as_deref())?.found.path.clone();
    let lookup = move || {
        let bytes = Replies::open(&path)?.bytes(&name)?;
        Ok::<_, ApiError>((usize::try_from(bytes).unwrap_or(usize::MAX), path, name))
    };
    let (bytes, path, name) = request.server.workers.run(0, lookup).await??;
    let text = move || {
        let text = Replies::open(&path)?.text(&name, slot)?;
        text.map(Bytes::from).ok_or_else(|| ApiError::not_found("this run has no such reply"))
    };
    let body = request.server.response_body(bytes, bytes, text).await?;
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], body).into_response())
}
