//! Listening, and everything that stands between the socket and a route.

use crate::runs::Runs;
use crate::{ViewError, api, assets, guard};
use aske_http::{Access, Server};
use axum::Router;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long open requests may take after the end was asked for.
const LAST_REQUESTS: Duration = Duration::from_secs(2);

/// What to show, and where.
#[derive(Clone, Debug)]
pub struct Options {
    /// Run folders, shown in this order.
    pub runs: Vec<PathBuf>,
    /// How to listen.
    pub http: aske_http::Options,
}

impl Options {
    /// Shows these runs on this address.
    pub fn new(runs: Vec<PathBuf>, address: SocketAddr, access: Access) -> Self {
        let http = aske_http::Options {
            browsers: true,
            grace: LAST_REQUESTS,
            refuse: guard::refuse,
            policy: guard::POLICY,
            ..aske_http::Options::new(address, access)
        };
        Self { runs, http }
    }

    /// Shows these runs to this machine alone; port 0 takes any free one.
    pub fn local(runs: Vec<PathBuf>, port: u16) -> Self {
        Self::new(runs, (Ipv4Addr::LOCALHOST, port).into(), Access::open())
    }
}

/// Reads the runs, calls `ready` with the server, and serves until `shutdown` is done.
pub async fn serve(
    options: Options,
    ready: impl FnOnce(&Server),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ViewError> {
    if options.runs.is_empty() {
        return Err(ViewError::NoRuns);
    }
    let server = Server::bind(options.http).await?;
    let (end, ending) = watch::channel(false);
    let read = tokio::task::spawn_blocking(move || Runs::read(&options.runs, ending));
    let runs = read.await.map_err(|error| ViewError::Stopped(error.to_string()))??;
    let app = guard::wrap(routes(Arc::new(runs)));
    ready(&server);
    let halt = move || {
        let _ = end.send(true);
    };
    Ok(server.run(app, shutdown, halt).await?)
}

fn routes(runs: Arc<Runs>) -> Router {
    assets::routes().merge(api::routes()).with_state(runs)
}
