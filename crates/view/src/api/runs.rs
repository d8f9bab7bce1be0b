//! `/api/runs`: the rows of all runs; `/api/run`: the row of one.

use crate::request::{ApiRequest, Cost};
use aske_http::ApiError;
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a response waits for numbers that are being computed.
const MAX_WAIT: Duration = Duration::from_secs(10);

pub(super) async fn list(request: ApiRequest) -> Result<Response, ApiError> {
    request.params.end()?;
    request.runs.refresh_if_due().await?;
    let until = Instant::now() + MAX_WAIT;
    while !request.runs.entries().iter().all(|entry| entry.is_ready()) && Instant::now() < until {
        sleep(Duration::from_millis(10)).await;
    }
    let runs = Arc::clone(&request.runs);
    let count = runs.entries().len();
    let cost = Cost { read_bytes: count.saturating_mul(512), response_bytes: count.saturating_mul(2 << 10) };
    let all = move || {
        let version = runs.version();
        let rows: Vec<Value> = runs.entries().iter().map(|entry| entry.row()).collect();
        Ok(json!({ "version": version, "runs": rows }))
    };
    request.respond(cost, all).await
}

pub(super) async fn one(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    request.params.end()?;
    request.runs.refresh_soon();
    let entry = request.runs.find(run.as_deref())?;
    let cost = Cost { read_bytes: 0, response_bytes: 4 << 10 };
    request.respond(cost, move || Ok(entry.row())).await
}
