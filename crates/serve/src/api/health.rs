//! `/healthz` and `/openapi.json`.

use super::EnvironmentState;
use axum::Json;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::{Value, json};

/// The OpenAPI description of every route.
pub(super) const OPENAPI: &str = include_str!("openapi.json");

pub(super) async fn health(environment: EnvironmentState) -> Json<Value> {
    Json(json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "sessions": environment.sessions.len(),
        "judge": environment.judge,
    }))
}

pub(super) async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], OPENAPI)
}
