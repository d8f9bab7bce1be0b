//! The server's thread: accepts connections, returns its counts, stops when dropped.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::mpsc as reply_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};

use crate::connection::{Connection, Io};
use crate::dump::Dump;
use crate::service::Service;
use crate::{Stats, TestServerOptions};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// A request for the counts.
///
/// It is answered on the server's thread, so the counts include every reply that a client has read.
type StatsRequest = reply_channel::Sender<Stats>;

/// A running server; dropping it stops it.
pub struct TestServer {
    address: SocketAddr,
    stats_requests: Option<UnboundedSender<StatsRequest>>,
    thread: Option<JoinHandle<io::Result<Stats>>>,
}

impl TestServer {
    /// Starts a server, ready for connections when this returns.
    ///
    /// # Panics
    /// If the port is taken or the dump cannot be opened; see [`TestServer::try_start`].
    #[expect(clippy::expect_used, reason = "a test that cannot have its server has failed")]
    pub fn start(options: TestServerOptions) -> Self {
        Self::try_start(options).expect("the test server starts")
    }

    /// Starts a server, or returns why it cannot start.
    pub fn try_start(options: TestServerOptions) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _inside = runtime.enter();
            let socket = TcpSocket::new_v4()?;
            socket.set_reuseaddr(true)?;
            socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)))?;
            socket.listen(BACKLOG)?
        };
        let address = listener.local_addr()?;
        let dump = options.dump.as_deref().map(Dump::open).transpose()?;
        let (stats_requests, inbox) = unbounded_channel();
        let thread = thread::Builder::new().name("aske-testserver".into()).spawn(move || {
            LocalSet::new().block_on(&runtime, serve(listener, Service::new(options, dump), inbox))
        })?;
        Ok(Self { address, stats_requests: Some(stats_requests), thread: Some(thread) })
    }

    /// The base URL for a client: `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The counts so far; empty if the server's thread has died.
    pub fn stats(&self) -> Stats {
        let (answer, stats) = reply_channel::channel();
        if let Some(stats_requests) = &self.stats_requests {
            // A failed send drops `answer`, so that the wait below ends.
            let _ = stats_requests.send(answer);
        }
        stats.recv().unwrap_or_default()
    }

    /// Stops the server, flushes its dump and returns the final counts.
    pub fn stop(mut self) -> io::Result<Stats> {
        self.join()
    }

    fn join(&mut self) -> io::Result<Stats> {
        self.stats_requests = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the server's thread panicked")),
            None => Ok(Stats::default()),
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // `stop` returns errors.
        let _ = self.join();
    }
}

async fn serve(
    listener: TcpListener,
    service: Service,
    mut inbox: UnboundedReceiver<StatsRequest>,
) -> io::Result<Stats> {
    let service = Rc::new(service);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    spawn_local(serve_connection(stream, Rc::clone(&service)));
                }
                // Out of file descriptors, or the client disconnected.
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            },
            ask = inbox.recv() => match ask {
                // The receiver may be gone.
                Some(ask) => drop(ask.send(service.stats())),
                None => break,
            },
        }
    }
    service.flush()?;
    Ok(service.stats())
}

/// Serves one connection to its end.
async fn serve_connection(stream: TcpStream, service: Rc<Service>) {
    // Avoids delayed replies; if it fails the connection is dead anyway.
    let _ = stream.set_nodelay(true);
    let connection = Rc::new(Connection::default());
    let io = Io::new(stream, Rc::clone(&connection));
    let answer = service_fn(|request| service.answer(request, &connection));
    // Errors are injected faults and disconnected clients, which are both counted.
    let _ = http1::Builder::new().serve_connection(io, answer).await;
}
