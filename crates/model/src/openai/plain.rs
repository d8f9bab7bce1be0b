//! Plain HTTP to servers of one's own: one connection for each call in flight, used again at once.
//!
//! A general client opens connections ahead of need, which thousands of calls in flight turn into a storm. Here
//! the last connection that came free is taken, and a new one is made only when there is none.

use crate::{ErrorCause, ProviderError};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Servers close idle connections, some after five seconds; one that idled longer than this is not used again.
const FRESH: Duration = Duration::from_secs(4);

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(30);

type Sender = SendRequest<Full<Bytes>>;

/// The connections to one server.
pub(super) struct Plain {
    host: String,
    port: u16,
    idle: Mutex<Vec<(Instant, Sender)>>,
}

impl Plain {
    pub(super) fn new(host: &str, port: u16) -> Self {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Self { host, port, idle: Mutex::default() }
    }

    /// Sends a request and returns the response with the connection it arrives on.
    pub(super) async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Sender), ProviderError> {
        // A connection that the server closed meanwhile hands the request back unsent.
        while let Some(mut sender) = self.take() {
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, sender)),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(broke(error.error())),
                },
            }
        }
        let mut sender = self.connect().await?;
        let response = sender.send_request(request).await.map_err(|error| broke(&error))?;
        Ok((response, sender))
    }

    /// Keeps a connection whose response has been read to its end.
    pub(super) fn keep(&self, sender: Sender) {
        if sender.is_closed() {
            return;
        }
        let now = Instant::now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let stale = idle.partition_point(|(since, _)| now.duration_since(*since) > FRESH);
        idle.drain(..stale);
        idle.push((now, sender));
    }

    /// The connection that came free last, if it is still fresh.
    fn take(&self) -> Option<Sender> {
        let now = Instant::now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((since, sender)) = idle.pop() {
            if now.duration_since(since) > FRESH {
                idle.clear();
            } else if sender.is_ready() {
                return Some(sender);
            }
        }
        None
    }

    async fn connect(&self) -> Result<Sender, ProviderError> {
        let connecting = TcpStream::connect((self.host.as_str(), self.port));
        let stream = tokio::time::timeout(CONNECT, connecting)
            .await
            .map_err(|_| ProviderError::new(ErrorCause::Network, "cannot connect: no answer"))?
            .map_err(|error| ProviderError::new(ErrorCause::Network, format!("cannot connect: {error}")))?;
        // Without it small requests wait for company; a failure to set it is no reason to fail.
        let _ = stream.set_nodelay(true);
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|error| broke(&error))?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

/// A connection that broke; the innermost cause is what helps.
pub(super) fn broke(error: &(dyn std::error::Error + 'static)) -> ProviderError {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    ProviderError::new(ErrorCause::Network, format!("the connection broke: {inner}"))
}
