//! Response bodies: large ones are bounded together, and a client that does not read loses its own to others that wait.

use crate::Permit;
use crate::connection::Connection;
use crate::guard::Shared;
use crate::limits::SMALL;
use crate::workers::run_with;
use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::task::{JoinError, JoinHandle};

/// Bytes that are handed to the connection at once.
const CHUNK: usize = 32 << 10;
/// After so many of them others have a turn.
const TURN: usize = 4;

impl Shared {
    /// A body that `work` makes on a thread of its own. `cost` is about how many bytes it reads or looks at, and `most` the
    /// most that it makes: a large body waits, before any work, until there is room for it beside other large ones.
    pub async fn body<E: From<JoinError> + Send + 'static>(
        &self,
        cost: usize,
        most: usize,
        work: impl FnOnce() -> Result<Bytes, E> + Send + 'static,
    ) -> Result<Body, E> {
        let thread = self.workers.enter(cost).await;
        if most <= SMALL {
            return Ok(Body::from(run_with(thread, work).await??));
        }
        let mut permit = self.responses.acquire(most, most).await;
        let bytes = run_with(thread, work).await??;
        if bytes.len() <= SMALL {
            return Ok(Body::from(bytes));
        }
        permit.renew(bytes.len());
        let watch = self.connection.clone().map(|connection| Watch::new(connection, &permit));
        Ok(Body::new(Large { bytes, sent: 0, _permit: permit, _watch: watch }))
    }
}

/// A large body with its share of what all of them may hold.
struct Large {
    bytes: Bytes,
    /// Parts that were asked for.
    sent: usize,
    _permit: Permit,
    _watch: Option<Watch>,
}

/// Closes the connection when the share is revoked; ends with the body.
struct Watch(JoinHandle<()>);

impl Watch {
    fn new(connection: Arc<Connection>, permit: &Permit) -> Self {
        let revoked = permit.revocation();
        Self(tokio::spawn(async move {
            revoked.notified().await;
            connection.close();
        }))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl HttpBody for Large {
    type Data = Bytes;
    type Error = Infallible;

    /// Copies of parts: a part of the whole would keep all of it in memory until the client has read the last byte.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // Everyone else on this thread has a turn now and then, however fast the client reads.
        self.sent += 1;
        if self.sent.is_multiple_of(TURN) {
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

/// A response's body; its connection learns when it has ended.
pub(crate) struct Answer {
    pub(crate) body: Body,
    pub(crate) connection: Arc<Connection>,
}

impl HttpBody for Answer {
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

impl Drop for Answer {
    fn drop(&mut self) {
        self.connection.answered();
    }
}
