//! The servers of a policy, against a stand-in that speaks vLLM's routes and can be restarted at will.
#![expect(clippy::unwrap_used, reason = "a test")]

use aske_model::{GenerationRequest, Generator, HttpClient, VllmServers};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The weights that a process has loaded decide its token.
const RIGHT: u32 = 5;
const WRONG: u32 = 6;

#[derive(Default)]
struct State {
    started: u32,
    weights: Option<String>,
    completions: Vec<Value>,
    /// Without the routes of the development mode.
    plain: bool,
    /// The next completion is answered with this status.
    fail: Option<u16>,
}

struct StandIn {
    url: String,
    state: Arc<Mutex<State>>,
}

impl StandIn {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { started: 100, ..State::default() }));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer_all(stream, Arc::clone(&shared)));
            }
        });
        Self { url, state }
    }

    /// A new process, without the weights that were loaded.
    fn restart(&self) {
        let mut state = self.state.lock();
        state.started += 1;
        state.weights = None;
    }
}

async fn answer_all(stream: TcpStream, state: Arc<Mutex<State>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        if stream.read_line(&mut first).await.ok()? == 0 {
            return None;
        }
        loop {
            let mut header = String::new();
            stream.read_line(&mut header).await.ok()?;
            if header.trim().is_empty() {
                break;
            }
            if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        let (status, text) = answer(&first, &body, &mut state.lock());
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", text.len());
        stream.get_mut().write_all((head + &text).as_bytes()).await.ok()?;
    }
}

/// A process knows the model under a name of its own.
fn name(state: &State) -> String {
    format!("policy-{}", state.started)
}

fn answer(request: &str, body: &[u8], state: &mut State) -> (u16, String) {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let path = request.split(' ').nth(1).unwrap_or_default();
    let text = match path {
        "/v1/models" => json!({"data": [{"id": name(state), "max_model_len": 12}]}).to_string(),
        "/metrics" => format!("# HELP x\nprocess_start_time_seconds {}.5\n", state.started),
        "/collective_rpc" | "/reset_prefix_cache" if state.plain => return (404, "{}".to_owned()),
        "/collective_rpc" => {
            assert_eq!(body["method"], "reload_weights");
            state.weights = body["kwargs"]["weights_path"].as_str().map(str::to_owned);
            "{\"results\": [null]}".to_owned()
        }
        "/reset_prefix_cache" => "{\"success\": true}".to_owned(),
        "/v1/completions" => {
            if let Some(status) = state.fail.take() {
                return (status, "{}".to_owned());
            }
            if body["model"] != name(state) {
                return (404, "{}".to_owned());
            }
            let token = if state.weights.is_some() { RIGHT } else { WRONG };
            state.completions.push(body);
            let choice = json!({"token_ids": [token, 1], "logprobs": {"token_logprobs": [-0.5, -0.25]},
                "finish_reason": "stop"});
            json!({"choices": [choice], "usage": {"prompt_tokens": 3}}).to_string()
        }
        _ => return (404, "{}".to_owned()),
    };
    (200, text)
}

/// A checkpoint folder with a tokenizer; servers share it.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../train/tests/torch_policy/llama")
}

async fn open(servers: &[&StandIn]) -> VllmServers {
    let urls: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    let http = HttpClient::new(1).unwrap();
    VllmServers::open(&http, &urls, &folder(), serde_json::Map::new(), Duration::from_secs(5)).await.unwrap()
}

async fn token(servers: &VllmServers) -> Option<u32> {
    let request = GenerationRequest { prompt: vec![3, 4, 5], max_tokens: 99, ..GenerationRequest::default() };
    let generation = servers.generate(request).await.ok()?;
    assert_eq!(generation.logprobs, Some(vec![-0.5, -0.25]));
    generation.tokens.first().copied()
}

#[tokio::test]
async fn tokens_go_in_and_out_with_the_loaded_weights() {
    let server = StandIn::start().await;
    let servers = open(&[&server]).await;
    assert_eq!(servers.context(), 12, "the server's, which is shorter than the model's");
    servers.load_weights(&folder(), Duration::ZERO).await.unwrap();
    assert_eq!(token(&servers).await, Some(RIGHT));
    let state = server.state.lock();
    assert_eq!(state.weights.as_deref(), folder().to_str());
    let sent = &state.completions[0];
    assert_eq!(sent["prompt"], json!([3, 4, 5]));
    // What the context leaves, and the end tokens of config.json and generation_config.json.
    assert_eq!((&sent["max_tokens"], &sent["logprobs"]), (&json!(9), &json!(0)));
    assert!(sent["stop_token_ids"].as_array().unwrap().contains(&json!(1)), "{sent}");
    assert_eq!((&sent["model"], &sent["return_token_ids"]), (&json!("policy-100"), &json!(true)));
}

#[tokio::test]
async fn a_server_that_comes_back_gets_the_weights_before_it_is_asked() {
    let server = StandIn::start().await;
    let servers = open(&[&server]).await;
    servers.load_weights(&folder(), Duration::ZERO).await.unwrap();
    server.restart();
    assert_eq!(token(&servers).await, None, "the call that fails makes the server suspect");
    assert_eq!(token(&servers).await, Some(RIGHT));
    assert_eq!(servers.replaced().await, 0);
    // Another failure of the same process loads nothing again.
    server.state.lock().weights = Some("kept".to_owned());
    server.state.lock().fail = Some(500);
    assert_eq!(token(&servers).await, None);
    assert_eq!(token(&servers).await, Some(RIGHT));
    assert_eq!(server.state.lock().weights.as_deref(), Some("kept"));
}

#[tokio::test]
async fn a_restart_that_nobody_noticed_is_found_afterwards() {
    let (one, other) = (StandIn::start().await, StandIn::start().await);
    let servers = open(&[&one, &other]).await;
    servers.load_weights(&folder(), Duration::ZERO).await.unwrap();
    assert_eq!(servers.replaced().await, 0);
    one.restart();
    assert_eq!(servers.replaced().await, 1);
    servers.load_weights(&folder(), Duration::ZERO).await.unwrap();
    assert_eq!(servers.replaced().await, 0);
}

#[tokio::test]
async fn without_the_development_routes_the_error_says_what_to_set() {
    let server = StandIn::start().await;
    server.state.lock().plain = true;
    let servers = open(&[&server]).await;
    let error = servers.load_weights(&folder(), Duration::ZERO).await.unwrap_err();
    assert!(error.message.contains("VLLM_SERVER_DEV_MODE=1"), "{}", error.message);
}
