//! How new questions are, against those of all workers.

use super::{Body, Shared};
use crate::history::{Asked, Told};
use crate::problem::Problem;
use axum::Json;

/// Questions of one call at most: every one is compared with all that are remembered.
const MOST: usize = 4096;

pub(super) async fn diversity(environment: Shared, Body(asked): Body<Asked>) -> Result<Json<Told>, Problem> {
    if asked.questions.len() > MOST {
        let what = format!("{} questions in one call, and {MOST} are allowed", asked.questions.len());
        return Err(Problem::bad(what, "send them in several calls"));
    }
    let shared = environment.0;
    let work = tokio::task::spawn_blocking(move || shared.history.add(asked));
    let told = work.await.map_err(|error| Problem::ours(error.to_string()))?;
    Ok(Json(told?))
}
