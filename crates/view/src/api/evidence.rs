//! `/api/evidence`: all tables of one run, computed once for each version of it; or of several runs, with their comparison.

use crate::request::{ApiRequest, Cost, json};
use aske_evidence::evidence;
use aske_http::{ApiError, WorkerError};
use axum::response::Response;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// Runs that are compared at most.
const MAX_RUNS: usize = 8;

pub(super) async fn handler(mut request: ApiRequest) -> Result<Response, ApiError> {
    let ids = request.params.all("run");
    request.params.end()?;
    let runs = Arc::clone(&request.runs);
    let entries = match ids.as_slice() {
        [] => runs.entries().to_vec(),
        ids => ids.iter().map(|id| runs.find(Some(id))).collect::<Result<Vec<_>, _>>()?,
    };
    if entries.len() > MAX_RUNS {
        let message = format!("{} runs are too many for one comparison", entries.len());
        return Err(
            ApiError::bad_request(message).with_hint(format!("name at most {MAX_RUNS}, each with `run=`"))
        );
    }
    if let [entry] = entries.as_slice() {
        let entry = Arc::clone(entry);
        // In a task of its own, so that it finishes even if this client disconnects.
        let computed = spawn_blocking(move || runs.tables(&entry)).await;
        return Ok(json(computed.map_err(WorkerError::from)??));
    }
    let sessions: usize =
        entries.iter().map(|entry| entry.with_summary(|summary, _, _| summary.sessions)).sum();
    let cost = Cost { read_bytes: sessions.saturating_mul(512).max(2 << 20), response_bytes: 1 << 20 };
    let all = move || {
        runs.with_runs(&entries, |loaded| Ok(evidence(&loaded.iter().map(|one| one.run).collect::<Vec<_>>())))
    };
    request.respond(cost, all).await
}
