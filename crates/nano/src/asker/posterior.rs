//! Bayesian model of a solver's ability.
//!
//! The probability of a correct answer to a question of family f and level l is a logistic function of
//! `general + strength[f] − steepness·(l − 1) + luck`, where `luck` is specific to the question: a solver that answers a
//! question correctly tends to do so again. The prior is a fixed set of particles, weighted by the likelihood of the answers.

use crate::Family;
use fastrand::Rng;

/// Number of particles.
const PARTICLES: usize = 500;
/// Three-point Gauss–Hermite quadrature: nodes in standard deviations, and weights.
const LUCK: [(f64, f64); 3] = [(-1.732, 1.0 / 6.0), (0.0, 2.0 / 3.0), (1.732, 1.0 / 6.0)];
/// Standard deviation of a question's luck, in logits.
const LUCK_SD: f64 = 2.0;
/// Mean and standard deviation of the general ability, in logits at level 1.
const GENERAL: (f64, f64) = (2.0, 3.0);
/// Standard deviation of the strength in one family.
const STRENGTH: f64 = 1.5;
/// Mean and standard deviation of the logits lost per level.
const STEEPNESS: (f64, f64) = (1.3, 0.5);

/// The particles: for each solver and cell, the logit of a correct answer.
#[derive(Debug)]
pub(super) struct Prior {
    levels: u32,
    logits: Vec<Vec<f64>>,
    /// For each cell and particle: statistics of a new question.
    fresh: Vec<Vec<Fresh>>,
}

/// Statistics of one particle for a new question of one cell.
#[derive(Clone, Copy, Debug)]
struct Fresh {
    right: f64,
    /// Probability of two correct answers to the same question.
    twice: f64,
    /// Entropy of the answer, in nats.
    entropy: f64,
}

/// Predictive statistics for a new question of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// Probability of a correct answer.
    pub(super) right: f64,
    /// Probability of two correct answers to the same question.
    pub(super) twice: f64,
    /// Mutual information between the answer and the solver, in nats.
    pub(super) information: f64,
}

/// The posterior over solvers: a weight for each particle.
pub(super) struct Posterior<'p> {
    prior: &'p Prior,
    weights: Vec<f64>,
}

/// Correct answers of one solver to one question, and the number of attempts.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerCounts {
    pub(super) cell: usize,
    pub(super) right: u32,
    pub(super) times: u32,
}

impl Prior {
    pub(super) fn new(levels: u32) -> Self {
        let mut random = Rng::with_seed(20_26);
        let logits = (0..PARTICLES).map(|_| {
            let general = GENERAL.0 + GENERAL.1 * normal(&mut random);
            let steepness = (STEEPNESS.0 + STEEPNESS.1 * normal(&mut random)).max(0.2);
            let mut cells = Vec::new();
            for _ in Family::ALL {
                let strength = STRENGTH * normal(&mut random);
                cells.extend((0..levels).map(|below| general + strength - steepness * f64::from(below)));
            }
            cells
        });
        let logits: Vec<Vec<f64>> = logits.collect();
        let cells = Family::ALL.len() * levels as usize;
        let fresh = (0..cells).map(|cell| logits.iter().map(|solver| Fresh::new(solver[cell])).collect());
        let fresh = fresh.collect();
        Self { levels, logits, fresh }
    }

    pub(super) fn levels(&self) -> u32 {
        self.levels
    }

    /// Number of cells.
    pub(super) fn cells(&self) -> usize {
        Family::ALL.len() * self.levels as usize
    }

    /// The index of a family and level.
    pub(super) fn cell(&self, family: Family, level: u32) -> usize {
        family.index() * self.levels as usize + (level.clamp(1, self.levels) - 1) as usize
    }

    /// The family and level of a cell.
    pub(super) fn at(&self, cell: usize) -> (Family, u32) {
        let levels = self.levels as usize;
        (Family::ALL[cell / levels], u32::try_from(cell % levels).unwrap_or(0) + 1)
    }

    /// The probability that a particle answers a question of a cell, given the question's luck in standard deviations.
    pub(super) fn chance(&self, solver: usize, cell: usize, luck: f64) -> f64 {
        sigmoid(self.logits[solver % PARTICLES][cell] + LUCK_SD * luck)
    }

    /// The posterior given these answers.
    pub(super) fn after(&self, tallies: &[AnswerCounts]) -> Posterior<'_> {
        let likelihood = |logits: &Vec<f64>| {
            tallies.iter().map(|t| moment(logits[t.cell], t.right, t.times - t.right).ln()).sum::<f64>()
        };
        // In log space, to avoid underflow over many rounds.
        let mut weights: Vec<f64> = self.logits.iter().map(likelihood).collect();
        let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for weight in &mut weights {
            *weight = (*weight - largest).exp();
        }
        let total: f64 = weights.iter().sum();
        for weight in &mut weights {
            *weight /= total;
        }
        Posterior { prior: self, weights }
    }
}

impl Posterior<'_> {
    /// Predictive statistics for a new question of a cell.
    pub(super) fn fresh(&self, cell: usize) -> Expected {
        let (mut right, mut twice, mut open) = (0.0, 0.0, 0.0);
        for (weight, fresh) in self.weights.iter().zip(&self.prior.fresh[cell]) {
            right += weight * fresh.right;
            twice += weight * fresh.twice;
            open += weight * fresh.entropy;
        }
        Expected { right, twice, information: entropy(right) - open }
    }

    /// Probability of a correct answer when a question is asked again.
    pub(super) fn again(&self, tally: AnswerCounts) -> f64 {
        let wrong = tally.times - tally.right;
        let chances = self.prior.logits.iter().map(|logits| {
            let logit = logits[tally.cell];
            moment(logit, tally.right + 1, wrong) / moment(logit, tally.right, wrong)
        });
        self.weights.iter().zip(chances).map(|(weight, chance)| weight * chance).sum()
    }
}

impl Fresh {
    fn new(logit: f64) -> Self {
        let right = moment(logit, 1, 0);
        Self { right, twice: moment(logit, 2, 0), entropy: entropy(right) }
    }
}

/// Probability of these answers to one question, marginalized over its luck.
fn moment(logit: f64, right: u32, wrong: u32) -> f64 {
    let powers = |chance: f64| chance.powi(right.cast_signed()) * (1.0 - chance).powi(wrong.cast_signed());
    LUCK.iter().map(|(place, weight)| weight * powers(sigmoid(logit + LUCK_SD * place))).sum()
}

/// Bounded away from 0 and 1, for slips and guesses.
fn sigmoid(logit: f64) -> f64 {
    0.01 + 0.98 / (1.0 + (-logit).exp())
}

fn entropy(chance: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    part(chance) + part(1.0 - chance)
}

/// A standard normal variate, by the Box–Muller transform.
pub(super) fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}
