//! `/v1/diversity`: the novelty of questions, compared with those of all workers.

use super::{EnvironmentState, JsonBody};
use crate::history::{NoveltyRequest, NoveltyResponse};
use aske_http::{ApiError, WorkerError};
use axum::Json;

/// Maximum questions in one request: each is compared with the whole history.
const MAX_QUESTIONS: usize = 4096;

pub(super) async fn diversity(
    environment: EnvironmentState,
    JsonBody(request): JsonBody<NoveltyRequest>,
) -> Result<Json<NoveltyResponse>, ApiError> {
    let count = request.questions.len();
    if count > MAX_QUESTIONS {
        let message = format!("{count} questions in one request; the maximum is {MAX_QUESTIONS}");
        return Err(ApiError::bad_request(message).with_hint("send them in several requests"));
    }
    let environment = environment.0;
    let work = tokio::task::spawn_blocking(move || environment.history.add(request));
    Ok(Json(work.await.map_err(WorkerError::from)??))
}
