//! A JSON service called with the retries, limits and deadlines of a [`Model`]. The Python environment uses it for the
//! diversity history.

use super::replicas::Replicas;
use super::{EndpointError, HttpClient};
use crate::{Halt, Limits, Model, ModelError, Provider, ProviderError, Request};
use aske_chat::Reply;
use futures_util::future::BoxFuture;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

/// One route of a service: retries, limits and deadlines are those of a [`Model`].
pub struct JsonService(Model);

impl JsonService {
    /// The route `path` below the address `url`. A failure carries `name`.
    pub fn new(
        http: &HttpClient,
        name: &str,
        url: &str,
        path: &'static str,
        limits: Limits,
    ) -> Result<Self, EndpointError> {
        let replicas = Replicas::new(http, &[url.to_owned()])?;
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        Ok(Self(Model::new(name, Box::new(Route { replicas, path, headers }), limits, None)))
    }

    /// Posts a body and returns the response's. The server may receive the body more than once.
    pub async fn post(&self, body: &str, halt: &Halt) -> Result<String, ModelError> {
        self.0.complete(&Request::user(body), halt).await.map(|done| done.reply.content)
    }
}

struct Route {
    replicas: Replicas,
    path: &'static str,
    headers: HeaderMap,
}

impl Route {
    async fn send(&self, request: &Request) -> Result<Reply, ProviderError> {
        let body = request.messages.first().map_or("", |message| &message.content).to_owned();
        let call = self.replicas.pick();
        let result =
            call.replica.transport.exchange(Method::POST, self.path, &self.headers, body.into()).await;
        call.finish(result.as_ref().err().map(|error| error.cause));
        result.map(|body| Reply::text(String::from_utf8_lossy(&body)))
    }
}

impl Provider for Route {
    fn attempt<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(self.send(request))
    }
}
