//! An engine as its users see it: ask, wait, or turn away.

use super::worker::{Job, Worker};
use super::{ChatTokenizer, Checkpoint, LlamaConfig};
use crate::{ErrorCause, ProviderError, Sampling};
use aske_chat::Finish;
use rayon::ThreadPoolBuilder;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// How much of the machine an engine may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Threads that compute; the results do not depend on their number.
    pub threads: usize,
    /// Requests served at once; further ones wait, but for the first of a group (see [`GenerationRequest::group`]).
    pub batch: usize,
    /// Bytes for keys and values of earlier texts, which later texts with the same beginning need not compute.
    pub store_bytes: usize,
}

impl Default for EngineOptions {
    /// One thread, since engines run side by side; 64 requests; 48 MB.
    fn default() -> Self {
        Self { threads: 1, batch: 64, store_bytes: 48_000_000 }
    }
}

/// What is to be written.
#[derive(Clone, Debug, Default)]
pub struct GenerationRequest {
    /// The tokens to go on from; at least one.
    pub prompt: Vec<u32>,
    /// Tokens to write at most.
    pub max_tokens: usize,
    /// How to choose them. Absent means temperature 1, as in OpenAI's interface; temperature 0 takes the
    /// likeliest token.
    pub sampling: Sampling,
    /// The same seed gives the same tokens, whatever else is being served.
    pub seed: u64,
    /// Give the log-probability of every token written.
    pub logprobs: bool,
    /// Go on after the token that ends a reply, to exactly `max_tokens`.
    pub ignore_eos: bool,
    /// Whose request it is: what one client asks for at once shares one client's part of the engine. Requests without a
    /// group have a part each.
    pub group: Option<u64>,
    /// Where every token goes as soon as it is written.
    pub each: Option<mpsc::UnboundedSender<u32>>,
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// The tokens, with the one that ended the reply.
    pub tokens: Vec<u32>,
    /// Where asked for: the natural logarithm of each token's probability in the network's own distribution over
    /// all tokens, before temperature, limits and penalties.
    pub logprobs: Option<Vec<f32>>,
    /// Why it ended.
    pub finish: Finish,
    /// Tokens of the prompt.
    pub prompt: usize,
    /// How many of those did not have to be computed.
    pub cached: usize,
}

/// A checkpoint at work on threads of its own.
///
/// A handle: clones ask the same engine. Its threads end when the last handle is gone and everyone who waits has
/// an answer.
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
        // The loop is itself one of the pool's threads: with one thread nothing is ever handed over.
        pool.spawn(move || worker.run());
        Ok(Self { checkpoint, inbox })
    }

    /// The shape of the network.
    pub fn config(&self) -> &LlamaConfig {
        self.checkpoint.config()
    }

    /// The tokens and the chat template.
    pub fn vocabulary(&self) -> &ChatTokenizer {
        self.checkpoint.vocabulary()
    }

    /// Writes on from a prompt. Who drops the future turns the request away.
    pub fn generate(
        &self,
        request: GenerationRequest,
    ) -> impl Future<Output = Result<Generation, ProviderError>> + Send + use<> {
        let answer = self.ask(request);
        async move { answer?.await.unwrap_or_else(|_| Err(stopped())) }
    }

    /// The same for code outside an async runtime; inside one it panics.
    pub fn generate_blocking(&self, request: GenerationRequest) -> Result<Generation, ProviderError> {
        self.ask(request)?.blocking_recv().unwrap_or_else(|_| Err(stopped()))
    }

    /// The logits after every token of a text: as many rows as tokens, each as long as the vocabulary.
    pub fn logits(
        &self,
        tokens: &[u32],
    ) -> impl Future<Output = Result<Vec<f32>, ProviderError>> + Send + use<> {
        let answer = self.ask_logits(tokens);
        async move { answer?.await.map_err(|_| stopped()) }
    }

    /// The same for code outside an async runtime; inside one it panics.
    pub fn logits_blocking(&self, tokens: &[u32]) -> Result<Vec<f32>, ProviderError> {
        self.ask_logits(tokens)?.blocking_recv().map_err(|_| stopped())
    }

    fn ask(
        &self,
        request: GenerationRequest,
    ) -> Result<oneshot::Receiver<Result<Generation, ProviderError>>, ProviderError> {
        self.check(&request.prompt)?;
        let (answer, waits) = oneshot::channel();
        self.inbox.send(Job::Generate(Box::new(request), answer)).map_err(|_| stopped())?;
        Ok(waits)
    }

    fn ask_logits(&self, tokens: &[u32]) -> Result<oneshot::Receiver<Vec<f32>>, ProviderError> {
        self.check(tokens)?;
        let (answer, waits) = oneshot::channel();
        self.inbox.send(Job::Logits(tokens.to_vec(), answer)).map_err(|_| stopped())?;
        Ok(waits)
    }

    fn check(&self, tokens: &[u32]) -> Result<(), ProviderError> {
        let config = self.config();
        let reject = |problem: String| Err(ProviderError::new(ErrorCause::Rejected, problem));
        let (length, longest) = (tokens.len(), config.max_position_embeddings);
        if tokens.is_empty() {
            return reject("the prompt is empty".to_owned());
        }
        if length > longest {
            return reject(format!("the prompt has {length} tokens, and the model's context {longest}"));
        }
        match tokens.iter().find(|token| **token as usize >= config.vocab_size) {
            Some(token) => reject(format!("token {token} is not one of the model's {}", config.vocab_size)),
            None => Ok(()),
        }
    }
}

fn stopped() -> ProviderError {
    ProviderError::new(ErrorCause::Server, "the engine stopped before it answered")
}
