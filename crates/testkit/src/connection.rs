//! An accepted socket that reports flushes and can reset, which hyper does not offer.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::counter::InFlight;

/// State shared by the service and the socket of a connection.
#[derive(Default)]
pub(crate) struct Connection {
    /// Makes the close a TCP reset.
    pub(crate) reset_on_close: Cell<bool>,
    buffered: RefCell<Option<InFlight>>,
}

impl Connection {
    /// Registers a reply in hyper's buffer, which the next flush writes.
    pub(crate) fn buffered(&self, in_flight: InFlight) {
        *self.buffered.borrow_mut() = Some(in_flight);
    }

    fn flushed(&self) {
        if let Some(in_flight) = self.buffered.borrow_mut().take() {
            in_flight.written();
        }
    }
}

/// A socket that reports flushes to its [`Connection`] and resets on close if requested.
pub(crate) struct Io {
    stream: TokioIo<TcpStream>,
    connection: Rc<Connection>,
}

impl Io {
    /// Wraps an accepted socket.
    pub(crate) fn new(stream: TcpStream, connection: Rc<Connection>) -> Self {
        Self { stream: TokioIo::new(stream), connection }
    }
}

impl Drop for Io {
    fn drop(&mut self) {
        if self.connection.reset_on_close.get() {
            // If this fails the socket is closed normally, and the client still loses its reply.
            let _ = self.stream.inner().set_zero_linger();
        }
    }
}

impl Read for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl Write for Io {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    /// hyper flushes the socket only after writing its own buffer.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.connection.flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
