//! A snapshot of the weights as a provider of chat replies.

use std::sync::Arc;
use std::sync::mpsc;

use aske_chat::{Reply, Trace, Usage};
use aske_model::{ChatTokenizer, ErrorCause, Provider, ProviderError, Request};
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::choose::Rules;
use super::network::Snapshot;
use super::row::Job;
use super::worker::{Limits, Worker};
use crate::LearnError;

/// Serves chat requests from a thread of its own, which ends when this is gone and everyone has an answer.
pub(super) struct Served {
    vocabulary: Arc<ChatTokenizer>,
    inbox: mpsc::Sender<Job>,
    longest: usize,
    told: String,
}

impl Served {
    pub(super) fn start(
        weights: Snapshot,
        vocabulary: &Arc<ChatTokenizer>,
        limits: Limits,
        told: String,
    ) -> Result<Self, LearnError> {
        let (inbox, jobs) = mpsc::channel();
        let longest = weights.shape.longest;
        let worker = Worker::new(weights, Arc::clone(vocabulary), limits, jobs)?;
        std::thread::Builder::new()
            .name("policy".to_owned())
            .spawn(move || worker.run())
            .map_err(|error| LearnError::Library { library: "threads", message: error.to_string() })?;
        Ok(Self { vocabulary: Arc::clone(vocabulary), inbox, longest, told })
    }

    async fn reply(&self, request: &Request) -> Result<Reply, ProviderError> {
        let prompt = self.vocabulary.prompt(&request.messages)?;
        let long = prompt.len();
        if long == 0 || long >= self.longest {
            let longest = self.longest;
            return Err(ProviderError::new(
                ErrorCause::Rejected,
                format!("the prompt has {long} tokens, and the model's context {longest}"),
            ));
        }
        let stops = request.sampling.stop.iter().flatten().filter(|stop| !stop.is_empty());
        let stop: Vec<String> = stops.cloned().collect();
        let (answer, waits) = oneshot::channel();
        let job = Job {
            prompt,
            most: (request.max_tokens as usize).min(self.longest - long),
            rules: Rules::new(&request.sampling)?,
            seed: request.seed.into(),
            stop: stop.clone(),
            answer,
        };
        let stopped = || ProviderError::new(ErrorCause::Server, "the policy stopped before it answered");
        self.inbox.send(job).map_err(|_| stopped())?;
        let written = waits.await.unwrap_or_else(|_| Err(stopped()))?;
        let mut content = self.vocabulary.decode(&written.tokens);
        if let Some(end) = stop.iter().filter_map(|stop| content.find(stop.as_str())).min() {
            content.truncate(end);
        }
        let usage =
            Usage { prompt: long as u64, completion: written.tokens.len() as u64, ..Usage::default() };
        let trace = Some(Trace { tokens: written.tokens, logprobs: written.logprobs });
        Ok(Reply { content, reasoning: None, finish: written.finish, usage, trace })
    }
}

impl Provider for Served {
    fn attempt<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(self.reply(request))
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok(self.told.clone())))
    }
}
