//! vLLM servers that hold the weights of a policy in training: tokens in, tokens and log-probabilities out, new weights
//! between two batches of requests.
//!
//! Prompts are sent as token ids and replies come back as token ids, so the trainer never tokenizes a reply again. Weights
//! are loaded from a folder that trainer and servers share, by the worker's own `reload_weights`: plain JSON, no pickled
//! objects. The routes for that exist only with `VLLM_SERVER_DEV_MODE=1`.

use super::HttpClient;
use super::replicas::Replicas;
use crate::engine::{ChatTokenizer, Generation, GenerationRequest, Generator, check_prompt};
use crate::{ErrorCause, ProviderError};
use aske_chat::{Finish, Message};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};
use parking_lot::Mutex;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tracing::{info, warn};

/// How long a server may take to load weights.
const LOAD_TIMEOUT: Duration = Duration::from_mins(10);
/// How long any other administrative request may take.
const ADMIN_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause between two attempts to reach a server that is starting.
const POLL: Duration = Duration::from_secs(1);

/// Routes that exist in vLLM's development mode only.
const DEV_ROUTES: [&str; 2] = [RELOAD, RESET_CACHE];
const RELOAD: &str = "collective_rpc";
const RESET_CACHE: &str = "reset_prefix_cache";

/// The network behind the servers.
struct ServedNetwork {
    vocab_size: usize,
    /// Context length in tokens.
    context: usize,
    /// Bytes of the weights, divided by two: vLLM serves bfloat16.
    parameters: u64,
}

/// Replicas of one vLLM server whose weights change during training. A handle: clones share the servers.
#[derive(Clone)]
pub struct VllmServers(Arc<Shared>);

struct Shared {
    replicas: Replicas,
    /// One for each replica.
    loaded: Vec<Loaded>,
    folder: Mutex<Option<PathBuf>>,
    headers: HeaderMap,
    network: ServedNetwork,
    tokenizer: ChatTokenizer,
}

/// What is known about the weights of one server.
#[derive(Default)]
struct Loaded {
    /// Start time of the process that loaded the current weights; a later one has others.
    process: Mutex<Option<f64>>,
    /// A call failed since: the process may have been replaced.
    suspect: AtomicBool,
    /// Held while weights are loaded again.
    reload: tokio::sync::Mutex<()>,
    /// The name under which it knows the model; another process may have another one.
    name: Mutex<String>,
}

impl VllmServers {
    /// Servers at these addresses, such as `http://127.0.0.1:8000/v1`, of the checkpoint in a folder. Waits up to `startup_timeout`
    /// for servers that are starting.
    pub async fn open(
        http: &HttpClient,
        urls: &[String],
        folder: &Path,
        chat_template_kwargs: Map<String, Value>,
        startup_timeout: Duration,
    ) -> Result<Self, ProviderError> {
        let rejected = |message: String| ProviderError::new(ErrorCause::Rejected, message);
        if urls.is_empty() {
            return Err(rejected("there is no address of a server".to_owned()));
        }
        let root = |url: &String| url.trim_end_matches('/').trim_end_matches("/v1").to_owned();
        let urls: Vec<String> = urls.iter().map(root).collect();
        let replicas = Replicas::new(http, &urls).map_err(|error| rejected(error.to_string()))?;
        let loaded = urls.iter().map(|_| Loaded::default()).collect();
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let network = ServedNetwork::read(folder)?;
        let tokenizer = ChatTokenizer::from_folder(folder)
            .map_err(|error| rejected(error.to_string()))?
            .with_template_variables(chat_template_kwargs);
        let mut shared = Shared { replicas, loaded, folder: Mutex::default(), headers, network, tokenizer };
        let deadline = Instant::now() + startup_timeout;
        for index in 0..urls.len() {
            let (name, context) = retry_until(deadline, || shared.served_model(index)).await?;
            *shared.loaded[index].name.lock() = name;
            shared.network.context = shared.network.context.min(context);
        }
        Ok(Self(Arc::new(shared)))
    }

