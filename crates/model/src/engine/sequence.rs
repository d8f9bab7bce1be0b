//! A request that is being served by the engine.

use super::GenerationRequest;
use super::cache::{KvCache, Layout};
use super::network::{LogitRows, SequenceInput};
use super::prefix_cache::PrefixMatch;
use super::scheduler::SequenceStatus;
use super::state::{GenerationState, ReplySender};

/// The state of a request and its KV cache.
pub(super) struct Sequence {
    pub(super) state: GenerationState,
    cache: KvCache,
    /// Tokens to process in this step.
    share: usize,
}

impl Sequence {
    /// A request whose prompt begins with these cached blocks.
    pub(super) fn new(
        request: GenerationRequest,
        answer: ReplySender,
        layout: Layout,
        limits: (usize, usize),
        found: PrefixMatch,
    ) -> Self {
        let cache = KvCache::new(layout, found.blocks);
        Self { state: GenerationState::new(request, answer, cache.len(), limits), cache, share: 0 }
    }

    /// The status for the scheduler.
    pub(super) fn ready(&self) -> SequenceStatus {
        let read = self.cache.len();
        SequenceStatus { group: self.state.group(), unread: self.state.tokens().len() - read, read }
    }

    /// Sets the tokens to process in the next step.
    pub(super) fn plan(&mut self, share: usize) {
        self.share = share;
    }

    /// The input of this step.
    pub(super) fn input(&mut self) -> SequenceInput<'_> {
        let (tokens, read) = (self.state.tokens(), self.cache.len());
        let logits = if read + self.share == tokens.len() { LogitRows::Last } else { LogitRows::None };
        SequenceInput { tokens: &tokens[read..read + self.share], cache: &mut self.cache, logits }
    }

    /// Whether all tokens are processed, so that the last logits give the next token.
    pub(super) fn is_writing(&self) -> bool {
        self.share > 0 && self.cache.len() == self.state.tokens().len()
    }

    /// The processed tokens and their KV cache.
    pub(super) fn read(&self) -> (&[u32], &KvCache) {
        (&self.state.tokens()[..self.cache.len()], &self.cache)
    }

    /// Whether part of the prompt is still to be processed.
    pub(super) fn is_reading(&self) -> bool {
        self.cache.len() < self.state.prompt()
    }

    /// The part of the prompt that can come out of a prefix_cache: the last token is always read, since its logits
    /// choose the first token of the reply.
    pub(super) fn beginning(&self) -> &[u32] {
        &self.state.tokens()[..self.state.prompt() - 1]
    }

    /// Whether to add the sequence to the prefix cache: this step processed prompt tokens or was the last.
    pub(super) fn is_worth_keeping(&self) -> bool {
        let first = self.state.tokens().len() <= self.state.prompt() + 1;
        self.share > 0 && (self.state.is_done() || first)
    }
}
