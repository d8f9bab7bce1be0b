//! Models of this process as others know them: an OpenAI-compatible endpoint.

mod ask;
mod refusal;
mod say;
mod stream;

use aske_bench::ModelRegistry;
use aske_chat::Usage;
use aske_config::ModelSection;
use aske_model::{Halt, Model, Request, Sampling};
use axum::extract::{FromRequest, Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use ask::{Limits, Wanted};
use refusal::Refusal;

/// The models that are served, and how.
pub struct Models {
    served: BTreeMap<String, Served>,
    /// Tokens of a reply where the client does not say.
    usual_tokens: u32,
    halt: Halt,
    /// Replies that somebody waits for.
    open: AtomicUsize,
    /// Requests so far: each has a number, by which the engines know its replies.
    requests: AtomicU64,
    since: u64,
}

struct Served {
    model: Arc<Model>,
    /// Where the client says nothing.
    sampling: Sampling,
}

impl Models {
    /// Serves these models of a fleet.
    pub fn new(fleet: &ModelRegistry, sections: &BTreeMap<String, ModelSection>, usual_tokens: u32) -> Self {
        let served = |(name, section): (&String, &ModelSection)| {
            let served = Served { model: fleet.get(name)?.clone(), sampling: section.sampling.clone() };
            Some((name.clone(), served))
        };
        let served = sections.iter().filter_map(served).collect();
        Self {
            served,
            usual_tokens,
            halt: Halt::default(),
            open: AtomicUsize::new(0),
            requests: AtomicU64::new(0),
            since: now(),
        }
    }

    /// From now on no reply begins.
    pub(crate) fn halt(&self) {
        self.halt.trigger();
    }

    fn find(&self, name: &str) -> Result<&Served, Refusal> {
        self.served.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.served.keys().map(String::as_str).collect();
            Refusal::unknown(format!("there is no model `{name}` here; there are: {}", names.join(", ")))
        })
    }

    fn describe(&self, name: &str) -> Value {
        json!({ "id": name, "object": "model", "created": self.since, "owned_by": "aske" })
    }
}

/// A reply that somebody waits for, while it lives.
struct Open<'m>(&'m AtomicUsize);

impl<'m> Open<'m> {
    fn new(count: &'m AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All routes.
pub(crate) fn routes(models: Arc<Models>) -> Router {
    Router::new()
        .route("/healthz", get(health))
        .route("/v1/models", get(list))
        .route("/v1/models/{name}", get(one))
        .route("/v1/chat/completions", post(chat))
        .fallback(async || Refusal::unknown("there is nothing here but /v1/models and /v1/chat/completions"))
        .with_state(models)
}

type Shared = State<Arc<Models>>;

async fn health(State(models): Shared) -> Json<Value> {
    let open = models.open.load(Ordering::Relaxed);
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION"), "open": open }))
}

async fn list(State(models): Shared) -> Json<Value> {
    let all: Vec<Value> = models.served.keys().map(|name| models.describe(name)).collect();
    Json(json!({ "object": "list", "data": all }))
}

async fn one(State(models): Shared, Path(name): Path<String>) -> Result<Json<Value>, Refusal> {
    models.find(&name)?;
    Ok(Json(models.describe(&name)))
}

async fn chat(State(models): Shared, request: axum::extract::Request) -> Result<Response, Refusal> {
    let body = crate::api::Body::<Wanted>::from_request(request, &()).await.map_err(Refusal::from)?.0;
    let served = models.find(&body.model)?;
    let model = served.model.clone();
    let limits = Limits { usual_tokens: models.usual_tokens, prompt_bytes: model.longest_prompt() };
    let group = models.requests.fetch_add(1, Ordering::Relaxed);
    let asked = body.read(&served.sampling, &limits, group)?;
    if asked.streamed {
        return stream::answer(models, model, asked).await;
    }
    let one = |request: Request| {
        let (models, model) = (&models, &model);
        async move {
            let _open = Open::new(&models.open);
            model.complete(&request, &models.halt).await
        }
    };
    let done = try_join_all(asked.requests().map(one)).await?;
    let replies: Vec<_> = done.into_iter().map(|done| done.reply).collect();
    Ok(Json(say::whole(&head(model.name()), &replies)).into_response())
}

/// A request that no route sees.
pub(crate) fn refuse(refusal: aske_http::Refusal) -> Response {
    Refusal::from(refusal).into_response()
}

/// What is common to all that is said about one answer.
struct Head {
    id: String,
    created: u64,
    model: String,
}

fn head(model: &str) -> Head {
    Head { id: format!("chatcmpl-{:016x}", fastrand::u64(..)), created: now(), model: model.to_owned() }
}

/// What several replies to one prompt used: the prompt counts once.
fn together(replies: impl IntoIterator<Item = Usage>) -> Usage {
    let add = |sum: Usage, one: Usage| Usage {
        prompt: one.prompt,
        cached: if sum == Usage::default() { one.cached } else { sum.cached },
        completion: sum.completion + one.completion,
        reasoning: sum.reasoning + one.reasoning,
    };
    replies.into_iter().fold(Usage::default(), add)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
