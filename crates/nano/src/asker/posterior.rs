//! What is known of a solver's ability.
//!
//! A solver's chance to answer a question of family f and level l is a logistic function of
//! `general + strength[f] − steepness·(l − 1) + luck`, where `luck` belongs to the question: a network that has a
//! question right tends to have it right again. The prior is a fixed cloud of solvers; answers weigh them.

use crate::Family;
use fastrand::Rng;

/// Solvers in the cloud.
const CLOUD: usize = 500;
/// Three-point quadrature of a normal: places in standard deviations, and weights.
const LUCK: [(f64, f64); 3] = [(-1.732, 1.0 / 6.0), (0.0, 2.0 / 3.0), (1.732, 1.0 / 6.0)];
/// Spread of a question's luck, in logits.
const LUCK_SPREAD: f64 = 2.0;
/// Mean and spread of the general ability, in logits at level 1.
const GENERAL: (f64, f64) = (2.0, 3.0);
/// Spread of the strength in one family.
const STRENGTH: f64 = 1.5;
/// Mean and spread of the logits lost from level to level.
const STEEPNESS: (f64, f64) = (1.3, 0.5);

/// The cloud: for each solver and each cell the logit of its chance.
#[derive(Debug)]
pub(super) struct Prior {
    levels: u32,
    logits: Vec<Vec<f64>>,
    /// For each cell, and each of the cloud: what a new question brings.
    fresh: Vec<Vec<Fresh>>,
}

/// The chances of one solver with a new question of one cell.
#[derive(Clone, Copy, Debug)]
struct Fresh {
    right: f64,
    /// Right twice, when it is asked twice.
    twice: f64,
    /// What stays open about the answer, in nats.
    entropy: f64,
}

/// What is expected of a solver with a new question of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// The chance of a right answer.
    pub(super) right: f64,
    /// The chance of two right answers when it is asked twice.
    pub(super) twice: f64,
    /// What the answer would tell about the solver, in nats.
    pub(super) information: f64,
}

/// A solver after its answers: a weight for each of the cloud.
pub(super) struct Posterior<'p> {
    prior: &'p Prior,
    weights: Vec<f64>,
}

/// Answers of one solver to one question: so many right of so many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub(super) cell: usize,
    pub(super) right: u32,
    pub(super) times: u32,
}

impl Prior {
    pub(super) fn new(levels: u32) -> Self {
        let mut random = Rng::with_seed(20_26);
        let logits = (0..CLOUD).map(|_| {
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

    /// The number of cells.
    pub(super) fn cells(&self) -> usize {
        Family::ALL.len() * self.levels as usize
    }

    /// The place of a family and level.
    pub(super) fn cell(&self, family: Family, level: u32) -> usize {
        family.index() * self.levels as usize + (level.clamp(1, self.levels) - 1) as usize
    }

    /// The family and level of a place.
    pub(super) fn at(&self, cell: usize) -> (Family, u32) {
        let levels = self.levels as usize;
        (Family::ALL[cell / levels], u32::try_from(cell % levels).unwrap_or(0) + 1)
    }

    /// A solver of the cloud: its chance for a question of a cell, given the question's luck in standard deviations.
    pub(super) fn chance(&self, solver: usize, cell: usize, luck: f64) -> f64 {
        sigmoid(self.logits[solver % CLOUD][cell] + LUCK_SPREAD * luck)
    }

    /// The solver that gave these answers.
    pub(super) fn after(&self, tallies: &[Tally]) -> Posterior<'_> {
        let likelihood = |logits: &Vec<f64>| {
            tallies.iter().map(|t| moment(logits[t.cell], t.right, t.times - t.right).ln()).sum::<f64>()
        };
        // Logarithms, so that many rounds do not round every chance to nought.
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
    /// What is expected of it with a new question of a cell.
    pub(super) fn fresh(&self, cell: usize) -> Expected {
        let (mut right, mut twice, mut open) = (0.0, 0.0, 0.0);
        for (weight, fresh) in self.weights.iter().zip(&self.prior.fresh[cell]) {
            right += weight * fresh.right;
            twice += weight * fresh.twice;
            open += weight * fresh.entropy;
        }
        Expected { right, twice, information: entropy(right) - open }
    }

    /// The chance of a right answer when a question is asked again.
    pub(super) fn again(&self, tally: Tally) -> f64 {
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

/// The chance of these answers to one question, its luck averaged out.
fn moment(logit: f64, right: u32, wrong: u32) -> f64 {
    let powers = |chance: f64| chance.powi(right.cast_signed()) * (1.0 - chance).powi(wrong.cast_signed());
    LUCK.iter().map(|(place, weight)| weight * powers(sigmoid(logit + LUCK_SPREAD * place))).sum()
}

/// Never quite 0 or 1: anyone may slip, and anyone may guess.
fn sigmoid(logit: f64) -> f64 {
    0.01 + 0.98 / (1.0 + (-logit).exp())
}

fn entropy(chance: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    part(chance) + part(1.0 - chance)
}

/// A standard normal number, by Box and Muller.
pub(super) fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}
