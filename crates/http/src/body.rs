//! Request bodies: bounded one by one and together, and received in time.

use crate::Permit;
use crate::guard::Shared;
use crate::limits::SMALL;
use axum::body::Body;
use axum::extract::Request;
use bytes::{Bytes, BytesMut};
use hyper::body::Body as _;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How long a body that is too large may go on.
const DISCARD: Duration = Duration::from_secs(1);

/// Bytes of a body that are received before others have a turn.
const TURN: usize = 256 << 10;
/// How long that turn is at least.
const PAUSE: Duration = Duration::from_millis(1);

/// Why there is no body.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is longer than allowed.
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// It did not come in time, or others were waiting and it was slow.
    #[error("the body came too slowly")]
    TooSlow,
    /// The connection broke.
    #[error("the body cannot be received: {0}")]
    Broken(String),
}

/// A body that was received, and its share of what all bodies together may hold.
#[derive(Debug)]
pub struct Received {
    bytes: Bytes,
    permit: Option<Permit>,
    shared: Arc<Shared>,
}

impl Received {
    fn of(shared: &Arc<Shared>, bytes: Bytes, permit: Option<Permit>) -> Self {
        Self { bytes, permit, shared: Arc::clone(shared) }
    }

    /// Reads it with `read`: a small one here, a large one off the serving thread.
    pub async fn read<T: Send + 'static>(
        self,
        read: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T, BodyError> {
        let Self { bytes, permit, shared } = self;
        if bytes.len() <= SMALL {
            return Ok(read(&bytes));
        }
        // Parsing costs several times as much as reading.
        let cost = 4 * bytes.len();
        let work = move || {
            let done = read(&bytes);
            drop((bytes, permit));
            done
        };
        shared.workers.run(cost, work).await.map_err(|error| BodyError::Broken(error.to_string()))
    }
}

/// Receives the body of a request. A body that is declared too large is refused before any of it is kept. Large bodies
/// take a share of what all bodies together may hold; a slow one loses its share to others that wait.
pub async fn read_body(request: Request) -> Result<Received, BodyError> {
    let shared = request.extensions().get::<Arc<Shared>>().cloned().unwrap_or_default();
    let most = shared.limits.body_bytes;
    let body = request.into_body();
    let declared = body.size_hint().exact().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if declared.is_some_and(|bytes| bytes > most) {
        shared.receiving();
        discard(body, DISCARD.min(shared.limits.body)).await;
        return Err(BodyError::TooLarge(most));
    }
    if declared == Some(0) {
        return Ok(Received::of(&shared, Bytes::new(), None));
    }
    shared.receiving();
    let received = async {
        let expected = declared.unwrap_or(most);
        if expected <= SMALL {
            return Ok((receive(body, expected, most).await?, None));
        }
        let permit = shared.bodies.acquire(expected, expected).await;
        // The time that it waited is not its own.
        shared.receiving();
        tokio::select! {
            received = receive(body, declared.unwrap_or_default(), most) => Ok((received?, Some(permit))),
            () = permit.revoked() => Err(BodyError::TooSlow),
        }
    };
    let received = timeout(shared.limits.body, received).await.unwrap_or(Err(BodyError::TooSlow));
    shared.answering();
    let (bytes, permit) = received?;
    Ok(Received::of(&shared, bytes, permit))
}

/// Throws away what a client sends, for a moment: one that is still sending when its connection is closed would not see why.
async fn discard(body: Body, most: Duration) {
    let mut body = pin!(body);
    let all = async {
        while let Some(Ok(_)) = std::future::poll_fn(|cx| Pin::as_mut(&mut body).poll_frame(cx)).await {
            tokio::task::yield_now().await;
        }
    };
    let _ = timeout(most, all).await;
}

async fn receive(body: Body, expected: usize, most: usize) -> Result<Bytes, BodyError> {
    let mut body = pin!(body);
    let (mut bytes, mut unyielded) = (BytesMut::with_capacity(expected), 0);
    while let Some(frame) = std::future::poll_fn(|cx| Pin::as_mut(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|error| BodyError::Broken(error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > most {
            return Err(BodyError::TooLarge(most));
        }
        if bytes.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        bytes.extend_from_slice(&data);
        unyielded += data.len();
        if unyielded > TURN {
            // Everyone else on this thread has a turn now and then, however fast the client sends.
            unyielded = 0;
            sleep(PAUSE).await;
        }
    }
    Ok(bytes.freeze())
}
