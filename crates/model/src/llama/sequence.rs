//! A request that is being served in a context.

use crate::engine::{GenerationRequest, GenerationState, ReplySender, SequenceStatus};

/// The state of a request, its row and its progress.
pub(super) struct Sequence {
    pub(super) state: GenerationState,
    /// Its row of the context.
    pub(super) row: usize,
    /// Tokens processed.
    read: usize,
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
        Self { state: GenerationState::new(request, answer, held, (size, usize::MAX)), row, read: held }
    }

    /// Whether part of the prompt is still to be processed.
    pub(super) fn is_reading(&self) -> bool {
        self.read < self.state.prompt()
    }

    /// The status for the scheduler.
    pub(super) fn ready(&self) -> SequenceStatus {
        let unread = self.state.tokens().len() - self.read;
        SequenceStatus { group: self.state.group(), unread, read: self.read }
    }

    /// The position of the next tokens, and up to `room` of them.
    pub(super) fn next(&self, room: usize) -> (usize, &[u32]) {
        let tokens = self.state.tokens();
        (self.read, &tokens[self.read..tokens.len().min(self.read + room)])
    }

    /// Counts tokens as processed; returns whether the next one can be sampled.
    pub(super) fn advance(&mut self, count: usize) -> bool {
        self.read += count;
        self.read == self.state.tokens().len()
    }
}
