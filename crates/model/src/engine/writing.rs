//! A reply as it is written, whichever engine computes it: choosing, stopping, answering.

use super::sampler::{Sampler, Weights};
use super::{Generation, GenerationRequest};
use crate::{ErrorCause, ProviderError};
use aske_chat::Finish;
use aske_kernels::Arch;
use tokio::sync::{mpsc, oneshot};

/// Who waits for a reply.
pub(crate) type Answer = oneshot::Sender<Result<Generation, ProviderError>>;

/// What must be known of tokens to end a reply.
pub(crate) trait Tongue {
    /// Whether a token ends a reply.
    fn is_end(&self, token: u32) -> bool;

    /// The text of these tokens, without control tokens.
    fn decode(&self, tokens: &[u32]) -> String;
}

/// Tokens looked back for a stop string, beyond its bytes: some have no text of their own.
const MORE: usize = 16;

/// A request's tokens so far, how the next is chosen, and who waits.
pub(crate) struct Writing {
    tokens: Vec<u32>,
    prompt: usize,
    cached: usize,
    most: usize,
    sampler: Sampler,
    logprobs: Option<Vec<f32>>,
    stop: Vec<String>,
    ignore_eos: bool,
    group: Option<u64>,
    each: Option<mpsc::UnboundedSender<u32>>,
    end: Option<Result<Finish, ProviderError>>,
    answer: Answer,
}

impl Writing {
    /// A request of which `cached` tokens need not be computed, to an engine that knows `size` tokens and texts of at
    /// most `longest`.
    pub(crate) fn new(
        request: GenerationRequest,
        answer: Answer,
        cached: usize,
        (size, longest): (usize, usize),
    ) -> Self {
        let GenerationRequest { prompt, max_tokens, sampling, seed, logprobs, ignore_eos, group, each } =
            request;
        let most = max_tokens.min(longest.saturating_sub(prompt.len()));
        Self {
            sampler: Sampler::new(&sampling, seed, logprobs, &prompt, size),
            prompt: prompt.len(),
            cached,
            most,
            logprobs: logprobs.then(Vec::new),
            stop: sampling.stop.unwrap_or_default().into_iter().filter(|stop| !stop.is_empty()).collect(),
            ignore_eos,
            group,
            each,
            end: (most == 0).then_some(Ok(Finish::Length)),
            tokens: prompt,
            answer,
        }
    }

    /// All tokens so far: the prompt's, and those written.
    pub(crate) fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Tokens of the prompt.
    pub(crate) fn prompt(&self) -> usize {
        self.prompt
    }

    /// Whose it is.
    pub(crate) fn group(&self) -> Option<u64> {
        self.group
    }

    /// Nobody waits for it any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    /// It has come to its end.
    pub(crate) fn is_done(&self) -> bool {
        self.end.is_some()
    }

    /// Writes the next token.
    pub(crate) fn write(
        &mut self,
        (arch, logits): (Arch, &[f32]),
        tongue: &impl Tongue,
        allowed: &[f32],
        room: &mut Weights,
    ) {
        let place = self.tokens.len() - self.prompt;
        let Some(choice) = self.sampler.choose(arch, logits, allowed, place, room) else {
            let problem = "the network's output is no number; are its weights sound?";
            self.fail(&ProviderError::new(ErrorCause::Rejected, problem));
            return;
        };
        self.tokens.push(choice.token);
        if let Some(logprobs) = &mut self.logprobs {
            logprobs.push(choice.logprob);
        }
        if let Some(each) = &self.each {
            // Nobody may be listening any more.
            let _ = each.send(choice.token);
        }
        let ended = tongue.is_end(choice.token) && !self.ignore_eos;
        if ended || self.meets_stop(tongue) {
            self.end = Some(Ok(Finish::Stop));
        } else if place + 1 >= self.most {
            self.end = Some(Ok(Finish::Length));
        }
    }

    /// A stop string ends in the last token. Every token of a text has a byte at least, so looking back as many tokens
    /// as the longest has bytes is enough, and a few more for those without a text.
    fn meets_stop(&self, tongue: &impl Tongue) -> bool {
        let Some(longest) = self.stop.iter().map(String::len).max() else { return false };
        let written = &self.tokens[self.prompt..];
        let text = tongue.decode(&written[written.len().saturating_sub(longest + MORE)..]);
        self.stop.iter().any(|stop| text.contains(stop.as_str()))
    }

    /// It ends without an answer.
    pub(crate) fn fail(&mut self, fault: &ProviderError) {
        self.end = Some(Err(fault.clone()));
    }

    /// Gives the answer to whoever waits.
    pub(crate) fn finish(mut self) {
        let written = self.tokens.split_off(self.prompt);
        let generated = self.end.unwrap_or(Ok(Finish::Other)).map(|finish| Generation {
            tokens: written,
            logprobs: self.logprobs,
            finish,
            prompt: self.prompt,
            cached: self.cached,
        });
        // Nobody may be waiting any more.
        let _ = self.answer.send(generated);
    }
}
