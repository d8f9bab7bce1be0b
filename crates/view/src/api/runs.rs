//! `/api/runs`: what there is to see.

use crate::filter::Label;
use crate::params::Params;
use crate::problem::Problem;
use crate::reply::{Http, Work};
use crate::runs::{Runs, Shelf, Shelves};
use aske_session::Outcome;
use aske_stats::{Interval, wilson};
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct Shown {
    version: u64,
    runs: Vec<InBrief>,
}

/// A run in a few numbers.
#[derive(Serialize)]
struct InBrief {
    name: String,
    path: String,
    asker: String,
    check: String,
    grader: String,
    solvers: Vec<Solver>,
    sessions: usize,
    graded: usize,
    /// Sessions by outcome, in the order of tables; then those without a grade.
    outcomes: [usize; Label::COUNT],
    calibrated: Option<f64>,
    /// 95% over sessions: Wilson's interval.
    interval: Option<Interval>,
    /// Samples of an evaluation, where it is one.
    evals: Option<Samples>,
    writing: bool,
    trouble: Option<String>,
}

/// How many samples an evaluation has, and how many are right.
#[derive(Serialize)]
struct Samples {
    samples: usize,
    right: usize,
}

#[derive(Serialize)]
struct Solver {
    name: String,
    params: Option<f64>,
}

pub(crate) async fn answer(
    State(runs): State<Arc<Runs>>,
    Extension(http): Http,
    params: Params,
) -> Result<Response, Problem> {
    params.end()?;
    runs.look().await?;
    let shown =
        |shelves: &Shelves| Shown { version: shelves.version, runs: shelves.all().map(in_brief).collect() };
    let count = |shelves: &Shelves| Ok(shelves.runs.iter().map(|run| run.sessions.len()).sum());
    let sessions = runs.measure(&http, count).await?;
    runs.json(&http, Work::over(sessions), move |shelves| Ok(shown(shelves))).await
}

fn in_brief(shelf: Shelf<'_>) -> InBrief {
    let run = shelf.run;
    let mut outcomes = [0; Label::COUNT];
    for session in &run.sessions {
        outcomes[Label::of(session).place()] += 1;
    }
    let graded = run.sessions.len() - outcomes[Label::Ungraded.place()];
    let calibrated = outcomes[Label::Graded(Outcome::Calibrated).place()];
    let check = run.manifest.config.get("check").and_then(|check| check.get("model")?.as_str());
    InBrief {
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
        evals: run.manifest.is_eval().then(|| Samples {
            samples: run.evals.len(),
            right: run.evals.iter().filter(|sample| sample.right).count(),
        }),
        writing: shelf.about.writing,
        trouble: shelf.about.trouble.clone(),
    }
}
