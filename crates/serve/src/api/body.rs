//! A JSON body, bounded, with errors of our own.

use crate::problem::Problem;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use bytes::Bytes;
use serde::de::DeserializeOwned;

/// What a body says. A page of another site cannot send `application/json` here without being asked for leave.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind =
            request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            let hint = "send the header `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is not JSON", hint));
        }
        let bytes = Bytes::from_request(request, state)
            .await
            .map_err(|error| Problem::new(error.status(), error.body_text(), "send a smaller body, whole"))?;
        let text = if bytes.is_empty() { b"{}".as_slice() } else { &bytes };
        serde_json::from_slice(text).map(Self).map_err(|error| {
            Problem::bad(format!("the body cannot be read: {error}"), "GET /openapi.json describes it")
        })
    }
}
