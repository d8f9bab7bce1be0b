//! The model that learns: it samples, it is rewarded, it is saved.

use std::path::Path;

use aske_chat::Message;
use aske_model::{Provider, ProviderError};

use crate::{Batch, LearnError, Loss, Reinforced};

/// A model that writes and learns from what came of it.
pub trait Policy: Send {
    /// Serves the weights as they are now, for sampling; later steps do not change what it serves.
    ///
    /// Replies carry their tokens and log-probabilities ([`aske_chat::Trace`]).
    fn serve(&self) -> Result<Box<dyn Provider>, LearnError>;

    /// The tokens of a conversation, up to where the model's reply begins.
    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError>;

    /// Takes one optimiser step along the gradient of all these batches together.
    ///
    /// When the loss or the gradient is no longer a number, or the gradient is longer than `longest`, no step is
    /// taken and nothing has changed.
    fn learn(
        &mut self,
        batches: &[Batch],
        loss: Loss,
        rate: f64,
        longest: f64,
    ) -> Result<Reinforced, LearnError>;

    /// Errs when a weight or a number that the optimiser remembers is not finite.
    ///
    /// A policy that fails this must not be served, saved or trained further.
    fn check(&self) -> Result<(), LearnError>;

    /// Writes the weights into a folder, in the usual files, so that any program can run them.
    fn save(&self, folder: &Path) -> Result<(), LearnError>;

    /// Writes all that [`Policy::restore`] needs to go on as if nothing had happened.
    fn keep(&self, folder: &Path) -> Result<(), LearnError>;

    /// Goes on from a folder that [`Policy::keep`] wrote.
    fn restore(&mut self, folder: &Path) -> Result<(), LearnError>;

    /// The longest text that it can read and write, in tokens.
    fn longest(&self) -> usize;
}
