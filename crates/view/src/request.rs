//! A request to the JSON API, and responses that are computed on worker threads.

use crate::params::Params;
use crate::runs::{Entry, LoadedRun, RunStore};
use aske_http::{ApiError, ServerState};
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// The parameters of a request, and what is needed to answer it.
pub(crate) struct ApiRequest {
    pub(crate) params: Params,
    pub(crate) runs: Arc<RunStore>,
    pub(crate) server: Arc<ServerState>,
}

/// The approximate cost of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Bytes that are read.
    pub(crate) read_bytes: usize,
    /// Bytes of the response.
    pub(crate) response_bytes: usize,
}

impl FromRequestParts<Arc<RunStore>> for ApiRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, runs: &Arc<RunStore>) -> Result<Self, ApiError> {
        let params = Params::parse(&parts.uri)?;
        let server = parts.extensions.get::<Arc<ServerState>>().cloned().unwrap_or_default();
        Ok(Self { params, runs: Arc::clone(runs), server })
    }
}

/// How much of a run is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// At least the first sessions; the others are read meanwhile.
    First,
    /// All records.
    Whole,
}

impl ApiRequest {
    /// Looks something up in a run on a worker thread.
    pub(crate) async fn lookup<T: Send + 'static>(
        &self,
        entry: &Arc<Entry>,
        part: Part,
        lookup: impl FnOnce(LoadedRun<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (runs, entry) = (Arc::clone(&self.runs), Arc::clone(entry));
        self.server.workers.run(0, move || runs.with_run(&entry, part == Part::Whole, lookup)).await?
    }

    /// Answers with JSON about a run. `plan` estimates the cost, and returns the function that computes the response.
    pub(crate) async fn run_json<T, F>(
        &self,
        run: Option<String>,
        part: Part,
        plan: impl FnOnce(LoadedRun<'_>) -> Result<(Cost, F), ApiError> + Send + 'static,
    ) -> Result<Response, ApiError>
    where
        T: Serialize,
        F: FnOnce(LoadedRun<'_>) -> Result<T, ApiError> + Send + 'static,
    {
        let entry = self.runs.find(run.as_deref())?;
        let (cost, respond) = self.lookup(&entry, part, plan).await?;
        let runs = Arc::clone(&self.runs);
        self.respond(cost, move || runs.with_run(&entry, part == Part::Whole, respond)).await
    }

    /// Answers with JSON that `respond` computes on a worker thread.
    pub(crate) async fn respond<T: Serialize>(
        &self,
        cost: Cost,
        respond: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Response, ApiError> {
        let body = move || respond().and_then(|value| to_json(&value));
        Ok(json(self.server.response_body(cost.read_bytes, cost.response_bytes, body).await?))
    }

    /// The folder of a run, without reading its records.
    pub(crate) fn folder(&self, run: Option<&str>) -> Result<PathBuf, ApiError> {
        Ok(self.runs.find(run)?.found.path.clone())
    }
}

/// A value as JSON.
pub(crate) fn to_json(value: &impl Serialize) -> Result<Bytes, ApiError> {
    serde_json::to_vec(value).map(Bytes::from).map_err(|error| ApiError::internal(error.to_string()))
}

/// A JSON response.
pub(crate) fn json(body: impl Into<Body>) -> Response {
    ([(CONTENT_TYPE, "application/json")], body.into()).into_response()
}
