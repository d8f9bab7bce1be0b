//! `/api/evidence`: all tables of all runs, made once for each state of the runs.

use crate::params::Params;
use crate::problem::Problem;
use crate::reply::json;
use crate::runs::Runs;
use aske_evidence::evidence;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use std::sync::Arc;

pub(crate) async fn answer(State(runs): State<Arc<Runs>>, params: Params) -> Result<Response, Problem> {
    params.end()?;
    // A task of its own: who leaves before it is done leaves it to the next.
    Ok(json(tokio::spawn(async move { made(&runs).await }).await??))
}

async fn made(runs: &Arc<Runs>) -> Result<Bytes, Problem> {
    // Held while it is made: who asks meanwhile waits for the same one.
    let mut made = runs.evidence.lock().await;
    let known = made.as_ref().map(|(version, _)| *version);
    let fresh = runs.answer(move |shelves| {
        if known == Some(shelves.version) {
            return Ok(None);
        }
        let tables = evidence(&shelves.runs)?;
        let body = serde_json::to_vec(&tables).map_err(|error| Problem::ours(error.to_string()))?;
        Ok(Some((shelves.version, Bytes::from(body))))
    });
    if let Some(fresh) = fresh.await? {
        *made = Some(fresh);
    }
    Ok(made.as_ref().map(|(_, body)| body.clone()).unwrap_or_default())
}
