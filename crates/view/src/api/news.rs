//! `/api/news`: waits until a run has changed.

use crate::params::Params;
use crate::problem::Problem;
use crate::runs::Runs;
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// The longest wait.
const LONGEST: Duration = Duration::from_secs(20);
/// Between two looks; the runs look at their folders no more often than they want to.
const PAUSE: Duration = Duration::from_millis(500);

pub(crate) async fn answer(
    State(runs): State<Arc<Runs>>,
    mut params: Params,
) -> Result<Json<Value>, Problem> {
    let since = params.number::<u64>("since", 0)?;
    params.end()?;
    let mut ending = runs.ending.clone();
    let until = Instant::now() + LONGEST;
    loop {
        let version = runs.look().await?;
        let ended = *ending.borrow_and_update();
        if version != since || ended || Instant::now() >= until {
            return Ok(Json(json!({ "version": version, "news": version != since })));
        }
        let pause = async {
            tokio::select! {
                () = sleep(PAUSE) => {}
                _ = ending.changed() => {}
            }
        };
        let _ = timeout_at(until, pause).await;
    }
}
