//! Errors in OpenAI's format.

use aske_http::ApiError;
use aske_model::{ErrorCause, ModelError};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// A request that failed or was rejected.
#[derive(Debug)]
pub(super) struct OpenAiError {
    status: StatusCode,
    message: String,
    pub(super) param: Option<&'static str>,
}

impl OpenAiError {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None }
    }

    /// 400: one field is invalid or not supported.
    pub(super) fn field(name: &'static str, reason: impl std::fmt::Display) -> Self {
        Self { param: Some(name), ..Self::bad_request(format!("{name}: {reason}")) }
    }

    /// 400: the request is invalid.
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 404: the model or route does not exist.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// The body of a response, or an event of a stream.
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

impl From<ModelError> for OpenAiError {
    fn from(error: ModelError) -> Self {
        let status = match error.cause {
            ErrorCause::Rejected => StatusCode::BAD_REQUEST,
            ErrorCause::Halted => StatusCode::SERVICE_UNAVAILABLE,
            ErrorCause::Timeout => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        tracing::info!(model = error.model, cause = ?error.cause, "request failed");
        Self::new(status, error.message)
    }
}

impl From<ApiError> for OpenAiError {
    fn from(error: ApiError) -> Self {
        let hint = error.hint.map(|hint| format!("; hint: {hint}")).unwrap_or_default();
        Self::new(error.status, error.message + &hint)
    }
}

impl IntoResponse for OpenAiError {
    fn into_response(self) -> Response {
        (self.status, Json(self.body())).into_response()
    }
}
