//! `/api/news`: long polling for changes to one run, or to all.

use crate::request::ApiRequest;
use aske_http::ApiError;
use axum::Json;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// The longest wait.
const MAX_WAIT: Duration = Duration::from_secs(20);
/// The time between two checks.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

pub(super) async fn handler(mut request: ApiRequest) -> Result<Json<Value>, ApiError> {
    let since = request.params.number::<u64>("since", 0)?;
    let run = request.params.text("run")?;
    request.params.end()?;
    let mut ending = request.runs.ending.clone();
    let until = Instant::now() + MAX_WAIT;
    loop {
        let all = request.runs.refresh_if_due().await?;
        let version = match &run {
            Some(run) => request.runs.find(Some(run))?.version(),
            None => all,
        };
        let ended = *ending.borrow_and_update();
        if version != since || ended || Instant::now() >= until {
            return Ok(Json(json!({ "version": version, "news": version != since })));
        }
        let pause = async {
            tokio::select! {
                () = sleep(POLL_INTERVAL) => {}
                _ = ending.changed() => {}
            }
        };
        let _ = timeout_at(until, pause).await;
    }
}
