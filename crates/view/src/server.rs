//! Starts the viewer's server.

use crate::runs::RunStore;
use crate::{ViewError, api, assets};
use aske_http::{Access, ApiError, Server, ServerOptions, WorkerError};
use axum::extract::Request;
use axum::http::header::ALLOW;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::spawn_blocking;

/// How long open requests may take after shutdown was requested.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// What the page may load and do.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'";

/// What to show, and where.
#[derive(Clone, Debug)]
pub struct ViewOptions {
    /// Run folders, shown in this order.
    pub runs: Vec<PathBuf>,
    /// Options of the HTTP server.
    pub http: ServerOptions,
}

impl ViewOptions {
    /// Shows these runs on this address.
    pub fn new(runs: Vec<PathBuf>, address: SocketAddr, access: Access) -> Self {
        let http = ServerOptions {
            browser_login: true,
            grace: SHUTDOWN_GRACE,
            content_security_policy: CONTENT_SECURITY_POLICY,
            ..ServerOptions::new(address, access)
        };
        Self { runs, http }
    }

    /// Shows these runs to this machine alone; port 0 means any free port.
    pub fn local(runs: Vec<PathBuf>, port: u16) -> Self {
        Self::new(runs, (Ipv4Addr::LOCALHOST, port).into(), Access::open())
    }
}

/// Reads the runs, calls `ready` with the server, and serves until `shutdown` completes.
pub async fn serve(
    options: ViewOptions,
    ready: impl FnOnce(&Server),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ViewError> {
    if options.runs.is_empty() {
        return Err(ViewError::NoRuns);
    }
    let server = Server::bind(options.http).await?;
    let (end, ending) = watch::channel(false);
    let read = spawn_blocking(move || RunStore::read(&options.runs, ending));
    let runs = read.await.map_err(WorkerError::from)??;
    let not_found = async || ApiError::not_found("this route does not exist");
    let routes = assets::routes().merge(api::routes()).with_state(Arc::new(runs));
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
