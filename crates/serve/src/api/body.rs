//! A JSON body, bounded, with errors of our own.

use crate::problem::Problem;
use aske_http::read_body;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;

/// What a body says. A page of another site cannot send `application/json` here without being asked for leave.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + 'static, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let kind =
            request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            let hint = "send the header `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is not JSON", hint));
        }
        let received = read_body(request).await?;
        let parse = |bytes: &[u8]| {
            let text = if bytes.is_empty() { b"{}".as_slice() } else { bytes };
            serde_json::from_slice(text).map_err(|error| error.to_string())
        };
        received.read(parse).await?.map(Self).map_err(|error| {
            Problem::bad(format!("the body cannot be read: {error}"), "GET /openapi.json describes it")
        })
    }
}
