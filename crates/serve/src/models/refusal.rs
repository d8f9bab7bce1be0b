//! A request that is not answered, in OpenAI's words.

use crate::problem::Problem;
use aske_model::{ErrorCause, ModelError};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// Why there is no reply.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
    param: Option<&'static str>,
}

impl Refusal {
    /// One field cannot be followed.
    pub(super) fn field(name: &'static str, why: impl std::fmt::Display) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: format!("{name}: {why}"), param: Some(name) }
    }

    /// The messages cannot fit the model's context.
    pub(super) fn too_long(bytes: usize, most: usize) -> Self {
        let message =
            format!("the messages have {bytes} bytes, and at most {most} can fit the model's context");
        Self { status: StatusCode::BAD_REQUEST, message, param: None }
    }

    /// There is no such thing.
    pub(super) fn unknown(what: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, message: what.into(), param: None }
    }

    #[cfg(test)]
    pub(super) fn param(&self) -> Option<&'static str> {
        self.param
    }

    /// As the body of a response, or an event of a stream.
    pub(super) fn body(&self) -> Value {
        let kind = if self.status.is_client_error() { "invalid_request_error" } else { "server_error" };
        let code = match self.status {
            StatusCode::NOT_FOUND => Some("not_found"),
            StatusCode::UNAUTHORIZED => Some("invalid_api_key"),
            _ => None,
        };
        json!({ "error": { "message": self.message, "type": kind, "param": self.param, "code": code } })
    }
}

impl From<ModelError> for Refusal {
    fn from(failure: ModelError) -> Self {
        let status = match failure.cause {
            ErrorCause::Rejected => StatusCode::BAD_REQUEST,
            ErrorCause::Halted => StatusCode::SERVICE_UNAVAILABLE,
            ErrorCause::Timeout => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, message: failure.message, param: None }
    }
}

impl From<aske_http::Refusal> for Refusal {
    fn from(refusal: aske_http::Refusal) -> Self {
        let message = format!("{}; hint: {}", refusal.what, refusal.hint);
        Self { status: refusal.status, message, param: None }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self { status: problem.status, message: problem.what, param: None }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.body())).into_response()
    }
}
