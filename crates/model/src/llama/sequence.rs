//! One request on its way through a context.

use crate::engine::{Answer, GenerationRequest, Ready, Writing};

/// A request that is being served: its reply, its row, and how much of it was read.
pub(super) struct Sequence {
    pub(super) writing: Writing,
    /// Its row of the context.
    pub(super) row: usize,
    /// Tokens that the context holds.
    read: usize,
}

impl Sequence {
    /// A request in a row that holds the first tokens of its prompt, of a file that knows `size` tokens.
    pub(super) fn new(
        request: GenerationRequest,
        answer: Answer,
        row: usize,
        held: usize,
        size: usize,
    ) -> Self {
        // The shelf has room for all that it may write.
        Self { writing: Writing::new(request, answer, held, (size, usize::MAX)), row, read: held }
    }

    /// The rest of its prompt is still to be read.
    pub(super) fn is_reading(&self) -> bool {
        self.read < self.writing.prompt()
    }

    /// Itself as the schedule sees it.
    pub(super) fn ready(&self) -> Ready {
        let unread = self.writing.tokens().len() - self.read;
        Ready { group: self.writing.group(), unread, read: self.read }
    }

    /// Where the next tokens stand, and the tokens: all that are left, within the room.
    pub(super) fn next(&self, room: usize) -> (usize, &[u32]) {
        let tokens = self.writing.tokens();
        (self.read, &tokens[self.read..tokens.len().min(self.read + room)])
    }

    /// So many more tokens were read; says whether the next one can be chosen.
    pub(super) fn advance(&mut self, count: usize) -> bool {
        self.read += count;
        self.read == self.writing.tokens().len()
    }
}
