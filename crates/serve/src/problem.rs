//! A request that cannot be answered: one clear JSON error with a hint.

use crate::ServeError;
use crate::episode::Refused;
use aske_bench::{CallError, PlanError};
use aske_http::BodyError;
use aske_model::ErrorCause;
use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Seconds after which it may be worth trying again.
const LATER: u16 = 5;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) what: String,
    hint: Option<String>,
    /// The infrastructure failed: the episode is no score.
    failure: bool,
    later: bool,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, what: what.into(), hint: Some(hint.into()), failure: false, later: false }
    }

    /// The request makes no sense.
    pub(crate) fn bad(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, what, hint)
    }

    /// The request does not fit what is there now.
    pub(crate) fn conflict(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, what, hint)
    }

    /// All places are taken for now.
    pub(crate) fn full(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { later: true, ..Self::new(StatusCode::TOO_MANY_REQUESTS, what, hint) }
    }

    /// Something of ours broke.
    pub(crate) fn ours(what: impl Into<String>) -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            what: what.into(),
            hint: None,
            failure: true,
            later: false,
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let hint =
            "repeat a step only with the same body; the answer to the last step says what is needed next";
        match refused {
            Refused::Count { .. } => Self::bad(refused.to_string(), "bring as many answers as `draws` says"),
            _ => Self::conflict(refused.to_string(), hint),
        }
    }
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        let status = match error {
            BodyError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
            BodyError::Broken(_) => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string(), "send a smaller body, whole and at once")
    }
}

impl From<PlanError> for Problem {
    fn from(error: PlanError) -> Self {
        Self::bad(error.to_string(), error.hint)
    }
}

impl From<ServeError> for Problem {
    fn from(error: ServeError) -> Self {
        Self { hint: error.hint(), ..Self::ours(error.to_string()) }
    }
}

impl From<CallError> for Problem {
    fn from(trouble: CallError) -> Self {
        let (status, hint) = match &trouble {
            CallError::Halted => (
                StatusCode::SERVICE_UNAVAILABLE,
                Some("the environment is ending, or its budget is used up".to_owned()),
            ),
            CallError::Model(failure)
                if failure.cause.is_transient() || failure.cause == ErrorCause::Halted =>
            {
                (StatusCode::SERVICE_UNAVAILABLE, Some(failure.hint()))
            }
            CallError::Model(failure) => (StatusCode::BAD_GATEWAY, Some(failure.hint())),
            CallError::Folder(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.hint().map(str::to_owned)),
        };
        let later = status == StatusCode::SERVICE_UNAVAILABLE;
        Self { status, what: trouble.to_string(), hint, failure: true, later }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut body = json!({ "error": self.what });
        if let Some(hint) = self.hint {
            body["hint"] = hint.into();
        }
        if self.failure {
            body["failure"] = true.into();
        }
        let mut headers = HeaderMap::new();
        if self.later {
            headers.insert(RETRY_AFTER, HeaderValue::from(LATER));
        }
        (self.status, headers, Json(body)).into_response()
    }
}
