//! Chat completions against any compatible server: vLLM, SGLang, llama-server, Ollama, Gemini, OpenAI,
//! DeepSeek, OpenRouter.

mod body;
mod http;
mod parse;
mod plain;
mod repair;
mod replicas;
mod secret;
mod service;
mod status;

pub use body::TokensField;
pub use http::HttpClient;
pub use service::JsonService;

use crate::{Provider, ProviderError, Request};
use aske_chat::Reply;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use replicas::Replicas;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use secret::Secret;
use serde_json::{Map, Value};

/// Where and how a served model is asked. It holds a key, so it cannot be printed.
#[derive(Clone, Default)]
pub struct Endpoint {
    /// Base addresses, such as `http://127.0.0.1:8000/v1`; several are replicas of one model.
    pub urls: Vec<String>,
    /// The name under which the server knows the model.
    pub model: String,
    /// The key, if the server wants one.
    pub api_key: Option<String>,
    /// The field that carries the token budget.
    pub tokens_field: TokensField,
    /// Parameters that the server does not take.
    pub omit: Vec<String>,
    /// The system prompt is put in front of the first user message.
    pub fold_system: bool,
    /// Merged into every body.
    pub extra: Map<String, Value>,
}

/// An endpoint that cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Not an address.
    #[error("`{url}` is not an http or https address")]
    Url {
        /// As configured, without what may be secret.
        url: String,
    },
    /// The address holds a name, a password or a query, where keys hide.
    #[error("the address of `{host}` carries credentials or a query; name the key by `api_key_env` instead")]
    Credentials {
        /// The host alone.
        host: String,
    },
    /// The key cannot stand in a header.
    #[error("the key has characters that no header can carry")]
    Key,
    /// The client could not be built.
    #[error("no HTTP client: {0}")]
    Client(String),
}

/// A model behind one or more OpenAI-compatible servers.
pub struct OpenAi {
    replicas: Replicas,
    headers: HeaderMap,
    secret: Secret,
    body: body::Writer,
}

impl OpenAi {
    /// Checks the endpoint and prepares what every request shares.
    pub fn new(http: &HttpClient, endpoint: Endpoint) -> Result<Self, EndpointError> {
        let replicas = Replicas::new(http, &endpoint.urls)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &endpoint.api_key {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| EndpointError::Key)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let secret = Secret::new(endpoint.api_key.as_deref());
        let body = body::Writer::new(endpoint);
        Ok(Self { replicas, headers, secret, body })
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ProviderError> {
        let body = self.body.write(request).into();
        let replica = self.replicas.pick();
        let outcome = replica.way().exchange(Method::POST, "chat/completions", &self.headers, body).await;
        let outcome = outcome.and_then(|body| parse::reply(&body)).map_err(|fault| replica.of_model(fault));
        replica.ended(outcome.as_ref().err().map(|fault| fault.cause));
        outcome.map(|reply| self.secret.scrub_reply(reply)).map_err(|fault| self.secret.scrub(fault))
    }

    /// Asks every replica what it serves; all must answer.
    async fn list(&self) -> Result<String, ProviderError> {
        let wanted = self.body.model();
        let mut said = Vec::new();
        for replica in self.replicas.each() {
            let body = replica.way().exchange(Method::GET, "models", &self.headers, Bytes::new()).await;
            replica.ended(body.as_ref().err().map(|fault| fault.cause));
            let served = parse::served(&body.map_err(|fault| self.secret.scrub(fault))?);
            said.push(match served {
                Some(names) if names.iter().any(|name| name.trim_start_matches("models/") == wanted) => {
                    format!("serves {wanted}")
                }
                Some(names) => format!("answers, but lists no `{wanted}` among its {} models", names.len()),
                None => "answers".to_owned(),
            });
        }
        said.dedup();
        Ok(said.join("; "))
    }
}

impl Provider for OpenAi {
    fn attempt<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(self.ask(request))
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(self.list())
    }
}
