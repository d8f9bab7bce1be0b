//! Listening, and a polite end.

use crate::{Environment, Models, ServeError, api, guard, models};
use axum::Router;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long open requests may take after the end was asked for: a call in flight is paid for, and is stored.
const LAST_REQUESTS: Duration = Duration::from_secs(10);

/// Calls `ready` with the address and serves until `shutdown` is done. Then no call begins any more, and those in
/// flight may end.
pub async fn serve(
    environment: Environment,
    place: SocketAddr,
    ready: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let environment = Arc::new(environment);
    let routes = api::routes().with_state(environment.clone());
    listen(routes, place, ready, shutdown, move || environment.halt.call()).await
}

/// The same for models: an OpenAI-compatible endpoint.
pub async fn serve_models(
    models: Models,
    place: SocketAddr,
    ready: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let models = Arc::new(models);
    listen(models::routes(models.clone()), place, ready, shutdown, move || models.halt()).await
}

/// `halt` is called when the end begins.
async fn listen(
    routes: Router,
    place: SocketAddr,
    ready: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()> + Send + 'static,
    halt: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError> {
    let bound = |source| ServeError::Bind { address: place, source };
    let listener = TcpListener::bind(place).await.map_err(bound)?;
    let address = listener.local_addr().map_err(bound)?;
    let app = guard::wrap(routes, address);
    let (end, mut asked) = watch::channel(false);
    let until = async move {
        shutdown.await;
        halt();
        let _ = end.send(true);
    };
    ready(address);
    let server = axum::serve(listener, app).with_graceful_shutdown(until);
    let late = async move {
        let _ = asked.wait_for(|asked| *asked).await;
        tokio::time::sleep(LAST_REQUESTS).await;
    };
    tokio::select! {
        ended = server.into_future() => ended.map_err(ServeError::Stopped),
        () = late => Ok(()),
    }
}
