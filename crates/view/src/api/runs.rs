//! `/api/runs`: a summary of every run.

use crate::filter::Label;
use crate::request::{ApiRequest, Cost};
use crate::runs::{LoadedRun, LoadedRuns};
use aske_http::ApiError;
use aske_session::Outcome;
use aske_stats::wilson;
use axum::response::Response;
use serde_json::{Value, json};

pub(super) async fn handler(request: ApiRequest) -> Result<Response, ApiError> {
    request.params.end()?;
    request.runs.refresh_if_due().await?;
    let respond = request.json(|runs| {
        let sessions: usize = runs.runs.iter().map(|run| run.sessions.len()).sum();
        let cost = Cost { read_bytes: sessions.saturating_mul(16), response_bytes: 0 };
        Ok((cost, |runs: &LoadedRuns| {
            let all: Vec<Value> = runs.all().map(summary).collect();
            Ok(json!({ "version": runs.version, "runs": all }))
        }))
    });
    respond.await
}

fn summary(loaded: LoadedRun<'_>) -> Value {
    let run = loaded.run;
    let mut outcomes = [0; Label::COUNT];
    for session in &run.sessions {
        outcomes[Label::of(session).index()] += 1;
    }
    let graded = run.sessions.len() - outcomes[Label::Ungraded.index()];
    let calibrated = outcomes[Label::Graded(Outcome::Calibrated).index()];
    json!({
        "name": crate::runs::name(&run.path),
        "path": run.path.display().to_string(),
        "asker": run.asker,
        "check": run.check(),
        "grader": run.grader,
        "solvers": run.solvers,
        "sessions": run.sessions.len(),
        "graded": graded,
        // Sessions by outcome in the order of tables, then ungraded.
        "outcomes": outcomes,
        "calibrated": (graded > 0).then(|| calibrated as f64 / graded as f64),
        // Wilson's 95% interval over sessions.
        "interval": wilson(calibrated as u64, graded as u64),
        "evals": run.manifest.is_eval().then(|| {
            json!({
                "samples": run.evals.len(),
                "right": run.evals.iter().filter(|sample| sample.right).count(),
            })
        }),
        "writing": loaded.status.writing,
        "trouble": loaded.status.error,
    })
}
