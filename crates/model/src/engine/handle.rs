//! [`Engine`]: the handle through which callers submit requests.

use super::state::check_prompt;
use super::worker::{Job, Worker};
use super::{ChatTokenizer, Checkpoint, LlamaConfig};
use crate::{ErrorCause, ProviderError, Sampling};
use aske_chat::Finish;
use rayon::ThreadPoolBuilder;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Threads, batch size and memory of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Threads that compute; the results do not depend on their number.
    pub threads: usize,
    /// Maximum number of requests in a batch; further ones wait, except the first of a client (see
    /// [`GenerationRequest::client`]).
    pub batch: usize,
    /// Bytes of the prefix cache: keys and values of earlier sequences.
    pub prefix_cache_bytes: usize,
}

impl Default for EngineOptions {
    /// One thread, since engines run side by side; 64 requests; 48 MB.
    fn default() -> Self {
        Self { threads: 1, batch: 64, prefix_cache_bytes: 48_000_000 }
    }
}

/// A request to generate tokens.
#[derive(Clone, Debug, Default)]
pub struct GenerationRequest {
    /// The prompt; at least one token.
    pub prompt: Vec<u32>,
    /// Maximum number of tokens to generate.
    pub max_tokens: usize,
    /// Sampling parameters. The default temperature is 1, as in OpenAI's interface; 0 is greedy.
    pub sampling: Sampling,
    /// The same seed gives the same tokens, whatever else is served.
    pub seed: u64,
    /// Return the log-probability of every generated token.
    pub logprobs: bool,
    /// Continue after the end-of-sequence token, to exactly `max_tokens`.
    pub ignore_eos: bool,
    /// The client: its concurrent requests share one client's part of the engine. Requests without a client have a part
    /// each.
    pub client: Option<u64>,
    /// Receives every token as soon as it is generated.
    pub token_sender: Option<mpsc::UnboundedSender<u32>>,
}

/// The generated tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// The tokens, including the one that ended the reply.
    pub tokens: Vec<u32>,
    /// If requested: the log-probability of each token under the model's distribution, before temperature, top-k, top-p and
    /// penalties.
    pub logprobs: Option<Vec<f32>>,
    /// Why it ended.
    pub finish: Finish,
    /// Tokens of the prompt.
    pub prompt: usize,
    /// Of these, tokens that came from the prefix cache.
    pub cached: usize,
}

/// A running checkpoint with its own threads.
///
/// A handle: clones share the engine. The threads end when the last handle is dropped and all requests are answered.
#[derive(Clone)]
pub struct Engine {
    checkpoint: Arc<Checkpoint>,
    inbox: std::sync::mpsc::Sender<Job>,
}

impl Engine {
    /// Starts the threads.
    pub fn start(checkpoint: Checkpoint, options: &EngineOptions) -> std::io::Result<Self> {
        let checkpoint = Arc::new(checkpoint);
        let (inbox, jobs) = std::sync::mpsc::channel();
        let pool = ThreadPoolBuilder::new()
            .num_threads(options.threads.max(1))
            .thread_name(|index| format!("engine-{index}"))
            .build()
            .map_err(std::io::Error::other)?;
        let worker = Worker::new(Arc::clone(&checkpoint), options, jobs);
        // The loop runs on one of the pool's threads: with one thread, no work moves between threads.
        pool.spawn(move || worker.run());
        Ok(Self { checkpoint, inbox })
    }

    /// The shape of the network.
    pub fn config(&self) -> &LlamaConfig {
        self.checkpoint.config()
    }

    /// The tokenizer and the chat template.
    pub fn tokenizer(&self) -> &ChatTokenizer {
        self.checkpoint.tokenizer()
    }

    /// Generates tokens. Dropping the future cancels the request.
    pub fn generate(
        &self,
        request: GenerationRequest,
    ) -> impl Future<Output = Result<Generation, ProviderError>> + Send + use<> {
        let (reply, receiver) = oneshot::channel();
        let sent =
            self.check(&request.prompt).and_then(|()| self.send(Job::Generate(Box::new(request), reply)));
        async move {
            sent?;
            receiver.await.unwrap_or_else(|_| Err(stopped()))
        }
    }

    /// The logits after every token: one row per token, each as long as the vocabulary.
    pub fn logits(
        &self,
        tokens: &[u32],
    ) -> impl Future<Output = Result<Vec<f32>, ProviderError>> + Send + use<> {
        let (reply, receiver) = oneshot::channel();
        let sent = self.check(tokens).and_then(|()| self.send(Job::Logits(tokens.to_vec(), reply)));
        async move {
            sent?;
            receiver.await.map_err(|_| stopped())
        }
    }

    fn send(&self, job: Job) -> Result<(), ProviderError> {
        self.inbox.send(job).map_err(|_| stopped())
    }

    fn check(&self, tokens: &[u32]) -> Result<(), ProviderError> {
        check_prompt(tokens, self.config().vocab_size, self.config().max_position_embeddings)
    }
}

fn stopped() -> ProviderError {
    ProviderError::new(ErrorCause::Server, "the engine stopped before it answered")
}
