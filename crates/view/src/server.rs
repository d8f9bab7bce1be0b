//! Listening, and everything that stands between the socket and a route.

use crate::runs::Runs;
use crate::{ViewError, api, assets, guard};
use axum::Router;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long open requests may take after the end was asked for.
const LAST_REQUESTS: Duration = Duration::from_secs(2);

/// What to show, and where.
#[derive(Clone, Debug)]
pub struct Options {
    /// Run folders, shown in this order.
    pub runs: Vec<PathBuf>,
    /// The port on 127.0.0.1; 0 takes any free one.
    pub port: u16,
}

/// Reads the runs, calls `ready` with the address, and serves until `shutdown` is done.
pub async fn serve(
    options: Options,
    ready: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ViewError> {
    if options.runs.is_empty() {
        return Err(ViewError::NoRuns);
    }
    let port = options.port;
    let bound = |source| ViewError::Bind { port, source };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(bound)?;
    let address = listener.local_addr().map_err(bound)?;
    let (end, ending) = watch::channel(false);
    let read = tokio::task::spawn_blocking(move || Runs::read(&options.runs, ending));
    let runs = read.await.map_err(|error| ViewError::Stopped(error.to_string()))??;
    let app = guard::wrap(routes(Arc::new(runs)), address.port());
    ready(address);
    let mut asked = end.subscribe();
    let until = async move {
        shutdown.await;
        let _ = end.send(true);
    };
    let server = axum::serve(listener, app).with_graceful_shutdown(until);
    let late = async move {
        let _ = asked.wait_for(|asked| *asked).await;
        tokio::time::sleep(LAST_REQUESTS).await;
    };
    tokio::select! {
        ended = server.into_future() => ended.map_err(|error| ViewError::Stopped(error.to_string())),
        () = late => Ok(()),
    }
}

fn routes(runs: Arc<Runs>) -> Router {
    assets::routes().merge(api::routes()).with_state(runs)
}
