//! Requests that no route sees.

use axum::http::StatusCode;

/// Why a request was refused before it reached a route. Each server writes it in its own format.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The status of the response.
    pub status: StatusCode,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, what: what.into(), hint: hint.into() }
    }
}
