//! `/api/evidence`: all tables of all runs, computed once for each version of the runs.

use crate::request::{ApiRequest, json, to_json};
use crate::runs::RunStore;
use aske_evidence::evidence;
use aske_http::{ApiError, WorkerError};
use axum::response::Response;
use bytes::Bytes;
use std::sync::Arc;

pub(super) async fn handler(request: ApiRequest) -> Result<Response, ApiError> {
    request.params.end()?;
    // In a task of its own, so that it finishes even if this client disconnects.
    let computed = tokio::spawn(async move { cached(&request.runs).await });
    Ok(json(computed.await.map_err(WorkerError::from)??))
}

async fn cached(runs: &Arc<RunStore>) -> Result<Bytes, ApiError> {
    // Locked while it is computed, so that concurrent requests wait for the same result.
    let mut cache = runs.evidence.lock().await;
    let cached = cache.as_ref().map(|(version, _)| *version);
    let fresh = runs.with_blocking(move |loaded| {
        if cached == Some(loaded.version) {
            return Ok(None);
        }
        Ok(Some((loaded.version, to_json(&evidence(&loaded.runs))?)))
    });
    if let Some(fresh) = fresh.await? {
        *cache = Some(fresh);
    }
    Ok(cache.as_ref().map(|(_, body)| body.clone()).unwrap_or_default())
}
