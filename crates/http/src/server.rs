//! Accepting connections, and a graceful end.

use crate::guard::{self, Guard, Shared};
use crate::host::Hosts;
use crate::io::Watched;
use crate::login::Logins;
use crate::response::Answer;
use crate::table::{Place, Table};
use crate::{Access, HttpError, Limits, Refusal};
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

/// Between two looks at connections that take too long.
const LOOK: Duration = Duration::from_millis(500);
/// After an attempt to accept a connection has failed, as it does when no more files can be opened.
const PAUSE: Duration = Duration::from_millis(50);
/// What a connection buffers of requests and responses, and the longest headers.
const BUFFER: usize = 64 << 10;

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: \
    application/json\r\nContent-Length: 91\r\n\r\n\
    {\"error\":\"as many requests as possible are being answered\",\"hint\":\"try again in a moment\"}\n";

/// How a server listens.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address; port 0 takes any free one.
    pub address: SocketAddr,
    /// Names beyond the usual ones that requests may give as their host, such as that of a proxy.
    pub allowed_hosts: Vec<String>,
    /// The token; required on addresses other than loopback.
    pub access: Access,
    /// Whether browsers can log in with a link.
    pub browsers: bool,
    /// How long open requests may take after the end was asked for.
    pub grace: Duration,
    /// What clients may hold.
    pub limits: Limits,
    /// The response to a refused request.
    pub refuse: fn(Refusal) -> Response,
    /// The `Content-Security-Policy` of responses.
    pub policy: &'static str,
}

impl Options {
    /// The usual options.
    pub fn new(address: SocketAddr, access: Access) -> Self {
        Self {
            address,
            access,
            allowed_hosts: Vec::new(),
            browsers: false,
            grace: Duration::from_secs(10),
            limits: Limits::default(),
            refuse: |refusal| {
                (refusal.status, format!("{}\nhint: {}\n", refusal.what, refusal.hint)).into_response()
            },
            policy: "default-src 'none'; frame-ancestors 'none'",
        }
    }
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    options: Options,
    logins: Option<Arc<Logins>>,
}

impl Server {
    /// Starts to listen.
    pub async fn bind(options: Options) -> Result<Self, HttpError> {
        let address = options.address;
        if !address.ip().is_loopback() && !options.access.is_required() {
            return Err(HttpError::NoToken { address });
        }
        let wrong = |source| HttpError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(wrong)?;
        let address = listener.local_addr().map_err(wrong)?;
        let logins = options.browsers && options.access.is_required();
        let logins = logins.then(|| Arc::new(Logins::new(address.port())));
        Ok(Self { listener, address, options, logins })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The path of a link that logs a browser in, once; none where no token is required.
    pub fn login(&self) -> Result<Option<String>, HttpError> {
        self.logins.as_ref().map(|logins| logins.link()).transpose()
    }

    /// Serves until `shutdown` is done. Then `halt` is called, no request begins any more, and open ones may end within
    /// the grace.
    pub async fn run(
        self,
        routes: Router,
        shutdown: impl Future<Output = ()>,
        halt: impl FnOnce(),
    ) -> Result<(), HttpError> {
        let Self { listener, address, options, logins } = self;
        let Options { allowed_hosts, access, grace, limits, refuse, policy, .. } = options;
        let hosts = Hosts::new(address, &allowed_hosts);
        let routes = guard::wrap(routes, Guard { hosts, access, logins, refuse, policy });
        let shared = Shared::new(limits.clone());
        let table = Table::new(limits);
        let (end, ending) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut shutdown = pin!(shutdown);
        let mut number = 0;
        loop {
            let accepted = tokio::select! {
                () = &mut shutdown => break,
                _ = look.tick() => {
                    table.close_overdue();
                    while tasks.try_join_next().is_some() {}
                    continue;
                }
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                sleep(PAUSE).await;
                continue;
            };
            number += 1;
            match table.place(number) {
                Some(place) => {
                    tasks.spawn(serve(stream, place, routes.clone(), shared.clone(), ending.clone()));
                }
                // The socket's buffer is empty, so there is room for it.
                None => drop(stream.try_write(FULL)),
            }
        }
        drop(listener);
        halt();
        let _ = end.send(true);
        let _ = timeout(grace, async { while tasks.join_next().await.is_some() {} }).await;
        Ok(())
    }
}

/// Serves one connection until it ends, is closed, or has answered its last request after the end was asked for.
async fn serve(
    stream: TcpStream,
    place: Place,
    routes: Router,
    shared: Shared,
    mut ending: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let connection = &place.connection;
    let shared = shared.of(connection);
    let routes = TowerToHyperService::new(routes);
    let answer = service_fn(|mut request: hyper::Request<Incoming>| {
        connection.answering();
        request.extensions_mut().insert(Arc::clone(&shared));
        let (answer, connection) = (routes.call(request), Arc::clone(connection));
        async move { Ok::<_, std::convert::Infallible>(answer.await?.map(|body| Answer { body, connection })) }
    });
    let io = TokioIo::new(Watched::new(stream, Arc::clone(connection)));
    let mut served = pin!(http1::Builder::new().max_buf_size(BUFFER).serve_connection(io, answer));
    let mut ends = false;
    loop {
        tokio::select! {
            _ = served.as_mut() => break,
            () = connection.closing() => break,
            _ = ending.wait_for(|ending| *ending), if !ends => {
                ends = true;
                served.as_mut().graceful_shutdown();
            }
        }
    }
}
