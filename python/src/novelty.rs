//! The diversity reward over batches of this process.

use aske_config::{ConfigError, TrainSection};
use aske_diversity::{Embedder, NoveltyBuffer};
use parking_lot::Mutex;

/// The history of this environment's questions.
pub(crate) struct Novelty {
    embedder: Embedder,
    buffer: Mutex<NoveltyBuffer>,
}

impl Novelty {
    /// An empty history with the embedder of `[train]`.
    pub(crate) fn new(plan: &TrainSection) -> Result<Self, ConfigError> {
        let embedder = Embedder::find(&plan.embedder).map_err(|error| {
            ConfigError::at("train.embedder", error.to_string()).with_hint(
                "use \"train.embedder=ngram\", or start `aske serve env` and pass its address as diversity_url",
            )
        })?;
        let buffer = Mutex::new(NoveltyBuffer::new(plan.buffer_size, plan.num_neighbors, &embedder));
        Ok(Self { embedder, buffer })
    }

    /// The novelty of each of these questions among each other and those before, to which they are added.
    pub(crate) fn add(&self, questions: &[&str]) -> Result<Vec<f64>, String> {
        let vectors = self.embedder.embed(questions).map_err(|error| error.to_string())?;
        let mut buffer = self.buffer.lock();
        let novelties = buffer.novelties(&vectors).map_err(|error| error.to_string())?;
        buffer.extend(&vectors).map_err(|error| error.to_string())?;
        Ok(novelties)
    }
}
