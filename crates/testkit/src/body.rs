//! A reply's body: complete, or half of it and a closed connection.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::connection::Connection;
use crate::counter::InFlight;

/// The error with which the server closes a connection on purpose.
pub(crate) fn closed() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

/// What follows the data.
enum Tail {
    End,
    /// Lets hyper flush its buffer, then closes the connection.
    Pause,
    Break,
}

/// A body of known length.
pub(crate) struct ReplyBody {
    bytes: Option<Bytes>,
    declared: u64,
    tail: Tail,
    in_flight: Option<(InFlight, Rc<Connection>)>,
}

impl ReplyBody {
    /// A body sent in full.
    pub(crate) fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { declared: bytes.len() as u64, bytes: Some(bytes), tail: Tail::End, in_flight: None }
    }

    /// Half of the body, with the full length declared.
    pub(crate) fn halved(mut self) -> Self {
        self.bytes = self.bytes.map(|bytes| bytes.slice(..bytes.len() / 2));
        self.tail = Tail::Pause;
        self
    }

    /// Attaches the request that this body answers.
    pub(crate) fn for_request(mut self, in_flight: InFlight, connection: &Rc<Connection>) -> Self {
        self.in_flight = Some((in_flight, Rc::clone(connection)));
        self
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(bytes) = self.bytes.take() {
            if let Some((in_flight, connection)) = self.in_flight.take() {
                connection.buffered(in_flight);
            }
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match self.tail {
            Tail::End => Poll::Ready(None),
            Tail::Pause => {
                self.tail = Tail::Break;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Tail::Break => Poll::Ready(Some(Err(closed()))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && matches!(self.tail, Tail::End)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.declared)
    }
}
