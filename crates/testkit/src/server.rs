//! The server's thread: accepts connections, answers for its counts, stops when dropped.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::mpsc as reply_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::{self, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};

use crate::connection::{Connection, Io};
use crate::service::Service;
use crate::{Options, Stats};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// A request for the counts, answered on the server's thread.
///
/// Going through the thread makes the counts exact: a reply that a client has read is already in them.
type Ask = reply_channel::Sender<Stats>;

/// A running server; dropping it stops it.
pub struct TestServer {
    address: SocketAddr,
    asks: Option<UnboundedSender<Ask>>,
    thread: Option<JoinHandle<io::Result<Stats>>>,
}

impl TestServer {
    /// Starts a server, ready for connections when this returns.
    ///
    /// # Panics
    /// If the port is taken or the dump cannot be opened; see [`TestServer::try_start`].
    #[expect(clippy::expect_used, reason = "a test that cannot have its server has failed")]
    pub fn start(options: Options) -> Self {
        Self::try_start(options).expect("the test server starts")
    }

    /// Starts a server, or says why not.
    pub fn try_start(options: Options) -> io::Result<Self> {
        let (asks, inbox) = unbounded_channel();
        let (ready, started) = reply_channel::channel();
        let thread = thread::Builder::new().name("aske-testserver".into()).spawn(move || {
            let (runtime, listener, address) = prepare(options.port)?;
            let service = Service::new(options)?;
            // The starter waits for this message; if it is gone, the closed inbox stops the loop.
            let _ = ready.send(address);
            LocalSet::new().block_on(&runtime, serve(listener, service, inbox))
        })?;
        let mut server = Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            asks: Some(asks),
            thread: Some(thread),
        };
        match started.recv() {
            Ok(address) => server.address = address,
            Err(_) => {
                return Err(server
                    .join()
                    .err()
                    .unwrap_or_else(|| io::Error::other("the server stopped at once")));
            }
        }
        Ok(server)
    }

    /// The base URL for a client: `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The counts so far; empty if the server's thread has died.
    pub fn stats(&self) -> Stats {
        let (answer, stats) = reply_channel::channel();
        if let Some(asks) = &self.asks {
            // A failed send drops `answer`, so that the wait below ends.
            let _ = asks.send(answer);
        }
        stats.recv().unwrap_or_default()
    }

    /// Stops the server, writes its dump out and gives the final counts.
    pub fn stop(mut self) -> io::Result<Stats> {
        self.join()
    }

    fn join(&mut self) -> io::Result<Stats> {
        self.asks = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the server's thread panicked")),
            None => Ok(Stats::default()),
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // Whoever wants to know how it ended calls `stop`.
        let _ = self.join();
    }
}

fn prepare(port: u16) -> io::Result<(Runtime, TcpListener, SocketAddr)> {
    let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let listener = {
        let _inside = runtime.enter();
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        socket.listen(BACKLOG)?
    };
    let address = listener.local_addr()?;
    Ok((runtime, listener, address))
}

async fn serve(
    listener: TcpListener,
    service: Service,
    mut inbox: UnboundedReceiver<Ask>,
) -> io::Result<Stats> {
    let service = Rc::new(service);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    spawn_local(converse(stream, Rc::clone(&service)));
                }
                // Out of descriptors, or the client left first: neither ends the server.
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            },
            ask = inbox.recv() => match ask {
                // An asker that no longer waits needs no answer.
                Some(ask) => drop(ask.send(service.stats())),
                None => break,
            },
        }
    }
    service.flush()?;
    Ok(service.stats())
}

/// Serves one connection to its end.
async fn converse(stream: TcpStream, service: Rc<Service>) {
    // Without it replies may wait for acknowledgements; with an error the connection is dead anyway.
    let _ = stream.set_nodelay(true);
    let connection = Rc::new(Connection::default());
    let io = Io::new(stream, Rc::clone(&connection));
    let answer = service_fn(|request| service.answer(request, &connection));
    // Errors here are the faults and the clients that leave; the ledger has both.
    let _ = http1::Builder::new().serve_connection(io, answer).await;
}
