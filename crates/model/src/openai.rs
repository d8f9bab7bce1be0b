//! The provider for OpenAI-compatible servers: vLLM, SGLang, llama-server, Ollama, Gemini, OpenAI, DeepSeek, OpenRouter.

mod body;
mod parse;
mod pool;
mod repair;
mod replicas;
mod secret;
mod service;
mod status;
mod transport;
mod vllm;

pub use body::TokensField;
pub use service::JsonService;
pub use transport::HttpClient;
pub use vllm::VllmServers;

use crate::{Provider, ProviderError, Request, redact_text};
use aske_chat::{Hint, Reply};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use replicas::Replicas;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secret::Secrets;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Headers that describe the connection and the body: they are never taken from [`Endpoint::headers`].
const OF_TRANSPORT: [&str; 5] = ["host", "connection", "content-type", "content-length", "transfer-encoding"];

/// The address and request options of a served model. It holds an API key, so it does not implement `Debug`.
#[derive(Clone, Default)]
pub struct Endpoint {
    /// Base addresses, such as `http://127.0.0.1:8000/v1`; several are replicas of one model.
    pub urls: Vec<String>,
    /// The name under which the server knows the model.
    pub model: String,
    /// The API key, if the server requires one.
    pub api_key: Option<String>,
    /// The field that carries the token budget.
    pub tokens_field: TokensField,
    /// Parameters that are not sent.
    pub omit: Vec<String>,
    /// Puts the system prompt in front of the first user message.
    pub fold_system: bool,
    /// Merged into every request body.
    pub extra: Map<String, Value>,
    /// Further headers of every request. Their values may be secret.
    pub headers: Vec<(String, String)>,
}

/// An endpoint that cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Not an HTTP address.
    #[error("`{url}` is not an http or https address")]
    Url {
        /// As configured, with secrets masked.
        url: String,
    },
    /// The address contains a user, a password or a query, which may be secret.
    #[error("the address of `{host}` contains credentials or a query")]
    Credentials {
        /// The host alone.
        host: String,
    },
    /// The API key is not a valid header value.
    #[error("the API key contains characters that are not allowed in a header")]
    Key,
    /// A header's name or value is not valid.
    #[error("`{name}` is not a valid header, or its value contains characters that are not allowed in one")]
    Header {
        /// The name of the header.
        name: String,
    },
    /// The client could not be built.
    #[error("cannot create an HTTP client: {0}")]
    Client(#[source] reqwest::Error),
}

impl Hint for EndpointError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Url { .. } => Some(Cow::Borrowed("an address looks like \"http://localhost:8000/v1\"")),
            Self::Credentials { .. } => {
                Some(Cow::Borrowed("name the environment variable of the key in `api_key_env`"))
            }
            Self::Key | Self::Header { .. } | Self::Client(_) => None,
        }
    }
}

/// A model behind one or more OpenAI-compatible servers.
pub struct OpenAi {
    replicas: Replicas,
    headers: HeaderMap,
    secrets: Secrets,
    endpoint: Endpoint,
}

impl OpenAi {
    /// Checks the endpoint and prepares the headers of every request.
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
        let of_transport = |name: &str| OF_TRANSPORT.iter().any(|own| own.eq_ignore_ascii_case(name));
        for (name, text) in endpoint.headers.iter().filter(|(name, _)| !of_transport(name)) {
            let invalid = || EndpointError::Header { name: redact_text(name) };
            let mut value = HeaderValue::from_str(text).map_err(|_| invalid())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?, value);
        }
        let secrets = Secrets::new(endpoint.api_key.as_deref(), &endpoint.headers);
        // The secrets are needed no longer.
        let endpoint = Endpoint { api_key: None, headers: Vec::new(), ..endpoint };
        Ok(Self { replicas, headers, secrets, endpoint })
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ProviderError> {
        let body = self.endpoint.body(request).into();
        let call = self.replicas.pick();
        let result =
            call.replica.transport.exchange(Method::POST, "chat/completions", &self.headers, body).await;
        let result = result.and_then(|body| parse::reply(&body)).map_err(|error| call.of_model(error));
        call.finish(result.as_ref().err().map(|error| error.cause));
        result.map(|reply| self.secrets.scrub_reply(reply)).map_err(|error| self.secrets.scrub(error))
    }

    /// The names of the models that the first replica lists.
    async fn names(&self) -> Result<Option<Vec<String>>, ProviderError> {
        let Some(call) = self.replicas.each().next() else { return Ok(None) };
        let body = call.replica.transport.exchange(Method::GET, "models", &self.headers, Bytes::new()).await;
        call.finish(body.as_ref().err().map(|error| error.cause));
        let names = parse::served(&body.map_err(|error| self.secrets.scrub(error))?);
        // Gemini lists its models with a prefix.
        let shown = |name: &String| self.secrets.scrub_text(name.trim_start_matches("models/"));
        Ok(names.map(|names| names.iter().map(shown).collect()))
    }

    /// Lists the models of every replica; all must answer.
    async fn list(&self) -> Result<String, ProviderError> {
        let wanted = &self.endpoint.model;
        let mut answers = Vec::new();
        for call in self.replicas.each() {
            let body =
                call.replica.transport.exchange(Method::GET, "models", &self.headers, Bytes::new()).await;
            call.finish(body.as_ref().err().map(|error| error.cause));
            let served = parse::served(&body.map_err(|error| self.secrets.scrub(error))?);
            answers.push(match served {
                Some(names) if names.iter().any(|name| name.trim_start_matches("models/") == *wanted) => {
                    format!("serves {wanted}")
                }
                Some(names) => format!("answers, but lists no `{wanted}` among its {} models", names.len()),
                None => "answers".to_owned(),
            });
        }
        answers.dedup();
        Ok(answers.join("; "))
    }
}

impl Provider for OpenAi {
    fn attempt<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(self.ask(request))
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn served(&self) -> BoxFuture<'_, Result<Option<Vec<String>>, ProviderError>> {
        Box::pin(self.names())
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(self.list())
    }
}
