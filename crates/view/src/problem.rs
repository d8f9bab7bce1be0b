//! A request that cannot be answered: one clear JSON error.

use aske_record::RunError;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    what: String,
}

impl Problem {
    /// The request asks for something that makes no sense.
    pub(crate) fn bad(what: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, what: what.into() }
    }

    /// There is no such thing.
    pub(crate) fn missing(what: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, what: what.into() }
    }

    /// It is our fault, or the folder's.
    pub(crate) fn ours(what: impl Into<String>) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, what: what.into() }
    }
}

impl From<tokio::task::JoinError> for Problem {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::ours(error.to_string())
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        Self::ours(error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.what }))).into_response()
    }
}
