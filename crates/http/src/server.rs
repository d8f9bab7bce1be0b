//! Accepts connections and shuts down gracefully.

use crate::connection::Phase;
use crate::connections::{Connections, Registration};
use crate::guard::{self, Guard};
use crate::host::AllowedHosts;
use crate::io::TrackedStream;
use crate::login::Logins;
use crate::response::TrackedBody;
use crate::{Access, ApiError, HttpError, Limits, ServerState};
use axum::Router;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tracing::Instrument;

/// How often connections are checked for timeouts.
const SWEEP_INTERVAL: Duration = Duration::from_millis(500);
/// Pause after `accept` failed, for example because the process is out of file descriptors.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);
/// Size of a connection's read and write buffers, which also limits the length of headers.
const BUFFER: usize = 64 << 10;

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: \
    application/json\r\nContent-Length: 87\r\n\r\n\
    {\"error\":\"the server is at its limit of open requests\",\"hint\":\"try again in a moment\"}\n";

/// Address, access and limits of a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address; port 0 means any free port.
    pub address: SocketAddr,
    /// Additional host names, such as that of a reverse proxy.
    pub allowed_hosts: Vec<String>,
    /// The token; required on addresses other than loopback.
    pub access: Access,
    /// Whether browsers can log in with a link.
    pub browser_login: bool,
    /// How long open requests may take after shutdown was requested.
    pub grace: Duration,
    /// Timeouts and size limits.
    pub limits: Limits,
    /// Formats the response to a rejected request.
    pub error_response: fn(ApiError) -> Response,
    /// The `Content-Security-Policy` of responses.
    pub content_security_policy: &'static str,
}

impl ServerOptions {
    /// The defaults.
    pub fn new(address: SocketAddr, access: Access) -> Self {
        Self {
            address,
            access,
            allowed_hosts: Vec::new(),
            browser_login: false,
            grace: Duration::from_secs(10),
            limits: Limits::default(),
            error_response: IntoResponse::into_response,
            content_security_policy: "default-src 'none'; frame-ancestors 'none'",
        }
    }
}

/// A listening server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    options: ServerOptions,
    logins: Option<Arc<Logins>>,
}

impl Server {
    /// Starts listening.
    pub async fn bind(options: ServerOptions) -> Result<Self, HttpError> {
        let address = options.address;
        if !address.ip().is_loopback() && !options.access.is_required() {
            return Err(HttpError::NoToken { address });
        }
        let failed = |source| HttpError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let logins = options.browser_login && options.access.is_required();
        let logins = logins.then(|| Arc::new(Logins::new(address.port())));
        Ok(Self { listener, address, options, logins })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The path of a new one-time login link for a browser; none if no token is required.
    pub fn login(&self) -> Result<Option<String>, HttpError> {
        self.logins.as_ref().map(|logins| logins.link()).transpose()
    }

    /// Serves until `shutdown` completes. Then `on_shutdown` is called, no new request is accepted, and open ones may
    /// finish within the grace period.
    pub async fn run(
        self,
        routes: Router,
        shutdown: impl Future<Output = ()>,
        on_shutdown: impl FnOnce(),
    ) -> Result<(), HttpError> {
        let Self { listener, address, options, logins } = self;
        let ServerOptions { access, grace, limits, error_response, content_security_policy, .. } = options;
        let hosts = AllowedHosts::new(address, &options.allowed_hosts);
        let guard = Guard { hosts, access, logins, error_response, content_security_policy };
        let routes = guard::wrap(routes, guard);
        let state = ServerState::new(limits.clone());
        let connections = Connections::new(limits);
        let (end, ending) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut sweep = interval(SWEEP_INTERVAL);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut shutdown = pin!(shutdown);
        let mut id = 0;
        loop {
            let accepted = tokio::select! {
                () = &mut shutdown => break,
                _ = sweep.tick() => {
                    connections.close_overdue();
                    while tasks.try_join_next().is_some() {}
                    continue;
                }
                accepted = listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::info!(%error, "cannot accept a connection");
                    sleep(ACCEPT_BACKOFF).await;
                    continue;
                }
            };
            id += 1;
            if let Some(registration) = connections.register(id) {
                let span = tracing::debug_span!("connection", id, %peer);
                let task = serve(stream, registration, routes.clone(), state.clone(), ending.clone());
                tasks.spawn(task.instrument(span));
            } else {
                tracing::info!(%peer, "connection limit reached: rejected a connection");
                // The socket's send buffer is empty, so this does not block.
                drop(stream.try_write(FULL));
            }
        }
        drop(listener);
        tracing::info!(connections = tasks.len(), "shutting down");
        on_shutdown();
        let _ = end.send(true);
        if timeout(grace, async { while tasks.join_next().await.is_some() {} }).await.is_err() {
            tracing::info!(connections = tasks.len(), "closed connections that did not finish in time");
        }
        Ok(())
    }
}

/// Serves one connection until it ends, is closed, or has answered its last request after shutdown was requested.
async fn serve(
    stream: TcpStream,
    registration: Registration,
    routes: Router,
    state: ServerState,
    mut ending: watch::Receiver<bool>,
) {
    let connection = &registration.connection;
    // Most connections of a flood send nothing. Until the first byte, only the socket is kept.
    let mut first = [0];
    tokio::select! {
        received = stream.peek(&mut first) => if !matches!(received, Ok(1..)) { return },
        () = connection.closing() => return,
        _ = ending.wait_for(|ending| *ending) => return,
    }
    let _ = stream.set_nodelay(true);
    let state = state.with_connection(connection);
    let routes = TowerToHyperService::new(routes);
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        connection.enter(Phase::Response);
        request.extensions_mut().insert(Arc::clone(&state));
        let (response, connection) = (routes.call(request), Arc::clone(connection));
        async move { response.await.map(|response| response.map(|body| TrackedBody { body, connection })) }
    });
    let io = TokioIo::new(TrackedStream { stream, connection: Arc::clone(connection) });
    let mut served = pin!(http1::Builder::new().max_buf_size(BUFFER).serve_connection(io, service));
    let mut stopping = false;
    loop {
        tokio::select! {
            served = served.as_mut() => {
                if let Err(error) = served {
                    tracing::debug!(%error, "connection failed");
                }
                break;
            }
            () = connection.closing() => break,
            _ = ending.wait_for(|ending| *ending), if !stopping => {
                stopping = true;
                served.as_mut().graceful_shutdown();
            }
        }
    }
}