    /// Loads the weights in a folder into every server, waiting up to `startup_timeout` for servers that are starting. No request
    /// may be in flight.
    pub async fn load_weights(&self, folder: &Path, startup_timeout: Duration) -> Result<(), ProviderError> {
        let deadline = Instant::now() + startup_timeout;
        *self.0.folder.lock() = Some(folder.to_owned());
        let each = (0..self.0.loaded.len()).map(|index| retry_until(deadline, move || self.0.reload(index)));
        try_join_all(each).await.map(|_| ())
    }

    /// The number of servers whose process was replaced since it loaded the weights without this program noticing: their
    /// replies may come from other weights.
    pub async fn replaced(&self) -> usize {
        let mut replaced = 0;
        for index in 0..self.0.loaded.len() {
            let known = *self.0.loaded[index].process.lock();
            // A server that is down now answered with the right weights before.
            if let Ok(now) = self.0.start_time(index).await {
                replaced += usize::from(known != Some(now));
            }
        }
        replaced
    }
}

/// Repeats a request that fails for a transient reason, such as a server that is starting, until the deadline.
async fn retry_until<T, F: Future<Output = Result<T, ProviderError>>>(
    deadline: Instant,
    request: impl Fn() -> F,
) -> Result<T, ProviderError> {
    loop {
        match request().await {
            Err(error) if error.cause.is_transient() && Instant::now() < deadline => {
                info!(message = error.message, "waiting for a vLLM server");
                sleep(POLL).await;
            }
            done => return done,
        }
    }
}

impl ServedNetwork {
    /// Reads `config.json` and the size of the weights.
    fn read(folder: &Path) -> Result<Self, ProviderError> {
        let config = read_json(&folder.join("config.json"));
        let size = |name: &str| config[name].as_u64().and_then(|size| usize::try_from(size).ok());
        let vocab_size = size("vocab_size").ok_or_else(|| {
            let message = format!("{}: no config.json with a `vocab_size`", folder.display());
            ProviderError::new(ErrorCause::Rejected, message)
        })?;
        let bytes = std::fs::metadata(folder.join("model.safetensors")).map_or(0, |file| file.len());
        let context = size("max_position_embeddings").unwrap_or(usize::MAX);
        Ok(Self { vocab_size, context, parameters: bytes / 2 })
    }
}

