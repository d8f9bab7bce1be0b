//! Listening, and a graceful end.

use crate::problem::Problem;
use crate::{Environment, Models, ServeError, api, models};
use aske_http::{Access, Options, Refusal, Server};
use axum::response::IntoResponse;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long open requests may take after the end was asked for: a call in flight is paid for, and is stored.
const LAST_REQUESTS: Duration = Duration::from_secs(10);

/// How an environment listens on this address.
pub fn options(address: SocketAddr, access: Access) -> Options {
    let refuse = |Refusal { status, what, hint }: Refusal| Problem::new(status, what, hint).into_response();
    Options { refuse, grace: LAST_REQUESTS, ..Options::new(address, access) }
}

/// How models are served on this address.
pub fn model_options(address: SocketAddr, access: Access) -> Options {
    Options { refuse: models::refuse, ..options(address, access) }
}

/// Calls `ready` with the server and serves until `shutdown` is done. Then no call begins any more, and those in flight
/// may end.
pub async fn serve(
    environment: Environment,
    options: Options,
    ready: impl FnOnce(&Server),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let environment = Arc::new(environment);
    let server = Server::bind(options).await?;
    ready(&server);
    let routes = api::routes().with_state(environment.clone());
    Ok(server.run(routes, shutdown, move || environment.halt.trigger()).await?)
}

/// The same for models: an OpenAI-compatible endpoint.
pub async fn serve_models(
    models: Models,
    options: Options,
    ready: impl FnOnce(&Server),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let models = Arc::new(models);
    let server = Server::bind(options).await?;
    ready(&server);
    Ok(server.run(models::routes(models.clone()), shutdown, move || models.halt()).await?)
}
