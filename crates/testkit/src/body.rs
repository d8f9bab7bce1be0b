//! A reply's body: all of its bytes, or half of them and a broken connection.

use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::connection::Connection;
use crate::ledger::Ticket;

/// The server closes the connection on purpose.
#[derive(Debug)]
pub(crate) struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connection closed on purpose")
    }
}

impl std::error::Error for Closed {}

/// What follows the bytes.
enum Tail {
    End,
    /// Lets hyper flush what it has, then breaks.
    Pause,
    Break,
}

/// A body of known length.
pub(crate) struct ReplyBody {
    bytes: Option<Bytes>,
    declared: u64,
    tail: Tail,
    ticket: Option<(Ticket, Rc<Connection>)>,
}

impl ReplyBody {
    /// A body sent in full.
    pub(crate) fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { declared: bytes.len() as u64, bytes: Some(bytes), tail: Tail::End, ticket: None }
    }

    /// The same body with its second half missing but declared.
    pub(crate) fn halved(mut self) -> Self {
        self.bytes = self.bytes.map(|bytes| bytes.slice(..bytes.len() / 2));
        self.tail = Tail::Pause;
        self
    }

    /// Attaches the request that this body answers.
    pub(crate) fn settling(mut self, ticket: Ticket, connection: &Rc<Connection>) -> Self {
        self.ticket = Some((ticket, Rc::clone(connection)));
        self
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Closed;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Closed>>> {
        if let Some(bytes) = self.bytes.take() {
            if let Some((ticket, connection)) = self.ticket.take() {
                connection.buffered(ticket);
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
            Tail::Break => Poll::Ready(Some(Err(Closed))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && matches!(self.tail, Tail::End)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.declared)
    }
}
