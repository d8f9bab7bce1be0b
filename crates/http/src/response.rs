//! Response bodies: large ones share a budget, and a client that does not read loses its share to waiting requests.

use crate::budget::Permit;
use crate::connection::{Connection, Phase};
use crate::limits::SMALL;
use crate::workers::run_with;
use crate::{ServerState, WorkerError};
use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::task::JoinSet;

/// Bytes that are passed to the connection at once.
const CHUNK: usize = 32 << 10;
/// After this many chunks other connections on this thread get a turn.
const CHUNKS_PER_TURN: usize = 4;

impl ServerState {
    /// The body that `work` produces on a worker thread. `cost` is the approximate number of bytes that it reads, `max` the
    /// most that it produces: a large response waits for its share of the total before any work is done.
    pub async fn response_body<E: From<WorkerError> + Send + 'static>(
        &self,
        cost: usize,
        max: usize,
        work: impl FnOnce() -> Result<Bytes, E> + Send + 'static,
    ) -> Result<Body, E> {
        let thread = self.workers.acquire(cost).await;
        if max <= SMALL {
            return Ok(Body::from(run_with(thread, work).await??));
        }
        let mut permit = self.responses.acquire(max, max).await;
        let bytes = run_with(thread, work).await??;
        if bytes.len() <= SMALL {
            return Ok(Body::from(bytes));
        }
        permit.renew(bytes.len());
        let mut close = JoinSet::new();
        if let Some(connection) = self.connection.clone() {
            let revoked = permit.revocation();
            close.spawn(async move {
                revoked.notified().await;
                tracing::debug!("closed a client that reads its response too slowly");
                connection.close();
            });
        }
        Ok(Body::new(LargeBody { bytes, polls: 0, _permit: permit, _close: close }))
    }
}

/// A large body with its share of the total.
struct LargeBody {
    bytes: Bytes,
    polls: usize,
    _permit: Permit,
    /// Closes the connection when the share is revoked; ends with the body.
    _close: JoinSet<()>,
}

impl HttpBody for LargeBody {
    type Data = Bytes;
    type Error = Infallible;

    /// Copies each chunk: a slice would keep the whole body in memory until the client has read the last byte.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // A client that reads fast must not starve other connections on this thread.
        self.polls += 1;
        if self.polls.is_multiple_of(CHUNKS_PER_TURN) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let length = self.bytes.len().min(CHUNK);
        let part = self.bytes.split_to(length);
        Poll::Ready((length > 0).then(|| Ok(Frame::data(Bytes::copy_from_slice(&part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}

/// A response's body; its connection becomes idle when it ends.
pub(crate) struct TrackedBody {
    pub(crate) body: Body,
    pub(crate) connection: Arc<Connection>,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for TrackedBody {
    fn drop(&mut self) {
        self.connection.enter(Phase::Idle);
    }
}
