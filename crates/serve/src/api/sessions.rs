//! Sessions begin and end.

use super::{Body, Shared};
use crate::environment::Wish;
use crate::episode::{Judge, Next};
use crate::problem::Problem;
use aske_record::PairId;
use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

/// A session that has begun.
#[derive(Serialize)]
pub(super) struct Created {
    session: String,
    pair: PairId,
    sample: u32,
    judge: Judge,
    #[serde(flatten)]
    next: Next,
}

pub(super) async fn pairs(environment: Shared) -> Json<Value> {
    Json(json!({ "pairs": environment.pairs() }))
}

pub(super) async fn create(
    environment: Shared,
    Body(wish): Body<Wish>,
) -> Result<(StatusCode, Json<Created>), Problem> {
    let (session, planned) = environment.open(&wish)?;
    let next = environment.table.find(&session)?.episode.lock().await.next();
    let (pair, sample) = (planned.id.pair, planned.id.sample);
    Ok((StatusCode::CREATED, Json(Created { session, pair, sample, judge: environment.judge, next })))
}

pub(super) async fn close(environment: Shared, Path(session): Path<String>) -> Result<StatusCode, Problem> {
    environment.table.close(&session)?;
    Ok(StatusCode::NO_CONTENT)
}
