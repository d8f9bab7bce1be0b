//! `/api/runs`: a summary of every run.

use crate::filter::Label;
use crate::request::{ApiRequest, Cost};
use crate::runs::{LoadedRun, LoadedRuns};
use aske_http::ApiError;
use aske_session::Outcome;
use aske_stats::{Interval, wilson};
use axum::response::Response;
use serde::Serialize;

#[derive(Serialize)]
struct Runs {
    version: u64,
    runs: Vec<RunSummary>,
}

#[derive(Serialize)]
struct RunSummary {
    name: String,
    path: String,
    asker: String,
    check: String,
    grader: String,
    solvers: Vec<Solver>,
    sessions: usize,
    graded: usize,
    /// Sessions by outcome in the order of tables, then ungraded.
    outcomes: [usize; Label::COUNT],
    calibrated: Option<f64>,
    /// Wilson's 95% interval over sessions.
    interval: Option<Interval>,
    /// Only for evaluations.
    evals: Option<EvalCounts>,
    writing: bool,
    trouble: Option<String>,
}

#[derive(Serialize)]
struct EvalCounts {
    samples: usize,
    right: usize,
}

#[derive(Serialize)]
struct Solver {
    name: String,
    params: Option<f64>,
}

pub(super) async fn handler(request: ApiRequest) -> Result<Response, ApiError> {
    request.params.end()?;
    request.runs.refresh_if_due().await?;
    let respond = request.json(|runs| {
        let sessions: usize = runs.runs.iter().map(|run| run.sessions.len()).sum();
        let cost = Cost { read_bytes: sessions.saturating_mul(16), response_bytes: 0 };
        let all =
            |runs: &LoadedRuns| Ok(Runs { version: runs.version, runs: runs.all().map(summary).collect() });
        Ok((cost, all))
    });
    respond.await
}

fn summary(loaded: LoadedRun<'_>) -> RunSummary {
    let run = loaded.run;
    let mut outcomes = [0; Label::COUNT];
    for session in &run.sessions {
        outcomes[Label::of(session).index()] += 1;
    }
    let graded = run.sessions.len() - outcomes[Label::Ungraded.index()];
    let calibrated = outcomes[Label::Graded(Outcome::Calibrated).index()];
    let check = run.manifest.config.get("check").and_then(|check| check.get("model")?.as_str());
    RunSummary {
        name: crate::runs::name(&run.path),
        path: run.path.display().to_string(),
        asker: run.asker.clone(),
        check: check.unwrap_or_default().to_owned(),
        grader: run.grader.clone(),
        solvers: run
            .solvers
            .iter()
            .map(|solver| Solver { name: solver.name.clone(), params: solver.params })
            .collect(),
        sessions: run.sessions.len(),
        graded,
        outcomes,
        calibrated: (graded > 0).then(|| calibrated as f64 / graded as f64),
        interval: wilson(calibrated as u64, graded as u64),
        evals: run.manifest.is_eval().then(|| EvalCounts {
            samples: run.evals.len(),
            right: run.evals.iter().filter(|sample| sample.right).count(),
        }),
        writing: loaded.status.writing,
        trouble: loaded.status.trouble.clone(),
    }
}
