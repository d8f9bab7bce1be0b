//! Answers as JSON, made off the serving thread.

use crate::problem::Problem;
use crate::runs::{Runs, Shelves};
use aske_http::Shared;
use axum::Extension;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;
use std::sync::Arc;

/// What all requests share with the server.
pub(crate) type Http = Extension<Arc<Shared>>;

/// How much work an answer is, and how long it may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// Bytes that are read or looked at, about.
    pub(crate) cost: usize,
    /// Bytes of the answer at most, about.
    pub(crate) most: usize,
}

impl Work {
    /// An answer in brief that looks at so many sessions, each about as long as a question.
    pub(crate) fn over(sessions: usize) -> Self {
        Self { cost: sessions.saturating_mul(16), most: 0 }
    }
}

impl Runs {
    /// Finds out what an answer takes: cheap, and off the serving thread, which a run that is being read must not hold up.
    pub(crate) async fn measure<T: Send + 'static>(
        self: &Arc<Self>,
        http: &Shared,
        measure: impl FnOnce(&Shelves) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let runs = Arc::clone(self);
        http.workers.run(0, move || runs.with(measure)).await?
    }

    /// Answers from the runs as JSON.
    pub(crate) async fn json<T: Serialize + Send + 'static>(
        self: &Arc<Self>,
        http: &Shared,
        work: Work,
        answer: impl FnOnce(&Shelves) -> Result<T, Problem> + Send + 'static,
    ) -> Result<Response, Problem> {
        let runs = Arc::clone(self);
        let make = move || {
            let answer = runs.with(answer)?;
            let bytes = serde_json::to_vec(&answer).map_err(|error| Problem::ours(error.to_string()))?;
            Ok::<_, Problem>(Bytes::from(bytes))
        };
        Ok(json(http.body(work.cost, work.most, make).await?))
    }
}

/// A response of this JSON.
pub(crate) fn json(body: impl Into<Body>) -> Response {
    ([(CONTENT_TYPE, "application/json")], body.into()).into_response()
}
