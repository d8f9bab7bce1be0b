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
        Self { state: GenerationState::new(request, answer, cache.len, limits), cache, share: 0 }
    }

    /// The status for the scheduler.
    pub(super) fn status(&self) -> SequenceStatus {
        let computed = self.cache.len;
        SequenceStatus { client: self.state.client, pending: self.state.tokens.len() - computed, computed }
    }

    /// Sets the tokens to process in the next step.
    pub(super) fn plan(&mut self, share: usize) {
        self.share = share;
    }

    /// The input of this step.
    pub(super) fn input(&mut self) -> SequenceInput<'_> {
        let (tokens, computed) = (&self.state.tokens, self.cache.len);
        let logits = if computed + self.share == tokens.len() { LogitRows::Last } else { LogitRows::None };
        SequenceInput { tokens: &tokens[computed..computed + self.share], cache: &mut self.cache, logits }
    }

    /// Whether all tokens are processed, so that the last logits give the next token.
    pub(super) fn is_decoding(&self) -> bool {
        self.share > 0 && self.cache.len == self.state.tokens.len()
    }

    /// The processed tokens and their KV cache.
    pub(super) fn computed(&self) -> (&[u32], &KvCache) {
        (&self.state.tokens[..self.cache.len], &self.cache)
    }

    /// Whether part of the prompt is still to be processed.
    pub(super) fn is_prefilling(&self) -> bool {
        self.cache.len < self.state.prompt_len
    }

    /// The part of the prompt that can come from the prefix cache: the last token is always processed, since its logits
    /// give the first token of the reply.
    pub(super) fn cacheable_prompt(&self) -> &[u32] {
        &self.state.tokens[..self.state.prompt_len - 1]
    }

    /// Whether to add the sequence to the prefix cache: this step processed prompt tokens or was the last.
    pub(super) fn should_cache(&self) -> bool {
        let first = self.state.tokens.len() <= self.state.prompt_len + 1;
        self.share > 0 && (self.state.is_done() || first)
    }
}
