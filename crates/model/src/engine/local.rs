//! An engine as a provider of chat replies.

use super::text_stream::TextStream;
use super::{Engine, Generation, GenerationRequest};
use crate::request::fold;
use crate::{ErrorCause, Provider, ProviderError, Request};
use aske_chat::{Message, Reply, Trace, Usage};
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// An engine that generates tokens in this process.
pub trait Generator: Clone + Send + Sync {
    /// The tokens of a conversation, up to the beginning of the reply.
    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError>;

    /// Generates tokens. Dropping the future cancels the request.
    fn generate(&self, request: GenerationRequest) -> BoxFuture<'static, Result<Generation, ProviderError>>;

    /// The text of these tokens, without control tokens.
    fn decode(&self, tokens: &[u32]) -> String;

    /// Maximum number of tokens of a prompt and its reply.
    fn context(&self) -> usize;

    /// Parameters of the network.
    fn parameters(&self) -> u64;
}

/// Prompts with more bytes per token of context are rejected before tokenization. Text has about four bytes per token; runs
/// of spaces have more.
const BYTES_PER_TOKEN: usize = 32;
/// Longer prompts are tokenized on a blocking thread.
const SHORT: usize = 4 << 10;

impl Generator for Engine {
    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        self.tokenizer().prompt(messages)
    }

    fn generate(&self, request: GenerationRequest) -> BoxFuture<'static, Result<Generation, ProviderError>> {
        Box::pin(Engine::generate(self, request))
    }

    fn decode(&self, tokens: &[u32]) -> String {
        self.tokenizer().decode(tokens)
    }

    fn context(&self) -> usize {
        self.config().max_position_embeddings
    }

    fn parameters(&self) -> u64 {
        self.config().parameters() as u64
    }
}

/// The provider of a model that runs in this process.
///
/// The default sampling is the engine's: temperature 1, no limits. The request's seed is always used, so the same request
/// gives the same reply.
#[derive(Clone)]
pub struct Local<E = Engine> {
    engine: E,
    /// The version of the weights, if replies include their tokens.
    traced: Option<u64>,
    folded: bool,
}

impl<E> Local<E> {
    /// A provider that uses this engine.
    pub fn new(engine: E) -> Self {
        Self { engine, traced: None, folded: false }
    }

    /// Replies include their tokens, log-probabilities and this version of the weights.
    #[must_use]
    pub fn traced(self, version: u64) -> Self {
        Self { traced: Some(version), ..self }
    }

    /// For models without a system role: puts the system prompt in front of the first user message.
    #[must_use]
    pub fn folded(self) -> Self {
        Self { folded: true, ..self }
    }

    /// The engine.
    pub fn engine(&self) -> &E {
        &self.engine
    }
}

impl<E: Generator + 'static> Local<E> {
    /// Tokenizes a request's messages: long ones off the async threads, and those that cannot fit the context not at all.
    async fn prompt(&self, request: &Request) -> Result<Vec<u32>, ProviderError> {
        let bytes: usize = request.messages.iter().map(|message| message.content.len()).sum();
        let most = self.engine.context().saturating_mul(BYTES_PER_TOKEN);
        if bytes > most {
            let what =
                format!("the prompt has {bytes} bytes, and at most {most} can fit the model's context");
            return Err(ProviderError::new(ErrorCause::Rejected, what));
        }
        let messages = if self.folded { fold(&request.messages) } else { request.messages.clone() };
        if bytes <= SHORT {
            return self.engine.prompt(&messages);
        }
        let engine = self.engine.clone();
        let read = tokio::task::spawn_blocking(move || engine.prompt(&messages)).await;
        read.unwrap_or_else(|error| Err(ProviderError::new(ErrorCause::Server, error.to_string())))
    }

    async fn generation(&self, request: &Request) -> Result<GenerationRequest, ProviderError> {
        Ok(GenerationRequest {
            prompt: self.prompt(request).await?,
            max_tokens: request.max_tokens as usize,
            sampling: request.sampling.clone(),
            seed: request.seed.into(),
            logprobs: self.traced.is_some() || request.sampling.logprobs == Some(true),
            ignore_eos: request.sampling.ignore_eos == Some(true),
            client: request.client,
            ..GenerationRequest::default()
        })
    }

    fn reply(&self, request: &Request, generation: Generation) -> Reply {
        let mut content = self.engine.decode(&generation.tokens);
        if let Some(end) = stops(request).filter_map(|stop| content.find(stop)).min() {
            content.truncate(end);
        }
        let usage = Usage {
            prompt: generation.prompt as u64,
            cached: generation.cached as u64,
            completion: generation.tokens.len() as u64,
            reasoning: 0,
        };
        let version = self.traced;
        let tokens = generation.tokens;
        let trace =
            generation.logprobs.map(|logprobs| Trace { tokens, logprobs, version, prompt: Vec::new() });
        Reply { content, reasoning: None, finish: generation.finish, usage, trace }
    }
}

fn stops(request: &Request) -> impl Iterator<Item = &str> {
    request.sampling.stop.iter().flatten().map(String::as_str).filter(|stop| !stop.is_empty())
}

impl<E: Generator + 'static> Provider for Local<E> {
    fn max_prompt_bytes(&self) -> Option<usize> {
        Some(self.engine.context().saturating_mul(BYTES_PER_TOKEN))
    }

    fn attempt<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async move {
            let wanted = self.generation(request).await?;
            let prompt = (request.sampling.logprobs == Some(true)).then(|| wanted.prompt.clone());
            let mut reply = self.reply(request, self.engine.generate(wanted).await?);
            if let (Some(trace), Some(prompt)) = (&mut reply.trace, prompt) {
                trace.prompt = prompt;
            }
            Ok(reply)
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a Request,
        deltas: UnboundedSender<String>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async move {
            let (each, mut tokens) = unbounded_channel();
            let writes = self
                .engine
                .generate(GenerationRequest { token_sender: Some(each), ..self.generation(request).await? });
            let mut stream = TextStream::new(stops(request));
            // Sending fails only when the receiver is gone, and this future is about to be dropped.
            let reads = async {
                while let Some(token) = tokens.recv().await {
                    if let Some(delta) = stream.add(token, |tokens| self.engine.decode(tokens)) {
                        let _ = deltas.send(delta);
                    }
                }
            };
            let (generation, ()) = tokio::join!(writes, reads);
            let reply = self.reply(request, generation?);
            if let Some(rest) = stream.rest(&reply.content) {
                let _ = deltas.send(rest);
            }
            Ok(reply)
        })
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        let parameters = grouped(self.engine.parameters());
        Box::pin(std::future::ready(Ok(format!("a network of {parameters} parameters in this process"))))
    }
}

/// A number with a comma before every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_grouped_by_three_digits() {
        assert_eq!([7, 820, 1_820, 1_820_000].map(super::grouped), ["7", "820", "1,820", "1,820,000"]);
    }
}
