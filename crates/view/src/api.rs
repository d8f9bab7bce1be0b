//! The JSON that the page is made from, a file for each route.

mod compare;
mod evals;
mod evidence;
mod news;
mod runs;
mod session;
mod sessions;
mod text;

use crate::runs::Runs;
use axum::Router;
use axum::routing::get;
use std::sync::Arc;

/// All routes.
pub(crate) fn routes() -> Router<Arc<Runs>> {
    Router::new()
        // Browsers ask for it on pages that name no icon, such as the one that refuses a client without a token.
        .route("/favicon.ico", get(async || axum::http::StatusCode::NO_CONTENT))
        .route("/api/runs", get(runs::answer))
        .route("/api/evidence", get(evidence::answer))
        .route("/api/sessions", get(sessions::answer))
        .route("/api/session", get(session::answer))
        .route("/api/evals", get(evals::list))
        .route("/api/eval", get(evals::one))
        .route("/api/compare", get(compare::answer))
        .route("/api/text", get(text::answer))
        .route("/api/news", get(news::answer))
}

/// The name of a solver by its place.
fn solver(run: &aske_evidence::Run, place: u16) -> String {
    run.solvers.get(usize::from(place)).map_or_else(String::new, |solver| solver.name.clone())
}