/// A JSON file; null if there is none.
fn read_json(path: &Path) -> Value {
    std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

impl Shared {
    /// Sends an administrative request to one server.
    async fn admin(
        &self,
        index: usize,
        method: Method,
        path: &str,
        body: Bytes,
        limit: Duration,
    ) -> Result<Bytes, ProviderError> {
        let exchange = self.replicas.get(index).transport.exchange(method, path, &self.headers, body);
        let timed_out = |_| {
            let message = format!("/{path}: no answer within {} s", limit.as_secs());
            ProviderError::new(ErrorCause::Timeout, message)
        };
        let answer = timeout(limit, exchange).await.map_err(timed_out)?;
        answer.map_err(|mut error| {
            if error.cause == ErrorCause::NotFound && DEV_ROUTES.contains(&path) {
                error.message = format!("the server has no /{path}; start it with VLLM_SERVER_DEV_MODE=1");
            }
            error
        })
    }

    /// The name of the model that a server serves, and its context length.
    async fn served_model(&self, index: usize) -> Result<(String, usize), ProviderError> {
        let list = self.admin(index, Method::GET, "v1/models", Bytes::new(), ADMIN_TIMEOUT).await?;
        let list: Value = serde_json::from_slice(&list).unwrap_or_default();
        let first = &list["data"][0];
        let name = first["id"]
            .as_str()
            .ok_or_else(|| ProviderError::new(ErrorCause::Malformed, "/v1/models does not name a model"))?;
        let context = first["max_model_len"].as_u64().and_then(|length| usize::try_from(length).ok());
        Ok((name.to_owned(), context.unwrap_or(usize::MAX)))
    }

    /// When the process of a server started, in seconds since 1970.
    async fn start_time(&self, index: usize) -> Result<f64, ProviderError> {
        let metrics = self.admin(index, Method::GET, "metrics", Bytes::new(), ADMIN_TIMEOUT).await?;
        let text = String::from_utf8_lossy(&metrics);
        let line = text.lines().find_map(|line| line.strip_prefix("process_start_time_seconds "));
        line.and_then(|value| value.trim().parse().ok()).ok_or_else(|| {
            ProviderError::new(ErrorCause::Rejected, "/metrics does not tell when the server started")
        })
    }

    /// Loads the current weights into a server.
    async fn reload(&self, index: usize) -> Result<(), ProviderError> {
        let Some(folder) = self.folder.lock().clone() else { return Ok(()) };
        let process = self.start_time(index).await?;
        *self.loaded[index].name.lock() = self.served_model(index).await?.0;
        let path = folder.to_string_lossy().into_owned();
        let body = json!({"method": "reload_weights", "kwargs": {"weights_path": path}});
        self.admin(index, Method::POST, RELOAD, body.to_string().into(), LOAD_TIMEOUT).await?;
        // Keys and values of the old weights must not be reused.
        let reset = self.admin(index, Method::POST, RESET_CACHE, Bytes::new(), ADMIN_TIMEOUT).await?;
        let reset: Value = serde_json::from_slice(&reset).unwrap_or_default();
        if reset["success"] == Value::Bool(false) {
            return Err(ProviderError::new(ErrorCause::Server, "the prefix cache is in use"));
        }
        *self.loaded[index].process.lock() = Some(process);
        self.loaded[index].suspect.store(false, Ordering::Release);
        Ok(())
    }

    /// Loads the weights again if the server's process was replaced after a failed call.
    async fn ensure_weights(&self, index: usize) -> Result<(), ProviderError> {
        let loaded = &self.loaded[index];
        if !loaded.suspect.load(Ordering::Acquire) {
            return Ok(());
        }
        let _one_at_a_time = loaded.reload.lock().await;
        if !loaded.suspect.load(Ordering::Acquire) {
            return Ok(());
        }
        let now = self.start_time(index).await?;
        if *loaded.process.lock() == Some(now) {
            loaded.suspect.store(false, Ordering::Release);
            return Ok(());
        }
        warn!(index, "a vLLM server was restarted; loading the weights again");
        self.reload(index).await
    }

    async fn generate(&self, request: GenerationRequest) -> Result<Generation, ProviderError> {
        check_prompt(&request.prompt, self.network.vocab_size, self.network.context)?;
        let room = self.network.context - request.prompt.len();
        if request.max_tokens.min(room) == 0 {
            let prompt = request.prompt.len();
            return Ok(Generation {
                tokens: Vec::new(),
                logprobs: Some(Vec::new()),
                finish: Finish::Length,
                prompt,
                cached: 0,
            });
        }
        let call = self.replicas.pick();
        let index = call.replica.index;
        let answer = async {
            self.ensure_weights(index).await?;
            let body = self.body(index, &request, room);
            let sent = call.replica.transport.exchange(Method::POST, "v1/completions", &self.headers, body);
            sent.await.and_then(|body| parse(&body))
        };
        let answer = answer.await;
        let cause = answer.as_ref().err().map(|error| error.cause);
        if cause.is_some_and(|cause| cause != ErrorCause::Rejected && cause != ErrorCause::Throttled) {
            self.loaded[index].suspect.store(true, Ordering::Release);
        }
        call.finish(cause);
        // A restarted server may know the model under another name; the next attempt asks for it.
        answer.map_err(|error| match error.cause {
            ErrorCause::NotFound => ProviderError { cause: ErrorCause::Server, ..error },
            _ => error,
        })
    }

    /// The body of `/v1/completions`.
    fn body(&self, index: usize, request: &GenerationRequest, room: usize) -> Bytes {
        let mut body = match serde_json::to_value(&request.sampling) {
            Ok(Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        };
        // A seed per request makes vLLM sample request by request.
        for unknown in ["seed", "reasoning_effort"] {
            body.shift_remove(unknown);
        }
        let more = json!({
            "model": *self.loaded[index].name.lock(),
            "prompt": request.prompt,
            "max_tokens": request.max_tokens.min(room),
            "stop_token_ids": self.tokenizer.eos_token_ids(),
            "ignore_eos": request.ignore_eos,
            "logprobs": 0,
            "return_token_ids": true,
        });
        body.extend(more.as_object().cloned().unwrap_or_default());
        Bytes::from(Value::Object(body).to_string())
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Choice {
    token_ids: Option<Vec<u32>>,
    logprobs: Option<TokenLogprobs>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct TokenLogprobs {
    token_logprobs: Vec<Option<f32>>,
}

#[derive(Default, Deserialize)]
struct Counts {
    #[serde(default)]
    prompt_tokens: usize,
}

/// Reads a completion. One whose tokens and log-probabilities do not match is malformed: it must not be learned from.
fn parse(body: &[u8]) -> Result<Generation, ProviderError> {
    let malformed = |message: String| ProviderError::new(ErrorCause::Malformed, message);
    let completion: Completion =
        serde_json::from_slice(body).map_err(|error| malformed(format!("not a completion: {error}")))?;
    let choice = completion.choices.into_iter().next().ok_or_else(|| malformed("no choices".to_owned()))?;
    let tokens = choice
        .token_ids
        .ok_or_else(|| malformed("no token ids; vLLM 0.10.2 or newer returns them".to_owned()))?;
    let logprobs: Option<Vec<f32>> =
        choice.logprobs.map(|logprobs| logprobs.token_logprobs.into_iter().collect()).unwrap_or_default();
    let logprobs = logprobs.unwrap_or_default();
    if logprobs.len() != tokens.len() || logprobs.iter().any(|logprob| !logprob.is_finite()) {
        let (tokens, logprobs) = (tokens.len(), logprobs.len());
        return Err(malformed(format!("{tokens} tokens with {logprobs} log-probabilities")));
    }
    let finish = match choice.finish_reason.as_deref() {
        Some("stop") => Finish::Stop,
        Some("length") => Finish::Length,
        reason => {
            let reason = reason.unwrap_or("no reason");
            return Err(ProviderError::new(
                ErrorCause::Server,
                format!("the server broke the reply off: {reason}"),
            ));
        }
    };
    let prompt = completion.usage.unwrap_or_default().prompt_tokens;
    Ok(Generation { tokens, logprobs: Some(logprobs), finish, prompt, cached: 0 })
}

impl Generator for VllmServers {
    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        self.0.tokenizer.prompt(messages)
    }

    fn generate(&self, request: GenerationRequest) -> BoxFuture<'static, Result<Generation, ProviderError>> {
        let shared = Arc::clone(&self.0);
        async move { shared.generate(request).await }.boxed()
    }

    fn decode(&self, tokens: &[u32]) -> String {
        self.0.tokenizer.decode(tokens)
    }

    fn context(&self) -> usize {
        self.0.network.context
    }

    fn parameters(&self) -> u64 {
        self.0.network.parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion(choice: &Value) -> Result<Generation, ErrorCause> {
        let body = json!({"choices": [choice], "usage": {"prompt_tokens": 7}}).to_string();
        parse(body.as_bytes()).map_err(|error| error.cause)
    }

    #[test]
    fn tokens_come_with_their_logprobs() {
        let choice = json!({"token_ids": [5, 2], "logprobs": {"token_logprobs": [-0.5, -1.25]},
            "finish_reason": "stop", "text": "x"});
        let read = completion(&choice).unwrap();
        assert_eq!((read.tokens, read.logprobs, read.prompt), (vec![5, 2], Some(vec![-0.5, -1.25]), 7));
        assert_eq!(read.finish, Finish::Stop);
    }

    #[test]
    fn a_reply_that_cannot_be_learned_from_is_an_error() {
        let good = json!({"token_ids": [5, 2], "logprobs": {"token_logprobs": [-0.5, -1.25]},
            "finish_reason": "length"});
        assert!(completion(&good).is_ok());
        for (field, value, cause) in [
            ("token_ids", json!(null), ErrorCause::Malformed),
            ("token_ids", json!([5]), ErrorCause::Malformed),
            ("logprobs", json!(null), ErrorCause::Malformed),
            ("logprobs", json!({"token_logprobs": [-0.5, null]}), ErrorCause::Malformed),
            ("finish_reason", json!("abort"), ErrorCause::Server),
            ("finish_reason", json!(null), ErrorCause::Server),
        ] {
            let mut bad = good.clone();
            bad[field] = value;
            assert_eq!(completion(&bad).err(), Some(cause), "{field}");
        }
    }
}
