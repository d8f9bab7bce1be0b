//! Requests to a vLLM server on this machine: its health check and a first completion.

use reqwest::RequestBuilder;
use std::time::Duration;

/// Whether the server reports that it is ready.
pub(crate) async fn is_ready(client: &reqwest::Client, port: u16) -> bool {
    let request = client.get(format!("http://127.0.0.1:{port}/health"));
    send(request, Duration::from_secs(5)).await.is_ok()
}

/// Requests a first completion, so that the first session does not wait for warm-up.
pub(crate) async fn warm_up(
    client: &reqwest::Client,
    port: u16,
    hub: &str,
    timeout: Duration,
) -> Result<(), String> {
    let body = serde_json::json!({
        "model": hub,
        "messages": [{ "role": "user", "content": "What is 2 + 2?" }],
        "max_tokens": 16,
    });
    let request = client
        .post(format!("http://127.0.0.1:{port}/v1/chat/completions"))
        .header("content-type", "application/json")
        .body(body.to_string());
    send(request, timeout).await
}

async fn send(request: RequestBuilder, timeout: Duration) -> Result<(), String> {
    let failed = |error: reqwest::Error| {
        if error.is_timeout() {
            format!("no response within {} s", timeout.as_secs())
        } else {
            error.to_string()
        }
    };
    let response = request.timeout(timeout).send().await.map_err(failed)?;
    let status = response.status();
    let body = response.bytes().await.map_err(failed)?;
    if status.is_success() {
        return Ok(());
    }
    let message: String = String::from_utf8_lossy(&body).chars().take(300).collect();
    Err(format!("status {}: {}", status.as_u16(), message.trim()))
}
