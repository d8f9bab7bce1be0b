//! The state of a request while its tokens are generated: sampling, stopping and replying. Both engines use it.

use super::sampler::{Sampler, SamplerBuffers};
use super::{Generation, GenerationRequest};
use crate::{ErrorCause, ProviderError};
use aske_chat::Finish;
use aske_kernels::Arch;
use tokio::sync::{mpsc, oneshot};

/// Where the result of a request goes.
pub(crate) type ReplySender = oneshot::Sender<Result<Generation, ProviderError>>;

/// Decodes tokens and recognises the end of a reply.
pub(crate) trait Detokenizer {
    /// Whether a token ends a reply.
    fn is_end(&self, token: u32) -> bool;

    /// The text of these tokens, without control tokens.
    fn decode(&self, tokens: &[u32]) -> String;
}

/// Extra tokens to look back for a stop string: some have no text of their own.
const LOOK_BACK: usize = 16;

/// The tokens of a request so far, its sampler and where its result goes.
pub(crate) struct GenerationState {
    /// The prompt and the generated tokens.
    pub(crate) tokens: Vec<u32>,
    /// Tokens of the prompt.
    pub(crate) prompt_len: usize,
    cached: usize,
    max_tokens: usize,
    sampler: Sampler,
    logprobs: Option<Vec<f32>>,
    stop: Vec<String>,
    ignore_eos: bool,
    pub(crate) client: Option<u64>,
    token_sender: Option<mpsc::UnboundedSender<u32>>,
    end: Option<Result<Finish, ProviderError>>,
    reply: ReplySender,
}

impl GenerationState {
    /// A request with `cached` prompt tokens, for a model with a vocabulary of `size` and a context of `longest` tokens.
    pub(crate) fn new(
        request: GenerationRequest,
        reply: ReplySender,
        cached: usize,
        (size, longest): (usize, usize),
    ) -> Self {
        let GenerationRequest {
            prompt,
            max_tokens,
            sampling,
            seed,
            logprobs,
            ignore_eos,
            client,
            token_sender,
        } = request;
        let most = max_tokens.min(longest.saturating_sub(prompt.len()));
        Self {
            sampler: Sampler::new(&sampling, seed, logprobs, &prompt, size),
            prompt_len: prompt.len(),
            cached,
            max_tokens: most,
            logprobs: logprobs.then(Vec::new),
            stop: sampling.stop.unwrap_or_default().into_iter().filter(|stop| !stop.is_empty()).collect(),
            ignore_eos,
            client,
            token_sender,
            end: (most == 0).then_some(Ok(Finish::Length)),
            tokens: prompt,
            reply,
        }
    }

    /// Whether the request was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.reply.is_closed()
    }

    /// Whether generation has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.end.is_some()
    }

    /// Samples and appends the next token, and checks the stop conditions.
    pub(crate) fn append(
        &mut self,
        (arch, logits): (Arch, &[f32]),
        detokenizer: &impl Detokenizer,
        allowed: &[f32],
        buffers: &mut SamplerBuffers,
    ) {
        let position = self.tokens.len() - self.prompt_len;
        let sampled = self.sampler.sample(arch, logits, allowed, position, buffers);
        let Some(choice) = sampled.filter(|sampled| sampled.logprob.is_finite()) else {
            let message = "the logits are not finite; are the weights valid?";
            self.fail(&ProviderError::new(ErrorCause::Rejected, message));
            return;
        };
        self.tokens.push(choice.token);
        if let Some(logprobs) = &mut self.logprobs {
            logprobs.push(choice.logprob);
        }
        if let Some(token_sender) = &self.token_sender {
            // The receiver may be gone.
            let _ = token_sender.send(choice.token);
        }
        let ended = detokenizer.is_end(choice.token) && !self.ignore_eos;
        if ended || self.ends_in_stop(detokenizer) {
            self.end = Some(Ok(Finish::Stop));
        } else if self.tokens.len() - self.prompt_len >= self.max_tokens {
            self.end = Some(Ok(Finish::Length));
        }
    }

    /// Whether a stop string ends in the last token. Tokens have at least one byte, except for a few without text.
    fn ends_in_stop(&self, detokenizer: &impl Detokenizer) -> bool {
        let Some(longest) = self.stop.iter().map(String::len).max() else { return false };
        let written = &self.tokens[self.prompt_len..];
        let text = detokenizer.decode(&written[written.len().saturating_sub(longest + LOOK_BACK)..]);
        self.stop.iter().any(|stop| text.contains(stop.as_str()))
    }

    /// Ends the request with an error.
    pub(crate) fn fail(&mut self, error: &ProviderError) {
        self.end = Some(Err(error.clone()));
    }

    /// Sends the result.
    pub(crate) fn finish(mut self) {
        let written = self.tokens.split_off(self.prompt_len);
        let generated = self.end.unwrap_or(Ok(Finish::Other)).map(|finish| Generation {
            tokens: written,
            logprobs: self.logprobs,
            finish,
            prompt: self.prompt_len,
            cached: self.cached,
        });
        // The receiver may be gone.
        let _ = self.reply.send(generated);
    }
}

/// Rejects a prompt that is empty, exceeds the context or has unknown tokens.
pub(crate) fn check_prompt(tokens: &[u32], vocab_size: usize, context: usize) -> Result<(), ProviderError> {
    let reject = |message: String| Err(ProviderError::new(ErrorCause::Rejected, message));
    let length = tokens.len();
    if tokens.is_empty() {
        return reject("the prompt is empty".to_owned());
    }
    if length > context {
        return reject(format!("the prompt has {length} tokens, and the model's context {context}"));
    }
    match tokens.iter().find(|token| **token as usize >= vocab_size) {
        Some(token) => reject(format!("token {token} is not one of the model's {vocab_size}")),
        None => Ok(()),
    }
}
