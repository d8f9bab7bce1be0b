//! A snapshot of the weights as a [`Generator`]: requests go to a [`Worker`] on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc;

use aske_chat::Message;
use aske_model::{
    ChatTokenizer, ErrorCause, Generation, GenerationRequest, Generator, ProviderError, check_prompt,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::network::InferenceWeights;
use super::sampling::SamplingParams;
use super::worker::{Job, Limits, Worker};
use crate::LearnError;

/// A handle to the worker, which ends when the last handle is gone and all requests are answered.
#[derive(Clone)]
pub(super) struct TorchGenerator {
    tokenizer: Arc<ChatTokenizer>,
    inbox: mpsc::Sender<Job>,
    vocab_size: usize,
    context: usize,
    num_parameters: u64,
}

impl TorchGenerator {
    pub(super) fn start(
        weights: InferenceWeights,
        tokenizer: &Arc<ChatTokenizer>,
        limits: Limits,
        num_parameters: u64,
    ) -> Result<Self, LearnError> {
        let (inbox, jobs) = mpsc::channel();
        let (vocab_size, context) = (weights.config.vocab_size, weights.config.max_position_embeddings);
        let worker = Worker::new(weights, Arc::clone(tokenizer), limits, jobs)?;
        std::thread::Builder::new()
            .name("policy".to_owned())
            .spawn(move || worker.run())
            .map_err(|error| LearnError::library("threads", error))?;
        Ok(Self { tokenizer: Arc::clone(tokenizer), inbox, vocab_size, context, num_parameters })
    }
}

impl Generator for TorchGenerator {
    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        self.tokenizer.prompt(messages)
    }

    fn generate(&self, request: GenerationRequest) -> BoxFuture<'static, Result<Generation, ProviderError>> {
        let stopped = || ProviderError::new(ErrorCause::Server, "the policy stopped before it answered");
        let checked = check_prompt(&request.prompt, self.vocab_size, self.context)
            .and_then(|()| SamplingParams::new(&request.sampling));
        let (reply, receiver) = oneshot::channel();
        let sent =
            checked.and_then(|params| self.inbox.send(Job { request, params, reply }).map_err(|_| stopped()));
        async move {
            sent?;
            receiver.await.unwrap_or_else(|_| Err(stopped()))
        }
        .boxed()
    }

    fn decode(&self, tokens: &[u32]) -> String {
        self.tokenizer.decode(tokens)
    }

    fn context(&self) -> usize {
        self.context
    }

    fn parameters(&self) -> u64 {
        self.num_parameters
    }
}
