//! Trains a network of the recipe.

use super::{BatchSampler, NanoTokenizer, Recipe};
use crate::{AdamWConfig, LearnError, LrSchedule, Policy, Progress, Weights};
use crate::{policy_from_weights, train};
use aske_nano::SessionGenerator;
use std::ops::ControlFlow;

/// Where and how networks are trained.
#[derive(Clone, Debug)]
pub struct RecipeTrainer {
    /// `cpu`, or `cuda` if the program was built with libtorch.
    pub device: String,
    /// Threads that prepare batches.
    pub threads: usize,
    /// Overrides the recipe's number of steps.
    pub steps: Option<u64>,
}

/// Warm-up takes one step in this many.
const WARMUP_FRACTION: u64 = 50;
/// Decay of the moving average of the weights.
const EMA_DECAY: f64 = 0.998;

impl RecipeTrainer {
    /// Trains a network from its seed and returns its weights; the observer is called regularly, and may save or end the run.
    pub fn train(
        &self,
        recipe: &'static Recipe,
        tokenizer: &NanoTokenizer,
        session_generator: &SessionGenerator,
        suffixes: [String; 2],
        mut observer: impl FnMut(u64, Progress, &mut dyn Policy) -> Result<ControlFlow<()>, LearnError>,
    ) -> Result<Weights, LearnError> {
        let config = recipe.config();
        let optimizer = AdamWConfig { ema_decay: Some(EMA_DECAY), ..AdamWConfig::default() };
        let initial = Weights::random(&config, recipe.seed);
        let mut policy = policy_from_weights(&config, &initial, optimizer, &self.device, None)?;
        let steps = self.steps.unwrap_or(recipe.steps);
        let peak = recipe.learning_rate;
        let schedule = LrSchedule { peak, floor: peak / 50.0, warmup_steps: steps / WARMUP_FRACTION, steps };
        let batches = BatchSampler::new(recipe, tokenizer, session_generator, suffixes);
        let report =
            |progress: Progress, policy: &mut (dyn Policy + 'static)| observer(steps, progress, policy);
        train(policy.as_mut(), |index| batches.batch(index), steps, schedule, self.threads, report)?;
        policy.weights()
    }
}
