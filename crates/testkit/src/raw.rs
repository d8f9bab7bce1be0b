//! A server that sends arbitrary bytes: broken JSON, odd headers, chunked bodies.

use parking_lot::Mutex;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a client may take to send its request.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// A request as received.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// The request line and the headers.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

impl RecordedRequest {
    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The requested model.
    pub fn model(&self) -> String {
        self.json()["model"].as_str().unwrap_or_default().to_owned()
    }
}

/// A running server; dropping it stops it. Each connection serves one request.
pub struct RawServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<RecordedRequest>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RawServer {
    /// Starts a server that sends what `answer` returns, byte for byte; see [`response`] and [`chunked`].
    ///
    /// # Panics
    /// If no port is free.
    #[expect(clippy::expect_used, reason = "a test that cannot have its server has failed")]
    pub fn start(answer: impl Fn(&RecordedRequest) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let (requests, stop) = (Arc::<Mutex<Vec<RecordedRequest>>>::default(), Arc::<AtomicBool>::default());
        let (log, stopped, answer) = (Arc::clone(&requests), Arc::clone(&stop), Arc::new(answer));
        let thread = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || {
                    // The client may disconnect early.
                    let _ = serve_connection(stream, &log, &*answer);
                });
            }
        });
        Self { address, requests, stop, thread: Some(thread) }
    }

    /// The base URL for a client.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.requests.lock().clone()
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve_connection(
    mut stream: TcpStream,
    log: &Mutex<Vec<RecordedRequest>>,
    answer: &(dyn Fn(&RecordedRequest) -> Vec<u8> + Send + Sync),
) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    stream.set_nodelay(true)?;
    let request = read_request(&mut stream)?;
    log.lock().push(request.clone());
    stream.write_all(&answer(&request))
}

fn read_request(stream: &mut TcpStream) -> io::Result<RecordedRequest> {
    let mut bytes = Vec::new();
    let mut part = [0; 16 << 10];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            if bytes.len() >= end + 4 + content_length(&head) {
                return Ok(RecordedRequest { head, body: bytes.split_off(end + 4) });
            }
        }
        match stream.read(&mut part)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => bytes.extend_from_slice(&part[..read]),
        }
    }
}

/// The value of `Content-Length`.
fn content_length(head: &str) -> usize {
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
}

/// A response with `Content-Length`; `headers` are additional lines, each with its line ending.
pub fn response(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A response of status 200 in chunks of this many bytes.
pub fn chunked(body: &[u8], size: usize) -> Vec<u8> {
    let mut out = b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\nconnection: close\r\n\
                    transfer-encoding: chunked\r\n\r\n"
        .to_vec();
    for chunk in body.chunks(size.max(1)) {
        out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}
