//! Starts the viewer's server.

use crate::runs::RunStore;
use crate::{ViewError, api, assets};
use aske_http::{ApiError, Server, ServerOptions, WorkerError};
use axum::extract::Request;
use axum::http::header::ALLOW;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::spawn_blocking;

/// How long open requests may take after shutdown was requested.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// What the page may load and do.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'";

/// Finds the runs below some folders, calls `ready` with the server, and serves until `shutdown`
/// completes.
pub async fn serve(
    runs: Vec<PathBuf>,
    http: ServerOptions,
    ready: impl FnOnce(&Server),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ViewError> {
    if runs.is_empty() {
        return Err(ViewError::NoRuns);
    }
    let http = ServerOptions {
        browser_login: true,
        grace: SHUTDOWN_GRACE,
        content_security_policy: CONTENT_SECURITY_POLICY,
        ..http
    };
    let server = Server::bind(http).await?;
    let (end, ending) = watch::channel(false);
    let read = spawn_blocking(move || RunStore::open(&runs, ending));
    let runs = read.await.map_err(WorkerError::from)??;
    let not_found = async || ApiError::not_found("this route does not exist");
    let routes = assets::routes().merge(api::routes()).with_state(runs);
    let routes = routes.fallback(not_found).layer(from_fn(check_method));
    ready(&server);
    Ok(server
        .run(routes, shutdown, move || {
            end.send_replace(true);
        })
        .await?)
}

async fn check_method(request: Request, next: Next) -> Response {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return next.run(request).await;
    }
    let error = ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "the viewer is read-only: use GET or HEAD");
    ([(ALLOW, "GET, HEAD")], error).into_response()
}
