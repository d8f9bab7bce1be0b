//! Clients that misbehave, over real sockets: whoever behaves is answered all the same.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use aske_chat::Hint;
use aske_http::{
    Access, HttpError, Limits, Server, ServerOptions, ServerState, Token, WorkerError, read_body,
};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

struct World {
    address: SocketAddr,
    end: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<Result<(), HttpError>>,
}

/// Counts bytes; makes two megabytes; takes its time.
fn routes() -> Router {
    async fn count(request: Request) -> Response {
        let received = match read_body(request).await {
            Ok(received) => received,
            Err(error) => return (StatusCode::REQUEST_TIMEOUT, error.to_string()).into_response(),
        };
        received.parse(|bytes| bytes.len().to_string()).await.unwrap().into_response()
    }
    async fn large(Extension(state): Extension<Arc<ServerState>>) -> Response {
        let make = || Ok::<_, WorkerError>(Bytes::from(vec![b'x'; 8 << 20]));
        state.response_body(8 << 20, 8 << 20, make).await.unwrap().into_response()
    }
    async fn slow() -> &'static str {
        sleep(Duration::from_millis(500)).await;
        "done"
    }
    Router::new()
        .route("/count", post(count))
        .route("/large", get(large))
        .route("/slow", get(slow))
        .route("/healthz", get(async || "ok"))
        .route("/", get(async || "hello"))
}

async fn start(limits: Limits, access: Access) -> World {
    let options = ServerOptions {
        limits,
        browser_login: true,
        ..ServerOptions::new(([127, 0, 0, 1], 0).into(), access)
    };
    let server = Server::bind(options).await.unwrap();
    let address = server.address();
    let (end, ended) = oneshot::channel::<()>();
    let task = tokio::spawn(server.run(routes(), async { drop(ended.await) }, || {}));
    World { address, end, task }
}

impl World {
    fn head(&self, line: &str, more: &str) -> String {
        format!("{line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{more}\r\n", self.address)
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// An honest request: its status and body.
    async fn send(&self, line: &str, more: &str, body: &[u8]) -> (u16, String) {
        let mut stream = self.connect().await;
        stream.write_all(self.head(line, more).as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        let text = String::from_utf8_lossy(&all);
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    async fn get(&self, path: &str) -> (u16, String) {
        timeout(Duration::from_secs(5), self.send(&format!("GET {path}"), "", b"")).await.unwrap()
    }
}

/// Waits until the server closes a connection; gives what it said before.
async fn closed(mut stream: TcpStream) -> Vec<u8> {
    let mut said = Vec::new();
    let _ = timeout(Duration::from_secs(10), stream.read_to_end(&mut said)).await.unwrap();
    said
}

#[tokio::test]
async fn headers_and_first_bytes_must_come_in_time() {
    let limits = Limits { header_timeout: Duration::from_millis(300), ..Limits::default() };
    let world = start(limits, Access::open()).await;
    let silent = world.connect().await;
    let mut slow = world.connect().await;
    slow.write_all(b"GET / HTTP/1.1\r\nHo").await.unwrap();
    let begun = Instant::now();
    assert!(closed(silent).await.is_empty() && closed(slow).await.is_empty());
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(world.get("/").await, (200, "hello".to_owned()));
}

#[tokio::test]
async fn a_flood_of_connections_does_not_lock_anyone_out() {
    let world = start(Limits { max_connections: 32, ..Limits::default() }, Access::open()).await;
    let mut held = Vec::new();
    for round in 0..10 {
        for _ in 0..40 {
            let mut stream = world.connect().await;
            // Some of them look as if a request were coming.
            if round % 2 == 0 {
                let _ = stream.write_all(b"GET / HT").await;
            }
            held.push(stream);
        }
        assert_eq!(world.get("/").await.0, 200);
    }
    // Requests that are being answered keep their places.
    let (slow, quick) = tokio::join!(world.get("/slow"), async {
        sleep(Duration::from_millis(50)).await;
        for _ in 0..40 {
            held.push(world.connect().await);
        }
        world.get("/").await
    });
    assert_eq!((slow.1.as_str(), quick.1.as_str()), ("done", "hello"));
}

#[tokio::test]
async fn where_every_client_waits_for_an_answer_a_new_one_is_told_to_come_again() {
    let world = start(Limits { max_connections: 4, ..Limits::default() }, Access::open()).await;
    let world = Arc::new(world);
    let slow: Vec<_> = (0..4)
        .map(|_| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.get("/slow").await })
        })
        .collect();
    sleep(Duration::from_millis(100)).await;
    let said = String::from_utf8(closed(world.connect().await).await).unwrap();
    assert!(said.starts_with("HTTP/1.1 503 ") && said.contains("Retry-After: 1\r\n"), "{said}");
    let (head, body) = said.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{said}");
    for one in slow {
        assert_eq!(one.await.unwrap(), (200, "done".to_owned()));
    }
}

