//! [`Llama`]: the handle through which callers submit requests.

use super::LlamaError;
use super::file::{Gguf, backend};
use super::worker::{Job, STEP, Worker};
use crate::engine::{Detokenizer, Generation, GenerationRequest, Generator};
use crate::{ErrorCause, ProviderError};
use aske_chat::Message;
use futures_util::future::BoxFuture;
use llama_cpp_2::context::params::LlamaContextParams;
use std::num::NonZeroU32;
use std::sync::{Arc, mpsc};
use tokio::sync::oneshot;

/// Threads, batch size and memory of a served file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlamaOptions {
    /// Threads that compute.
    pub threads: usize,
    /// Maximum number of requests in a batch; further ones wait. As many conversations stay cached: more would slow every
    /// step, which goes through all of them.
    pub batch: usize,
    /// Size of the KV cache in tokens, for all conversations together.
    pub context: u32,
    /// Layers that run on a GPU.
    pub gpu_layers: u32,
}

impl Default for LlamaOptions {
    /// All cores; 16 requests; 16,384 tokens; no GPU.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads, batch: 16, context: 16_384, gpu_layers: 0 }
    }
}

/// A served GGUF file with its own thread.
///
/// A handle: clones share the engine. The thread ends when the last handle is dropped and all requests are answered.
#[derive(Clone)]
pub struct Llama {
    file: Arc<Gguf>,
    context: usize,
    inbox: mpsc::Sender<Job>,
}

impl Llama {
    /// Starts to serve.
    pub fn start(file: Gguf, options: &LlamaOptions) -> Result<Self, LlamaError> {
        file.check_memory(options, STEP as u64)?;
        let small = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let threads = i32::try_from(options.threads.max(1)).unwrap_or(i32::MAX);
        let batch = options.batch.clamp(1, 128);
        let on_gpu = options.gpu_layers > 0;
        let parameters = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(options.context))
            .with_n_batch(small(STEP))
            .with_n_ubatch(small(STEP))
            .with_n_seq_max(small(batch))
            .with_n_threads(threads)
            .with_n_threads_batch(threads)
            // One pool of cells, so that sequences can share them, also in layers with a sliding window.
            .with_kv_unified(true)
            .with_swa_full(true);
        let (file, backend) = (Arc::new(file), backend()?);
        let (inbox, jobs) = mpsc::channel();
        let (ready, begun) = mpsc::channel();
        let served = Arc::clone(&file);
        let work = move || {
            let context = match served.model.new_context(backend, parameters) {
                Ok(context) => context,
                Err(error) => {
                    let _ = ready.send(Err(error.to_string()));
                    return;
                }
            };
            let _ = ready.send(Ok(context.n_ctx() as usize));
            Worker::new(&served, context, jobs, batch, on_gpu).run();
        };
        let wrong = |message: String| LlamaError::File { path: file.path.clone(), message };
        std::thread::Builder::new()
            .name("llama".to_owned())
            .spawn(work)
            .map_err(|error| wrong(error.to_string()))?;
        match begun.recv() {
            Ok(Ok(context)) => Ok(Self { file, context, inbox }),
            Ok(Err(message)) => Err(wrong(message)),
            Err(_) => Err(wrong("its thread ended at once".to_owned())),
        }
    }

    /// The file that is served.
    pub fn file(&self) -> &Gguf {
        &self.file
    }

    fn ask(
        &self,
        mut request: GenerationRequest,
    ) -> Result<oneshot::Receiver<Result<Generation, ProviderError>>, ProviderError> {
        let (prompt, context) = (request.prompt.len(), self.context);
        if prompt == 0 {
            return Err(ProviderError::new(ErrorCause::Rejected, "the prompt is empty"));
        }
        if prompt >= context {
            let problem = format!("the prompt has {prompt} tokens, and the context {context}");
            return Err(ProviderError::new(ErrorCause::Rejected, problem));
        }
        // Replies are truncated at the context length.
        request.max_tokens = request.max_tokens.min(context - prompt);
        let (answer, waits) = oneshot::channel();
        self.inbox.send((request, answer)).map_err(|_| stopped())?;
        Ok(waits)
    }
}

impl Generator for Llama {
    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        self.file.tokenizer.prompt(&self.file.model, messages)
    }

    fn generate(&self, request: GenerationRequest) -> BoxFuture<'static, Result<Generation, ProviderError>> {
        let answer = self.ask(request);
        Box::pin(async move { answer?.await.unwrap_or_else(|_| Err(stopped())) })
    }

    fn decode(&self, tokens: &[u32]) -> String {
        Detokenizer::decode(&*self.file, tokens)
    }

    fn context(&self) -> usize {
        self.context
    }

    fn parameters(&self) -> u64 {
        self.file.parameters()
    }
}

fn stopped() -> ProviderError {
    ProviderError::new(ErrorCause::Server, "llama.cpp stopped before it answered")
}
