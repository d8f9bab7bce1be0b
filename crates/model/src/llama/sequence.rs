//! One request on its way through a context.

use super::file::Gguf;
use crate::engine::{Generate, Generated, Sampler, Weights};
use crate::{Cause, Fault};
use aske_chat::Finish;
use aske_kernels::Arch;
use tokio::sync::oneshot;

/// A request that is being served: what was read, what was written, and who waits.
pub(super) struct Sequence {
    /// Its row of the context.
    pub(super) row: usize,
    tokens: Vec<u32>,
    prompt: usize,
    cached: usize,
    /// Tokens that the context holds.
    read: usize,
    most: usize,
    sampler: Sampler,
    logprobs: Option<Vec<f32>>,
    stop: Vec<String>,
    ignore_eos: bool,
    end: Option<Result<Finish, Fault>>,
    answer: Answer,
}

/// Who waits.
pub(super) type Answer = oneshot::Sender<Result<Generated, Fault>>;

impl Sequence {
    /// A request in a row that holds the first tokens of its prompt.
    pub(super) fn new(request: Generate, answer: Answer, row: usize, held: usize, size: usize) -> Self {
        let Generate { prompt, max_tokens, sampling, seed, logprobs, ignore_eos } = request;
        Self {
            row,
            sampler: Sampler::new(&sampling, seed, logprobs, &prompt, size),
            prompt: prompt.len(),
            cached: held,
            read: held,
            most: max_tokens,
            logprobs: logprobs.then(Vec::new),
            stop: sampling.stop.unwrap_or_default().into_iter().filter(|stop| !stop.is_empty()).collect(),
            ignore_eos,
            end: (max_tokens == 0).then_some(Ok(Finish::Length)),
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

    /// The rest of its prompt is still to be read.
    pub(super) fn is_reading(&self) -> bool {
        self.read < self.prompt
    }

    /// All tokens so far.
    pub(super) fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Where the next tokens stand, and the tokens: all that are left, within the room.
    pub(super) fn next(&self, room: usize) -> (usize, &[u32]) {
        let end = self.tokens.len().min(self.read + room);
        (self.read, &self.tokens[self.read..end])
    }

    /// So many more tokens were read; says whether the next one can be chosen.
    pub(super) fn advance(&mut self, count: usize) -> bool {
        self.read += count;
        self.read == self.tokens.len()
    }

    /// Writes the next token.
    pub(super) fn write(
        &mut self,
        logits: &[f32],
        file: &Gguf,
        allowed: &[f32],
        arch: Arch,
        room: &mut Weights,
    ) {
        let place = self.tokens.len() - self.prompt;
        let Some(choice) = self.sampler.choose(arch, logits, allowed, place, room) else {
            self.fail(&Fault::new(
                Cause::Rejected,
                "the network's output is no number; are its weights sound?",
            ));
            return;
        };
        self.tokens.push(choice.token);
        if let Some(logprobs) = &mut self.logprobs {
            logprobs.push(choice.logprob);
        }
        let ended = file.text.is_end(choice.token) && !self.ignore_eos;
        if ended || self.meets_stop(file) {
            self.end = Some(Ok(Finish::Stop));
        } else if place + 1 >= self.most {
            self.end = Some(Ok(Finish::Length));
        }
    }

    /// A stop string ends in the last token. Every token of a text has a byte at least, so looking back as many tokens
    /// as the longest has bytes is enough, and a few more for those without a text.
    fn meets_stop(&self, file: &Gguf) -> bool {
        let Some(longest) = self.stop.iter().map(String::len).max() else { return false };
        let written = &self.tokens[self.prompt..];
        let text = file.text.decode(&file.model, &written[written.len().saturating_sub(longest + 8)..]);
        self.stop.iter().any(|stop| text.contains(stop.as_str()))
    }

    /// It ends without an answer.
    pub(super) fn fail(&mut self, fault: &Fault) {
        self.end = Some(Err(fault.clone()));
    }

    /// Gives the answer to whoever waits.
    pub(super) fn finish(mut self) {
        let written = self.tokens.split_off(self.prompt);
        let generated = self.end.unwrap_or(Ok(Finish::Other)).map(|finish| Generated {
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
