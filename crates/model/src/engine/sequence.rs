//! One request on its way through the engine.

use super::cache::{BLOCK, Cache, Layout};
use super::network::{Network, Part, Wanted};
use super::sampler::{Sampler, Weights};
use super::store::Found;
use super::vocabulary::Vocabulary;
use super::{Generate, Generated};
use crate::{Cause, Fault};
use aske_chat::Finish;
use tokio::sync::oneshot;

/// A request that is being served: what was read, what was written, and who waits.
pub(super) struct Sequence {
    tokens: Vec<u32>,
    prompt: usize,
    cached: usize,
    most: usize,
    cache: Cache,
    sampler: Sampler,
    logprobs: Option<Vec<f32>>,
    stop: Vec<String>,
    ignore_eos: bool,
    /// Tokens that are read in this step.
    share: usize,
    end: Option<Result<Finish, Fault>>,
    answer: oneshot::Sender<Result<Generated, Fault>>,
}

impl Sequence {
    /// A request whose prompt begins with the blocks that were found.
    pub(super) fn new(
        request: Generate,
        answer: oneshot::Sender<Result<Generated, Fault>>,
        layout: Layout,
        size: usize,
        longest: usize,
        found: Found,
    ) -> Self {
        let Generate { prompt, max_tokens, sampling, seed, logprobs, ignore_eos } = request;
        let most = max_tokens.min(longest.saturating_sub(prompt.len()));
        let cache = Cache::new(layout, found.blocks);
        Self {
            sampler: Sampler::new(&sampling, seed, logprobs, &prompt, size),
            prompt: prompt.len(),
            cached: cache.len(),
            most,
            cache,
            logprobs: logprobs.then(Vec::new),
            stop: sampling.stop.unwrap_or_default().into_iter().filter(|stop| !stop.is_empty()).collect(),
            ignore_eos,
            share: 0,
            end: (most == 0).then_some(Ok(Finish::Length)),
            tokens: prompt,
            answer,
        }
    }

    /// Nobody waits for it any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    /// It has come to its end.
    pub(super) fn is_done(&self) -> bool {
        self.end.is_some()
    }

    /// Takes part in the next step with as many tokens as it has to read, within the room; gives their number.
    pub(super) fn plan(&mut self, room: usize) -> usize {
        let left = self.tokens.len() - self.cache.len();
        // A sequence that writes always goes on; only long prompts are read in parts.
        self.share = if left == 1 { 1 } else { left.min(room) };
        self.share
    }

    /// Its part in this step.
    pub(super) fn part(&mut self) -> Part<'_> {
        let read = self.cache.len();
        let wanted = if read + self.share == self.tokens.len() { Wanted::Last } else { Wanted::Nothing };
        Part { tokens: &self.tokens[read..read + self.share], cache: &mut self.cache, wanted }
    }

    /// Everything was read, so that the step's last logits choose the next token.
    pub(super) fn is_writing(&self) -> bool {
        self.share > 0 && self.cache.len() == self.tokens.len()
    }

    /// Writes the next token.
    pub(super) fn write(
        &mut self,
        logits: &[f32],
        network: &Network,
        vocabulary: &Vocabulary,
        allowed: &[f32],
        room: &mut Weights,
    ) {
        let place = self.tokens.len() - self.prompt;
        let Some(choice) = self.sampler.choose(network.arch, logits, allowed, place, room) else {
            let problem = "the network's output is no number; are its weights sound?";
            self.end = Some(Err(Fault::new(Cause::Rejected, problem)));
            return;
        };
        self.tokens.push(choice.token);
        if let Some(logprobs) = &mut self.logprobs {
            logprobs.push(choice.logprob);
        }
        let stopped = choice.token == network.config.eos_token_id && !self.ignore_eos;
        if stopped || self.meets_stop(vocabulary) {
            self.end = Some(Ok(Finish::Stop));
        } else if place + 1 >= self.most {
            self.end = Some(Ok(Finish::Length));
        }
    }

    /// A stop string ends in the last token. Looks back as far as one can begin.
    fn meets_stop(&self, vocabulary: &Vocabulary) -> bool {
        let Some(longest) = self.stop.iter().map(String::len).max() else { return false };
        let written = &self.tokens[self.prompt..];
        // Tokens without a text of their own are rare; a few more make up for them.
        let text = vocabulary.decode(&written[written.len().saturating_sub(longest + BLOCK)..]);
        self.stop.iter().any(|stop| text.contains(stop.as_str()))
    }

    /// What was read so far, and its keys and values.
    pub(super) fn read(&self) -> (&[u32], &Cache) {
        (&self.tokens[..self.cache.len()], &self.cache)
    }

    /// The rest of its prompt is still to be read.
    pub(super) fn is_reading(&self) -> bool {
        self.cache.len() < self.prompt
    }

    /// The part of the prompt that can come out of a store: the last token is always read, since its logits
    /// choose the first token of the reply.
    pub(super) fn beginning(&self) -> &[u32] {
        &self.tokens[..self.prompt - 1]
    }

    /// This step read some of the prompt, or was the last: others may want to begin with what was read.
    pub(super) fn is_worth_keeping(&self) -> bool {
        self.share > 0 && (self.is_done() || self.tokens.len() <= self.prompt + 1)
    }

    /// Gives the answer to whoever waits.
    pub(super) fn finish(mut self) {
        let written = self.tokens.split_off(self.prompt);
        let end = self.end.unwrap_or(Ok(Finish::Other));
        let generated = end.map(|finish| Generated {
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
