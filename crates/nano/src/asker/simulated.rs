//! A simulated solver.

use super::posterior::{Prior, normal};
use crate::Question;
use fastrand::Rng;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A solver drawn from the prior.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedSolver {
    prior: Arc<Prior>,
    solver: usize,
    /// Seed of the luck of each question.
    seed: u64,
}

impl SimulatedSolver {
    pub(super) fn new(prior: Arc<Prior>, random: &mut Rng) -> Self {
        Self { prior, solver: random.usize(..), seed: random.u64(..) }
    }

    /// Whether it answers this question correctly this time. A question keeps its luck when it is asked again.
    pub(crate) fn is_right(&self, question: &Question, random: &mut Rng) -> bool {
        let luck = normal(&mut Rng::with_seed(xxh3_64_with_seed(question.text().as_bytes(), self.seed)));
        let level = question.level().unwrap_or(self.prior.levels());
        let cell = self.prior.cell(question.family(), level);
        random.f64() < self.prior.chance(self.solver, cell, luck)
    }
}
