//! A pool of plain HTTP/1.1 connections to one server.
//!
//! General clients open connections ahead of need, which becomes a storm with thousands of calls in flight. This pool
//! reuses the connection that was freed last, and opens one only when none is free.

use crate::{ErrorCause, ProviderError};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tracing::debug;

/// Connections that were idle for longer are not reused: some servers close them after five seconds.
const MAX_IDLE: Duration = Duration::from_secs(4);

/// A host that has not accepted a connection by then is down: packets that get lost are sent again after 1, 3 and 7 s.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

type Sender = SendRequest<Full<Bytes>>;

/// The connections to one server.
pub(super) struct ConnectionPool {
    host: String,
    port: u16,
    idle: Mutex<Vec<(Instant, Sender)>>,
}

impl ConnectionPool {
    pub(super) fn new(host: &str, port: u16) -> Self {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Self { host, port, idle: Mutex::default() }
    }

    /// Sends a request and returns the response with the connection it arrives on.
    pub(super) async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Sender), ProviderError> {
        // A connection that the server has closed returns the request unsent.
        while let Some(mut sender) = self.take() {
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, sender)),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => {
                        debug!(host = self.host, port = self.port, "the server closed an idle connection");
                        request = unsent;
                    }
                    None => return Err(connection_error(error.error())),
                },
            }
        }
        let mut sender = self.connect().await?;
        let response = sender.send_request(request).await.map_err(|error| connection_error(&error))?;
        Ok((response, sender))
    }

    /// Returns a connection whose response has been read completely.
    pub(super) fn keep(&self, sender: Sender) {
        if sender.is_closed() {
            return;
        }
        let now = Instant::now();
        let mut idle = self.idle.lock();
        let stale = idle.partition_point(|(since, _)| now.duration_since(*since) > MAX_IDLE);
        idle.drain(..stale);
        idle.push((now, sender));
    }

    /// The connection that was freed last, unless it was idle for too long.
    fn take(&self) -> Option<Sender> {
        let now = Instant::now();
        let mut idle = self.idle.lock();
        while let Some((since, sender)) = idle.pop() {
            if now.duration_since(since) > MAX_IDLE {
                idle.clear();
            } else if sender.is_ready() {
                return Some(sender);
            }
        }
        None
    }

    async fn connect(&self) -> Result<Sender, ProviderError> {
        let connecting = async {
            let addresses = tokio::net::lookup_host((self.host.as_str(), self.port)).await;
            let addresses: Vec<_> = addresses.map_err(|_| unresolved(&self.host))?.collect();
            TcpStream::connect(addresses.as_slice()).await.map_err(|error| unconnected(&error))
        };
        let stream = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await.unwrap_or_else(|_| {
            let message = format!("cannot connect: timed out after {} s", CONNECT_TIMEOUT.as_secs());
            Err(ProviderError::new(ErrorCause::Network, message))
        })?;
        // Small requests are sent at once; failing to set this is harmless.
        let _ = stream.set_nodelay(true);
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| connection_error(&error))?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

/// A host name without an address.
pub(super) fn unresolved(host: &str) -> ProviderError {
    ProviderError::new(ErrorCause::Network, format!("cannot resolve host `{host}`"))
}

/// A connection that was not established, with the innermost cause.
pub(super) fn unconnected(error: &(dyn Error + 'static)) -> ProviderError {
    let inner = innermost(error);
    let refused =
        inner.downcast_ref::<io::Error>().map(io::Error::kind) == Some(ErrorKind::ConnectionRefused);
    let cause = if refused { "connection refused".to_owned() } else { inner.to_string() };
    ProviderError::new(ErrorCause::Network, format!("cannot connect: {cause}"))
}

/// The error of a broken connection, with the innermost cause.
pub(super) fn connection_error(error: &(dyn Error + 'static)) -> ProviderError {
    ProviderError::new(ErrorCause::Network, format!("the connection broke: {}", innermost(error)))
}

fn innermost<'e>(mut error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    while let Some(source) = error.source() {
        error = source;
    }
    error
}
