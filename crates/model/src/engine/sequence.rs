//! One request on its way through the engine.

use super::GenerationRequest;
use super::cache::{Cache, Layout};
use super::network::{Part, Wanted};
use super::schedule::Ready;
use super::store::Found;
use super::writing::{Answer, Writing};

/// A request that is being served: its reply, and the keys and values of what was read.
pub(super) struct Sequence {
    pub(super) writing: Writing,
    cache: Cache,
    /// Tokens that are read in this step.
    share: usize,
}

impl Sequence {
    /// A request whose prompt begins with the blocks that were found.
    pub(super) fn new(
        request: GenerationRequest,
        answer: Answer,
        layout: Layout,
        limits: (usize, usize),
        found: Found,
    ) -> Self {
        let cache = Cache::new(layout, found.blocks);
        Self { writing: Writing::new(request, answer, cache.len(), limits), cache, share: 0 }
    }

    /// Itself as the schedule sees it.
    pub(super) fn ready(&self) -> Ready {
        let read = self.cache.len();
        Ready { group: self.writing.group(), unread: self.writing.tokens().len() - read, read }
    }

    /// Takes part in the next step with so many tokens.
    pub(super) fn plan(&mut self, share: usize) {
        self.share = share;
    }

    /// Its part in this step.
    pub(super) fn part(&mut self) -> Part<'_> {
        let (tokens, read) = (self.writing.tokens(), self.cache.len());
        let wanted = if read + self.share == tokens.len() { Wanted::Last } else { Wanted::Nothing };
        Part { tokens: &tokens[read..read + self.share], cache: &mut self.cache, wanted }
    }

    /// Everything was read, so that the step's last logits choose the next token.
    pub(super) fn is_writing(&self) -> bool {
        self.share > 0 && self.cache.len() == self.writing.tokens().len()
    }

    /// What was read so far, and its keys and values.
    pub(super) fn read(&self) -> (&[u32], &Cache) {
        (&self.writing.tokens()[..self.cache.len()], &self.cache)
    }

    /// The rest of its prompt is still to be read.
    pub(super) fn is_reading(&self) -> bool {
        self.cache.len() < self.writing.prompt()
    }

    /// The part of the prompt that can come out of a store: the last token is always read, since its logits
    /// choose the first token of the reply.
    pub(super) fn beginning(&self) -> &[u32] {
        &self.writing.tokens()[..self.writing.prompt() - 1]
    }

    /// This step read some of the prompt, or was the last: others may want to begin with what was read.
    pub(super) fn is_worth_keeping(&self) -> bool {
        let first = self.writing.tokens().len() <= self.writing.prompt() + 1;
        self.share > 0 && (self.writing.is_done() || first)
    }
}
