//! The fit of [`crossed`](crate::crossed): penalised likelihood, the standard deviation of hardness, goodness of fit.

use crate::crossed::Cell;
use crate::newton::{Cholesky, NewtonStep, SymmetricMatrix, maximize};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};

/// The standard deviation of the rows' normal prior around the intercept, in logits; weak, but keeps a row without misses
/// finite.
const ROW_SD: f64 = 3.0;
/// The standard deviation of the intercept's prior.
const INTERCEPT_SD: f64 = 10.0;
/// The range of the standard deviation of hardness.
const SD_RANGE: (f64, f64) = (0.02, 6.0);
/// The step in ln τ for finite differences.
const STEP: f64 = 0.2;
/// The largest variance of ln τ, for data that do not determine τ.
const MAX_LOG_VARIANCE: f64 = 1.0;
/// Replicates of the parametric bootstrap.
const REPLICAS: u32 = 199;

/// The cells with a session, rows and columns numbered without gaps. Parameters are the rows' logits on a
/// column of average hardness, then the columns' ease (−hardness).
#[derive(Clone)]
pub(crate) struct Grid {
    /// The rows and columns with a session.
    pub(crate) rows: Vec<usize>,
    pub(crate) columns: Vec<usize>,
    cells: Vec<GridCell>,
}

#[derive(Clone, Copy)]
struct GridCell {
    row: usize,
    column: usize,
    hits: f64,
    total: f64,
}

/// The information matrix by blocks: the columns' block is diagonal, so they are eliminated first.
pub(crate) struct Information {
    /// The Schur complement of the columns.
    pub(crate) rows: Cholesky,
    /// The columns' diagonal.
    diagonal: Vec<f64>,
    /// The off-diagonal entries of each column.
    ties: Vec<Vec<(usize, f64)>>,
}

impl Information {
    /// The columns' variances: 1/d + cᵀS⁻¹c/d², with c a column's off-diagonal entries.
    pub(crate) fn columns(&self, rows: &SymmetricMatrix) -> Vec<f64> {
        let variance = |(d, ties): (&f64, &Vec<(usize, f64)>)| {
            let pull: f64 =
                ties.iter().flat_map(|(i, x)| ties.iter().map(move |(k, y)| x * y * rows.at(*i, *k))).sum();
            1.0 / d + pull / (d * d)
        };
        self.diagonal.iter().zip(&self.ties).map(variance).collect()
    }

    fn log_determinant(&self) -> f64 {
        self.rows.log_determinant() + self.diagonal.iter().map(|d| d.ln()).sum::<f64>()
    }
}

impl Grid {
    pub(crate) fn of(cells: &[Cell]) -> Option<Self> {
        let mut sums: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
        for cell in cells.iter().filter(|cell| cell.total > 0) {
            let sum = sums.entry((cell.row, cell.column)).or_default();
            sum.0 += f64::from(cell.hits);
            sum.1 += f64::from(cell.total);
        }
        let unique = |values: &mut dyn Iterator<Item = usize>| {
            values.collect::<BTreeSet<usize>>().into_iter().collect::<Vec<usize>>()
        };
        let rows = unique(&mut sums.keys().map(|key| key.0));
        let columns = unique(&mut sums.keys().map(|key| key.1));
        let find = |list: &[usize], value: usize| list.binary_search(&value).unwrap_or_default();
        let cells: Vec<GridCell> = sums
            .into_iter()
            .map(|((row, column), (hits, total))| GridCell {
                row: find(&rows, row),
                column: find(&columns, column),
                hits,
                total,
            })
            .collect();
        (!cells.is_empty()).then_some(Self { rows, columns, cells })
    }

    pub(crate) fn start(&self) -> Vec<f64> {
        vec![0.0; self.rows.len() + self.columns.len()]
    }

    fn logit(&self, cell: &GridCell, x: &[f64]) -> f64 {
        x[cell.row] + x[self.rows.len() + cell.column]
    }

    pub(crate) fn mode(&self, spread: f64, start: Vec<f64>) -> Option<Vec<f64>> {
        maximize(start, |x| Some(self.newton_step(spread, x)?.0))
    }

    /// The penalised log-likelihood, the Newton step, and the information matrix.
    pub(crate) fn newton_step(&self, spread: f64, x: &[f64]) -> Option<(NewtonStep, Information)> {
        let (r, c) = (self.rows.len(), self.columns.len());
        let n = r as f64;
        let (weak, weaker) = (1.0 / (ROW_SD * ROW_SD), 1.0 / (INTERCEPT_SD * INTERCEPT_SD));
        let mean = x[..r].iter().sum::<f64>() / n;
        // The rows' penalty is Σ(x − mean)² weak/2 + mean² weaker/2.
        let mut value = -mean * mean * weaker / 2.0;
        let mut gradient = vec![0.0; r + c];
        let mut schur = SymmetricMatrix::zero(r);
        for i in 0..r {
            value -= (x[i] - mean).powi(2) * weak / 2.0;
            gradient[i] = -(x[i] - mean) * weak - mean * weaker / n;
            schur.add(i, i, weak);
            for k in 0..r {
                schur.add(i, k, weaker / (n * n) - weak / n);
            }
        }
        let hard = 1.0 / (spread * spread);
        let mut diagonal = vec![hard; c];
        let mut ties = vec![Vec::new(); c];
        for j in 0..c {
            value -= x[r + j].powi(2) * hard / 2.0;
            gradient[r + j] = -x[r + j] * hard;
        }
        for cell in &self.cells {
            let logit = self.logit(cell, x);
            let chance = sigmoid(logit);
            let (residual, weight) = (cell.hits - cell.total * chance, cell.total * chance * (1.0 - chance));
            // ln(1 + eˡ) without overflow
            value += cell.hits * logit - cell.total * (logit.max(0.0) + (-logit.abs()).exp().ln_1p());
            gradient[cell.row] += residual;
            gradient[r + cell.column] += residual;
            schur.add(cell.row, cell.row, weight);
            diagonal[cell.column] += weight;
            ties[cell.column].push((cell.row, weight));
        }
        let mut reduced = gradient[..r].to_vec();
        for (j, ties) in ties.iter().enumerate() {
            for (i, one) in ties {
                reduced[*i] -= one * gradient[r + j] / diagonal[j];
                for (k, two) in ties {
                    schur.add(*i, *k, -one * two / diagonal[j]);
                }
            }
        }
        let rows = schur.cholesky()?;
        let mut step = rows.solve(reduced);
        for (j, ties) in ties.iter().enumerate() {
            let pull: f64 = ties.iter().map(|(i, weight)| weight * step[*i]).sum();
            step.push((gradient[r + j] - pull) / diagonal[j]);
        }
        Some((NewtonStep { value, step }, Information { rows, diagonal, ties }))
    }

