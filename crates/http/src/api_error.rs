//! The JSON error of all servers: `{"error": …, "hint": …}`.

use crate::BodyError;
use aske_chat::Hint;
use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Seconds in `Retry-After`.
const RETRY_SECONDS: u16 = 5;

/// A request that failed or was rejected. Any [`Hint`] error becomes an internal one with `?`.
///
/// A server error is also marked with `"failure": true`: infrastructure failed, so an episode has no score.
#[derive(Clone, Debug)]
pub struct ApiError {
    /// The status of the response.
    pub status: StatusCode,
    /// What went wrong.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl ApiError {
    /// An error without a hint.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// An error with its own hint under this status.
    pub fn from_error(status: StatusCode, error: &impl Hint) -> Self {
        Self { hint: error.hint().map(Into::into), ..Self::new(status, error.to_string()) }
    }

    /// 400: the request is invalid.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 404: the route or resource does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// 409: the request does not fit the current state.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// 500: the server failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

impl<E: Hint> From<E> for ApiError {
    fn from(error: E) -> Self {
        Self::from_error(StatusCode::INTERNAL_SERVER_ERROR, &error)
    }
}

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        let status = match error {
            BodyError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
            BodyError::Broken(_) => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string()).with_hint("send a smaller body, all of it at once")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut body = json!({ "error": self.message });
        if let Some(hint) = self.hint {
            body["hint"] = hint.into();
        }
        if self.status.is_server_error() {
            tracing::info!(status = self.status.as_u16(), "request failed");
            tracing::trace!(error = self.message, "request failed");
            body["failure"] = true.into();
        }
        let mut response = (self.status, Json(body)).into_response();
        if matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
        }
        response
    }
}
