//! Starts the servers of the environment and of models.

use crate::{Environment, Models, ServeError, api, models};
use aske_http::{Server, ServerOptions};
use axum::Router;
use std::sync::Arc;

/// Serves an environment: calls `ready` with the server, and runs until `shutdown` completes. Then no new call is made, and
/// calls in flight may finish and are stored.
pub async fn serve(
    environment: Environment,
    options: ServerOptions,
    ready: impl FnOnce(&Server),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let environment = Arc::new(environment);
    let routes = api::routes().with_state(environment.clone());
    run(options, routes, ready, shutdown, move || environment.halt.trigger()).await
}

/// Serves models as an OpenAI-compatible endpoint in the same way, with errors in OpenAI's format.
pub async fn serve_models(
    models: Models,
    options: ServerOptions,
    ready: impl FnOnce(&Server),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let models = Arc::new(models);
    let options = ServerOptions { error_response: models::error_response, ..options };
    run(options, models::routes(models.clone()), ready, shutdown, move || models.halt.trigger()).await
}

async fn run(
    options: ServerOptions,
    routes: Router,
    ready: impl FnOnce(&Server),
    shutdown: impl Future<Output = ()>,
    on_shutdown: impl FnOnce(),
) -> Result<(), ServeError> {
    let server = Server::bind(options).await?;
    ready(&server);
    Ok(server.run(routes, shutdown, on_shutdown).await?)
}
