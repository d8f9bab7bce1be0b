//! A request that is being served in a context.

use crate::engine::{GenerationRequest, GenerationState, ReplySender, SequenceStatus};

/// The state of a request, its row and its progress.
pub(super) struct Sequence {
    pub(super) state: GenerationState,
    /// Its row of the context.
    pub(super) row: usize,
    /// Tokens processed.
    computed: usize,
}

impl Sequence {
    /// A request in a row that holds the first tokens of its prompt; `size` is the vocabulary size.
    pub(super) fn new(
        request: GenerationRequest,
        answer: ReplySender,
        row: usize,
        held: usize,
        size: usize,
    ) -> Self {
        // Cells are reserved for the whole reply.
        Self { state: GenerationState::new(request, answer, held, (size, usize::MAX)), row, computed: held }
    }

    /// Whether part of the prompt is still to be processed.
    pub(super) fn is_prefilling(&self) -> bool {
        self.computed < self.state.prompt_len
    }

    /// The status for the scheduler.
    pub(super) fn status(&self) -> SequenceStatus {
        let pending = self.state.tokens.len() - self.computed;
        SequenceStatus { client: self.state.client, pending, computed: self.computed }
    }

    /// The position of the next tokens, and up to `room` of them.
    pub(super) fn next(&self, room: usize) -> (usize, &[u32]) {
        let tokens = &self.state.tokens;
        (self.computed, &tokens[self.computed..tokens.len().min(self.computed + room)])
    }

    /// Counts tokens as processed; returns whether the next one can be sampled.
    pub(super) fn advance(&mut self, count: usize) -> bool {
        self.computed += count;
        self.computed == self.state.tokens.len()
    }
}