#[tokio::test]
async fn stalled_bodies_lose_their_share_to_honest_ones() {
    let limits = Limits { total_body_bytes: 4 << 20, ..Limits::default() };
    let world = start(limits, Access::open()).await;
    let size = 1 << 20;
    let length = format!("Content-Length: {size}\r\n");
    let mut stalled = Vec::new();
    for _ in 0..40 {
        let mut stream = world.connect().await;
        stream.write_all(world.head("POST /count", &length).as_bytes()).await.unwrap();
        // What the server does not read stays with the client.
        let _ = timeout(Duration::from_millis(20), stream.write_all(&vec![b' '; size - 1])).await;
        stalled.push(stream);
    }
    let begun = Instant::now();
    let small = world.send("POST /count", "Content-Length: 10\r\n", &[b' '; 10]).await;
    assert_eq!(small, (200, "10".to_owned()));
    assert!(
        begun.elapsed() < Duration::from_millis(200),
        "a small body waits for nobody: {:?}",
        begun.elapsed()
    );
    let half = size / 2;
    let honest = world.send("POST /count", &format!("Content-Length: {half}\r\n"), &vec![b' '; half]).await;
    assert_eq!(honest, (200, half.to_string()));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let said = String::from_utf8(closed(stalled.remove(0)).await).unwrap();
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 408 "), "{said}");
}

#[tokio::test]
async fn a_body_must_come_in_time_and_one_that_is_declared_too_large_is_not_read() {
    let limits = Limits { body_timeout: Duration::from_millis(300), ..Limits::default() };
    let world = start(limits, Access::open()).await;
    let mut slow = world.connect().await;
    slow.write_all(world.head("POST /count", "Content-Length: 10\r\n").as_bytes()).await.unwrap();
    assert!(closed(slow).await.starts_with(b"HTTP/1.1 408 "));
    let (status, said) = world.send("POST /count", "Content-Length: 99999999999\r\n", b"").await;
    assert!(status == 408 && said.contains("larger than"), "{status} {said}");
    let mut chunked = world.connect().await;
    chunked.write_all(world.head("POST /count", "Transfer-Encoding: chunked\r\n").as_bytes()).await.unwrap();
    let chunk = [b"100000\r\n".as_slice(), &vec![b'x'; 0x10_0000], b"\r\n"].concat();
    for _ in 0..8 {
        let _ = timeout(Duration::from_secs(1), chunked.write_all(&chunk)).await;
    }
    let said = closed(chunked).await;
    assert!(said.is_empty() || said.starts_with(b"HTTP/1.1 408 "));
}

#[tokio::test]
async fn clients_that_never_read_lose_their_responses_to_others() {
    let limits = Limits { total_response_bytes: 32 << 20, ..Limits::default() };
    let world = start(limits, Access::open()).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut stream = world.connect().await;
        stream.write_all(world.head("GET /large", "").as_bytes()).await.unwrap();
        held.push(stream);
    }
    sleep(Duration::from_millis(300)).await;
    let begun = Instant::now();
    let (status, body) = world.get("/large").await;
    assert_eq!((status, body.len()), (200, 8 << 20));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(world.get("/").await.0, 200);
}

#[tokio::test]
async fn the_end_waits_for_open_requests_and_for_nothing_else() {
    let world = start(Limits::default(), Access::open()).await;
    let (idle, mut open) = (world.connect().await, world.connect().await);
    open.write_all(world.head("GET /slow", "").as_bytes()).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    world.end.send(()).unwrap();
    assert!(closed(open).await.ends_with(b"done"));
    assert!(closed(idle).await.is_empty());
    world.task.await.unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn beyond_loopback_there_is_always_a_token() {
    let address = ([0, 0, 0, 0], 0).into();
    let error = Server::bind(ServerOptions::new(address, Access::open())).await.unwrap_err();
    assert!(
        matches!(error, HttpError::NoToken { .. }) && error.hint().unwrap().contains("ASKE_TOKEN"),
        "{error}"
    );
    let token = Access::token(Token::new(TOKEN).unwrap());
    assert!(Server::bind(ServerOptions::new(address, token)).await.is_ok());
}

#[tokio::test]
async fn nothing_but_the_health_is_told_without_the_token() {
    let world = start(Limits::default(), Access::token(Token::new(TOKEN).unwrap())).await;
    assert_eq!(world.get("/healthz").await.0, 200);
    let (status, said) = world.get("/").await;
    assert!(status == 401 && said.contains("\"hint\":") && !said.contains(TOKEN), "{said}");
    let with = async |line: &str, header: &str| world.send(line, &format!("{header}\r\n"), b"").await;
    assert_eq!(with("GET /", &format!("Authorization: Bearer {TOKEN}")).await.0, 200);
    let wrong = format!("Authorization: Bearer {}", TOKEN.replace('0', "1"));
    let (status, said) = with("GET /", &wrong).await;
    assert!(status == 401 && !said.contains("1123456789"), "what was sent is not repeated: {said}");
    // A link for a browser, and the cookie that it gives.
    assert_eq!(with("POST /login", "X: y").await.0, 401);
    let (status, link) = with("POST /login", &format!("Authorization: Bearer {TOKEN}")).await;
    assert_eq!(status, 200);
    let link = link.trim();
    assert!(link.starts_with("/login?code=") && !link.contains(TOKEN), "{link}");
    let mut stream = world.connect().await;
    stream.write_all(world.head(&format!("GET {link}"), "").as_bytes()).await.unwrap();
    let said = String::from_utf8(closed(stream).await).unwrap();
    let cookie = said.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    assert!(said.starts_with("HTTP/1.1 200 ") && !said.contains(TOKEN), "{said}");
    assert_eq!(world.get(link).await.0, 401, "it works once");
    assert_eq!(with("GET /", &format!("Cookie: {cookie}")).await.0, 200);
    assert_eq!(with("GET /", &format!("Cookie: {cookie}0")).await.0, 401);
}
