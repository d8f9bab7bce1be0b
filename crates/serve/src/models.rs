//! Models of this process as an OpenAI-compatible endpoint.

mod error;
mod request;
mod response;
mod stream;

use aske_bench::ModelRegistry;
use aske_config::ModelSection;
use aske_http::ApiError;
use aske_model::{Halt, Model, Request, Sampling};
use axum::extract::{FromRequest, Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use error::OpenAiError;
use request::{ChatRequest, RequestLimits};
use response::ResponseHeader;

/// The served models.
pub struct Models {
    served: BTreeMap<String, ServedModel>,
    /// `max_tokens` of requests that do not set it.
    default_max_tokens: u32,
    /// Once triggered, no further reply begins.
    pub(crate) halt: Halt,
    /// Every reply in progress holds a clone.
    open: Arc<()>,
    /// Requests so far. The engine treats the replies of one request as those of one client.
    requests: AtomicU64,
    created: u64,
}

struct ServedModel {
    model: Arc<Model>,
    /// The defaults for fields that a request does not set.
    sampling: Sampling,
    /// The instruction that the model was trained with.
    instruction: Option<String>,
}

impl Models {
    /// Serves these models of a registry.
    pub fn new(
        registry: &ModelRegistry,
        sections: &BTreeMap<String, ModelSection>,
        default_max_tokens: u32,
    ) -> Self {
        let served = |(name, section): (&String, &ModelSection)| {
            let served = ServedModel {
                model: registry.get(name)?.clone(),
                sampling: section.sampling.clone(),
                instruction: section.instruction.clone(),
            };
            Some((name.clone(), served))
        };
        let served = sections.iter().filter_map(served).collect();
        Self {
            served,
            default_max_tokens,
            halt: Halt::default(),
            open: Arc::default(),
            requests: AtomicU64::new(0),
            created: unix_time(),
        }
    }

    fn find(&self, name: &str) -> Result<&ServedModel, OpenAiError> {
        self.served.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.served.keys().map(String::as_str).collect();
            OpenAiError::not_found(format!("no model `{name}`; available: {}", names.join(", ")))
        })
    }

    fn describe(&self, name: &str) -> Value {
        json!({ "id": name, "object": "model", "created": self.created, "owned_by": "aske" })
    }
}

/// All routes.
pub(crate) fn routes(models: Arc<Models>) -> Router {
    Router::new()
        .route("/healthz", get(health))
        .route("/v1/models", get(list))
        .route("/v1/models/{name}", get(one))
        .route("/v1/chat/completions", post(chat))
        .fallback(async || OpenAiError::not_found("the routes are /v1/models and /v1/chat/completions"))
        .with_state(models)
}

type ModelsState = State<Arc<Models>>;

async fn health(State(models): ModelsState) -> Json<Value> {
    let open = Arc::strong_count(&models.open) - 1;
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION"), "open": open }))
}

async fn list(State(models): ModelsState) -> Json<Value> {
    let all: Vec<Value> = models.served.keys().map(|name| models.describe(name)).collect();
    Json(json!({ "object": "list", "data": all }))
}

async fn one(State(models): ModelsState, Path(name): Path<String>) -> Result<Json<Value>, OpenAiError> {
    models.find(&name)?;
    Ok(Json(models.describe(&name)))
}

async fn chat(State(models): ModelsState, request: axum::extract::Request) -> Result<Response, OpenAiError> {
    let body = crate::api::JsonBody::<ChatRequest>::from_request(request, &()).await;
    // The hints are about the environment's API.
    let body = body.map_err(|error| ApiError { hint: None, ..error })?.0;
    let served = models.find(&body.model)?;
    let model = served.model.clone();
    let limits = RequestLimits {
        default_max_tokens: models.default_max_tokens,
        max_prompt_bytes: model.max_prompt_bytes(),
    };
    let client = models.requests.fetch_add(1, Ordering::Relaxed);
    let mut request = body.validate(&served.sampling, &limits, client)?;
    if let Some(instruction) = &served.instruction {
        request.instruct(instruction);
    }
    if request.streamed {
        return stream::respond(models, model, request).await;
    }
    let complete = |request: Request| {
        let (models, model) = (&models, &model);
        async move {
            let _open = Arc::clone(&models.open);
            model.complete(&request, &models.halt).await
        }
    };
    let completions = try_join_all(request.requests().map(complete)).await?;
    let replies: Vec<_> = completions.into_iter().map(|completion| completion.reply).collect();
    Ok(Json(ResponseHeader::new(model.name()).completion(&replies)).into_response())
}

/// The response to a request that is rejected before it reaches a route.
pub(crate) fn error_response(error: ApiError) -> Response {
    OpenAiError::from(error).into_response()
}

fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
