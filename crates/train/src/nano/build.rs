//! Making a network of the recipe.

use super::{Codec, Lessons, Recipe};
use crate::{LearnError, Learner, Options, Progress, Reinforce, Schedule, Supply, Weights, learner, train};
use aske_nano::Classroom;
use std::ops::ControlFlow;

/// Where and how a network is trained.
#[derive(Clone, Debug)]
pub struct Workshop {
    /// `cpu`, or `cuda` where the program was built for it.
    pub device: String,
    /// Threads that prepare lessons.
    pub threads: usize,
    /// Steps instead of the recipe's.
    pub steps: Option<u64>,
}

/// Of all steps, one in so many warms up.
const WARM_UP: u64 = 50;
/// How much of the average stays at each step.
const AVERAGE: f64 = 0.998;

impl Workshop {
    /// Trains a network from its seed and gives its weights; the observer hears of it now and then, and may save or end it.
    pub fn build(
        &self,
        recipe: &'static Recipe,
        codec: &Codec,
        classroom: &Classroom,
        suffixes: [String; 2],
        mut observer: impl FnMut(u64, Progress, &mut dyn Learner) -> Result<ControlFlow<()>, LearnError>,
    ) -> Result<Weights, LearnError> {
        let config = recipe.config();
        let options = Options { average: Some(AVERAGE), ..Options::default() };
        let start = Weights::random(&config, recipe.seed);
        let mut learner = learner(&config, &start, options, &self.device)?;
        let steps = self.steps.unwrap_or(recipe.steps);
        let schedule =
            Schedule { peak: recipe.peak, floor: recipe.peak / 50.0, warm_up: steps / WARM_UP, steps };
        let supply = Supply { threads: self.threads, ..Supply::default() };
        let lessons = Lessons::new(recipe, codec, classroom, suffixes);
        let report = |progress: Progress, learner: &mut (dyn Reinforce + Send + 'static)| {
            observer(steps, progress, learner)
        };
        train(learner.as_mut(), |index| lessons.batch(index), steps, schedule, supply, report)?;
        learner.weights()
    }
}
