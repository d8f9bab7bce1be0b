//! The JSON API of the page, one file per route.

mod compare;
mod details;
mod evals;
mod evidence;
mod home;
mod news;
mod requests;
mod runs;
mod scores;
mod session;
mod sessions;
mod text;
mod training;

use crate::runs::RunStore;
use axum::Router;
use axum::routing::get;
use std::sync::Arc;

/// All routes.
pub(crate) fn routes() -> Router<Arc<RunStore>> {
    Router::new()
        // Browsers request it on pages that name no icon, such as the response to a request without a token.
        .route("/favicon.ico", get(async || axum::http::StatusCode::NO_CONTENT))
        .route("/api/home", get(home::handler))
        .route("/api/run", get(runs::one))
        .route("/api/runs", get(runs::list))
        .route("/api/evidence", get(evidence::handler))
        .route("/api/configuration", get(details::configuration))
        .route("/api/calls", get(details::calls))
        .route("/api/sessions", get(sessions::handler))
        .route("/api/session", get(session::handler))
        .route("/api/requests", get(requests::handler))
        .route("/api/raw", get(requests::raw))
        .route("/api/training", get(training::handler))
        .route("/api/rollouts", get(training::rollouts))
        .route("/api/scores", get(scores::handler))
        .route("/api/eval-compare", get(scores::comparison))
        .route("/api/eval-call", get(requests::sample))
        .route("/api/evals", get(evals::list))
        .route("/api/eval", get(evals::problem))
        .route("/api/compare", get(compare::handler))
        .route("/api/text", get(text::handler))
        .route("/api/news", get(news::handler))
}

/// The names of the pair's solvers.
fn pair_names(run: &aske_evidence::Run, session: &aske_evidence::Session) -> [String; 2] {
    session.pair.map(|index| {
        run.solvers.get(usize::from(index)).map_or_else(String::new, |solver| solver.name.clone())
    })
}
