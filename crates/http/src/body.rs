//! Request bodies: limited in size, one by one and in total, and in time.

use crate::budget::Permit;
use crate::connection::Phase;
use crate::limits::SMALL;
use crate::{ServerState, WorkerError};
use axum::body::Body;
use axum::extract::Request;
use bytes::{Bytes, BytesMut};
use hyper::body::Body as _;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How long a body that is too large is read and discarded.
const MAX_DISCARD: Duration = Duration::from_secs(1);

/// Bytes of a body that are received before other connections on this thread get a turn.
const YIELD_BYTES: usize = 256 << 10;
/// The length of that turn.
const YIELD_PAUSE: Duration = Duration::from_millis(1);

/// Why a body was not received.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is longer than allowed.
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// It took too long, or was slow while other requests waited.
    #[error("the body was sent too slowly")]
    TooSlow,
    /// The connection broke.
    #[error("cannot receive the body: {0}")]
    Broken(#[source] axum::Error),
}

/// A received body, with its share of the total for all bodies.
#[derive(Debug)]
pub struct RequestBody {
    bytes: Bytes,
    permit: Option<Permit>,
    state: Arc<ServerState>,
}

impl RequestBody {
    /// Parses the body: a large one on a worker thread.
    pub async fn parse<T: Send + 'static>(
        self,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T, WorkerError> {
        let Self { bytes, permit, state } = self;
        if bytes.len() <= SMALL {
            return Ok(parse(&bytes));
        }
        // Parsing costs several times as much as reading.
        let cost = 4 * bytes.len();
        let work = move || {
            let done = parse(&bytes);
            drop((bytes, permit));
            done
        };
        state.workers.run(cost, work).await
    }
}

/// Receives the body of a request. A body whose declared length is too large is rejected before any of it is stored.
/// Large bodies take a share of the total; a slow one loses its share to waiting requests.
pub async fn read_body(request: Request) -> Result<RequestBody, BodyError> {
    let state = request.extensions().get::<Arc<ServerState>>().cloned().unwrap_or_default();
    let received = receive_within(&state, request.into_body()).await;
    let (bytes, permit) = received.inspect_err(|error| tracing::debug!(%error, "rejected a request body"))?;
    Ok(RequestBody { bytes, permit, state })
}

async fn receive_within(state: &ServerState, body: Body) -> Result<(Bytes, Option<Permit>), BodyError> {
    let max = state.limits.max_body_bytes;
    let declared = body.size_hint().exact().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if declared == Some(0) {
        return Ok((Bytes::new(), None));
    }
    state.enter(Phase::Body);
    if declared.is_some_and(|bytes| bytes > max) {
        discard(body, MAX_DISCARD.min(state.limits.body_timeout)).await;
        return Err(BodyError::TooLarge(max));
    }
    let received = async {
        let expected = declared.unwrap_or(max);
        if expected <= SMALL {
            return Ok((receive(body, expected, max).await?, None));
        }
        let permit = state.bodies.acquire(expected, expected).await;
        // The time spent waiting for the permit does not count.
        state.enter(Phase::Body);
        tokio::select! {
            received = receive(body, declared.unwrap_or_default(), max) => Ok((received?, Some(permit))),
            () = permit.revoked() => Err(BodyError::TooSlow),
        }
    };
    let received = timeout(state.limits.body_timeout, received).await.unwrap_or(Err(BodyError::TooSlow));
    state.enter(Phase::Response);
    received
}

/// Reads and discards a body for a moment: a client that is still sending when its connection is closed would not see the
/// response.
async fn discard(body: Body, max: Duration) {
    let mut body = pin!(body);
    let all = async {
        while let Some(Ok(_)) = std::future::poll_fn(|cx| Pin::as_mut(&mut body).poll_frame(cx)).await {
            tokio::task::yield_now().await;
        }
    };
    let _ = timeout(max, all).await;
}

async fn receive(body: Body, expected: usize, max: usize) -> Result<Bytes, BodyError> {
    let mut body = pin!(body);
    let (mut bytes, mut unyielded) = (BytesMut::with_capacity(expected), 0);
    while let Some(frame) = std::future::poll_fn(|cx| Pin::as_mut(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(BodyError::Broken)?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > max {
            return Err(BodyError::TooLarge(max));
        }
        if bytes.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        bytes.extend_from_slice(&data);
        unyielded += data.len();
        if unyielded > YIELD_BYTES {
            // A client that sends fast must not starve other connections on this thread.
            unyielded = 0;
            sleep(YIELD_PAUSE).await;
        }
    }
    Ok(bytes.freeze())
}
