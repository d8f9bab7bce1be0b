//! Lists pairs, creates and deletes sessions.

use super::{EnvironmentState, JsonBody};
use crate::environment::SessionRequest;
use crate::episode::{Judge, Next};
use aske_http::ApiError;
use aske_record::PairId;
use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

/// A new session.
#[derive(Serialize)]
pub(super) struct SessionResponse {
    session: String,
    pair: PairId,
    sample: u32,
    judge: Judge,
    #[serde(flatten)]
    next: Next,
}

pub(super) async fn pairs(environment: EnvironmentState) -> Json<Value> {
    Json(json!({ "pairs": environment.pairs }))
}

pub(super) async fn create(
    environment: EnvironmentState,
    JsonBody(request): JsonBody<SessionRequest>,
) -> Result<(StatusCode, Json<SessionResponse>), ApiError> {
    let (session, planned) = environment.open(&request)?;
    let next = environment.sessions.get(&session)?.episode.lock().await.next();
    let (pair, sample) = (planned.id.pair, planned.id.sample);
    Ok((StatusCode::CREATED, Json(SessionResponse { session, pair, sample, judge: environment.judge, next })))
}

pub(super) async fn close(
    environment: EnvironmentState,
    Path(session): Path<String>,
) -> Result<StatusCode, ApiError> {
    environment.sessions.remove(&session)?;
    Ok(StatusCode::NO_CONTENT)
}