    /// The Laplace approximation of the log marginal likelihood at ln τ, and the mode there.
    fn log_marginal(&self, log: f64, start: Vec<f64>) -> Option<(f64, Vec<f64>)> {
        let spread = log.exp();
        let mode = self.mode(spread, start)?;
        let (slope, information) = self.newton_step(spread, &mode)?;
        // The prior ∝ τ, which keeps τ from zero, cancels one column's −ln τ.
        let columns = self.columns.len() as f64 - 1.0;
        Some((slope.value - columns * log - information.log_determinant() / 2.0, mode))
    }

    /// ln τ with the largest marginal likelihood, by golden-section search.
    pub(crate) fn log_spread(&self) -> Option<f64> {
        let mut start = self.start();
        let mut support = |log: f64| {
            let (support, mode) = self.log_marginal(log, start.clone())?;
            start = mode;
            Some(support)
        };
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (SD_RANGE.0.ln(), SD_RANGE.1.ln());
        let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
        let (mut at_a, mut at_b) = (support(a)?, support(b)?);
        while high - low > 1e-5 {
            if at_a > at_b {
                (high, b, at_b) = (b, a, at_a);
                a = high - golden * (high - low);
                at_a = support(a)?;
            } else {
                (low, a, at_a) = (a, b, at_b);
                b = low + golden * (high - low);
                at_b = support(b)?;
            }
        }
        Some(f64::midpoint(low, high))
    }

    /// The variance of each parameter due to estimating τ: (dx/d ln τ)² Var(ln τ), both by finite differences (Kass and
    /// Steffey, 1989).
    pub(crate) fn variance_from_spread(&self, log: f64, mode: &[f64]) -> Option<Vec<f64>> {
        let (here, _) = self.log_marginal(log, mode.to_vec())?;
        let (before, one) = self.log_marginal(log - STEP, mode.to_vec())?;
        let (after, two) = self.log_marginal(log + STEP, mode.to_vec())?;
        let curvature = (2.0 * here - before - after) / (STEP * STEP);
        let variance = 1.0 / curvature.max(1.0 / MAX_LOG_VARIANCE);
        let slopes = one.iter().zip(&two).map(|(one, two)| (two - one) / (2.0 * STEP));
        Some(slopes.map(|slope| slope * slope * variance).collect())
    }

    /// Pearson's X²: the sum of squared standardised residuals.
    fn pearson(&self, x: &[f64]) -> f64 {
        let square = |cell: &GridCell| {
            let chance = sigmoid(self.logit(cell, x));
            (cell.hits - cell.total * chance).powi(2) / (cell.total * chance * (1.0 - chance))
        };
        self.cells.iter().map(square).sum()
    }

    /// The p-value of a parametric bootstrap of Pearson's X².
    pub(crate) fn bootstrap_p(&self, spread: f64, mode: &[f64]) -> Option<f64> {
        if self.cells.len() < mode.len() {
            return None;
        }
        let observed = self.pearson(mode);
        let mut rng = Rng::with_seed(1);
        let mut beyond = 0;
        for _ in 0..REPLICAS {
            let mut replica = self.clone();
            for cell in &mut replica.cells {
                let chance = sigmoid(self.logit(cell, mode));
                let mut left = cell.total;
                cell.hits = 0.0;
                while left > 0.0 {
                    cell.hits += f64::from(u8::from(rng.f64() < chance));
                    left -= 1.0;
                }
            }
            let fitted = replica.mode(spread, mode.to_vec())?;
            beyond += u32::from(replica.pearson(&fitted) >= observed);
        }
        Some(f64::from(beyond + 1) / f64::from(REPLICAS + 1))
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pearsons_statistic_sums_the_squares_of_all_cells() {
        let cell = |row, hits, total| Cell { row, column: 0, hits, total };
        let grid = Grid::of(&[cell(0, 3, 4), cell(1, 1, 9)]).unwrap();
        // At a chance of ½: (3 − 2)² / (4 · ¼) = 1 and (1 − 4.5)² / (9 · ¼) = 49/9.
        assert!((grid.pearson(&[0.5, 0.5, -0.5]) - (1.0 + 49.0 / 9.0)).abs() < 1e-12);
    }
}
