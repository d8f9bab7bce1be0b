//! Questions to a server on this machine.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The server says that it is ready.
pub(crate) async fn is_ready(port: u16) -> bool {
    ask(port, Method::GET, "/health", None, Duration::from_secs(5)).await.is_ok()
}

/// A first answer, so that the first session does not wait for it.
pub(crate) async fn warm_up(port: u16, hub: &str, within: Duration) -> Result<(), String> {
    let body = serde_json::json!({
        "model": hub,
        "messages": [{ "role": "user", "content": "What is 2 + 2?" }],
        "max_tokens": 16,
    });
    ask(port, Method::POST, "/v1/chat/completions", Some(body.to_string()), within).await
}

async fn ask(
    port: u16,
    method: Method,
    path: &str,
    body: Option<String>,
    within: Duration,
) -> Result<(), String> {
    let asked = async {
        let stream =
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| error.to_string())?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", format!("127.0.0.1:{port}"))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|error| error.to_string())?;
        let answer = async {
            let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
            let status = response.status();
            let body = response.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
            if status.is_success() {
                return Ok(());
            }
            let said: String = String::from_utf8_lossy(&body).chars().take(300).collect();
            Err(format!("status {}: {}", status.as_u16(), said.trim()))
        };
        tokio::pin!(answer);
        tokio::select! {
            answer = &mut answer => answer,
            ended = connection => match ended {
                Ok(()) => answer.await,
                Err(error) => Err(error.to_string()),
            },
        }
    };
    timeout(within, asked).await.unwrap_or_else(|_| Err(format!("no answer within {} s", within.as_secs())))
}
