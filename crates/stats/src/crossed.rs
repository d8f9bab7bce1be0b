//! Skill of askers against hardness of solver pairs.

use crate::interval::Estimate;
use crate::linear::{Factor, Slope, Symmetric, climb};
use fastrand::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The standard deviation of the rows' normal prior around the intercept, in logits: weak, so that a row of hits
/// alone stays finite.
const ROWS: f64 = 3.0;
/// The standard deviation of the intercept's prior, weaker still.
const INTERCEPT: f64 = 10.0;
/// The least and the largest standard deviation of hardness.
const SPREAD: (f64, f64) = (0.02, 6.0);
/// Data sets drawn from the fitted model for its check.
const REPLICAS: u32 = 199;

/// The sessions of one asker with one solver pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The asker.
    pub row: usize,
    /// The solver pair.
    pub column: usize,
    /// Calibrated sessions.
    pub hits: u32,
    /// Sessions.
    pub total: u32,
}

/// logit P(hit) = intercept + skill − hardness, fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crossed {
    /// The mean row on a column of average hardness.
    pub intercept: Estimate,
    /// Each row's skill around a mean of 0; none without a session.
    pub skill: Vec<Option<Estimate>>,
    /// Each column's hardness; none without a session.
    pub hardness: Vec<Option<Estimate>>,
    /// The estimated standard deviation of hardness.
    pub spread: f64,
    /// Each row's outfit: the mean square of its cells' standardised residuals, about 1 where the model holds.
    pub row_fit: Vec<Option<f64>>,
    /// Each column's outfit.
    pub column_fit: Vec<Option<f64>>,
    /// The chance of data at least this far from the model, if it held; none where nothing is left to check.
    pub p: Option<f64>,
}

/// Fits askers (rows) against solver pairs (columns); none without a session or with a cell out of bounds.
///
/// logit P(hit) = intercept + skill[row] − hardness[column]. Hardness is N(0, τ²), so that a pair with few sessions
/// leans on the others; τ maximises the Laplace approximation of the likelihood with hardness, skills and intercept
/// integrated out (as REML does for linear models; Breslow and Clayton, 1993). Skills are free up to a weak
/// N(0, 3²). At that τ the mode is found by Newton's method, with standard errors from the inverse information.
///
/// `p` is a parametric bootstrap of Pearson's X² over cells: 199 data sets drawn from the fit and fitted again.
pub fn crossed(rows: usize, columns: usize, cells: &[Cell]) -> Option<Crossed> {
    let out = |cell: &Cell| cell.row >= rows || cell.column >= columns || cell.hits > cell.total;
    if cells.iter().any(out) {
        return None;
    }
    let grid = Grid::of(cells)?;
    let spread = grid.spread()?;
    let mode = grid.mode(spread, grid.start())?;
    let inverse = grid.slope(spread, &mode)?.1;
    let residuals = grid.residuals(&mode);
    let r = grid.rows.len();
    let rows_inverse = inverse.rows.inverse();
    let intercept = mode[..r].iter().sum::<f64>() / r as f64;
    let all: f64 = (0..r).flat_map(|i| (0..r).map(move |k| (i, k))).map(|(i, k)| rows_inverse.at(i, k)).sum();
    let mut crossed = Crossed {
        intercept: Estimate::normal(intercept, all.sqrt() / r as f64),
        skill: vec![None; rows],
        hardness: vec![None; columns],
        spread,
        row_fit: vec![None; rows],
        column_fit: vec![None; columns],
        p: grid.check(spread, &mode, residuals.square),
    };
    let errors = rows_inverse.centred();
    for (place, row) in grid.rows.iter().enumerate() {
        crossed.skill[*row] = Some(Estimate::normal(mode[place] - intercept, errors[place].sqrt()));
        crossed.row_fit[*row] = Some(residuals.rows[place]);
    }
    let errors = inverse.columns(&rows_inverse);
    for (place, column) in grid.columns.iter().enumerate() {
        crossed.hardness[*column] = Some(Estimate::normal(-mode[r + place], errors[place].sqrt()));
        crossed.column_fit[*column] = Some(residuals.columns[place]);
    }
    Some(crossed)
}

/// The cells with a session, rows and columns numbered without gaps. Parameters are the rows' logits on a column of
/// average hardness, then the columns' ease (−hardness).
#[derive(Clone)]
struct Grid {
    rows: Vec<usize>,
    columns: Vec<usize>,
    cells: Vec<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    row: usize,
    column: usize,
    hits: f64,
    total: f64,
}

/// The information's inverse, by blocks: columns do not meet each other, so they are eliminated first.
struct Information {
    /// Of the rows, once columns are eliminated.
    rows: Factor,
    /// The columns' diagonal.
    diagonal: Vec<f64>,
    /// What ties each column to rows.
    ties: Vec<Vec<(usize, f64)>>,
}

impl Information {
    /// The columns' variances: 1/d + cᵀS⁻¹c/d², with c a column's ties.
    fn columns(&self, rows: &Symmetric) -> Vec<f64> {
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

/// Squared standardised residuals: their sum, and their means.
struct Residuals {
    square: f64,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Grid {
    fn of(cells: &[Cell]) -> Option<Self> {
        let mut sums: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
        for cell in cells.iter().filter(|cell| cell.total > 0) {
            let sum = sums.entry((cell.row, cell.column)).or_default();
            sum.0 += f64::from(cell.hits);
            sum.1 += f64::from(cell.total);
        }
        let unique = |values: &mut dyn Iterator<Item = usize>| {
            values.collect::<std::collections::BTreeSet<usize>>().into_iter().collect::<Vec<usize>>()
        };
        let rows = unique(&mut sums.keys().map(|key| key.0));
        let columns = unique(&mut sums.keys().map(|key| key.1));
        let find = |list: &[usize], value: usize| list.binary_search(&value).unwrap_or_default();
        let cells: Vec<Place> = sums
            .into_iter()
            .map(|((row, column), (hits, total))| Place {
                row: find(&rows, row),
                column: find(&columns, column),
                hits,
                total,
            })
            .collect();
        (!cells.is_empty()).then_some(Self { rows, columns, cells })
    }

    fn start(&self) -> Vec<f64> {
        vec![0.0; self.rows.len() + self.columns.len()]
    }

    fn logit(&self, cell: &Place, x: &[f64]) -> f64 {
        x[cell.row] + x[self.rows.len() + cell.column]
    }

    fn mode(&self, spread: f64, start: Vec<f64>) -> Option<Vec<f64>> {
        climb(start, |x| Some(self.slope(spread, x)?.0))
    }

    /// The penalised likelihood, Newton's step from here, and the information.
    fn slope(&self, spread: f64, x: &[f64]) -> Option<(Slope, Information)> {
        let (r, c) = (self.rows.len(), self.columns.len());
        let n = r as f64;
        let (weak, weaker) = (1.0 / (ROWS * ROWS), 1.0 / (INTERCEPT * INTERCEPT));
        let mean = x[..r].iter().sum::<f64>() / n;
        // The rows' penalty is Σ(x − mean)² weak/2 + mean² weaker/2.
        let mut height = -mean * mean * weaker / 2.0;
        let mut gradient = vec![0.0; r + c];
        let mut schur = Symmetric::zero(r);
        for i in 0..r {
            height -= (x[i] - mean).powi(2) * weak / 2.0;
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
            height -= x[r + j].powi(2) * hard / 2.0;
            gradient[r + j] = -x[r + j] * hard;
        }
        for cell in &self.cells {
            let logit = self.logit(cell, x);
            let chance = sigmoid(logit);
            let (residual, weight) = (cell.hits - cell.total * chance, cell.total * chance * (1.0 - chance));
            // ln(1 + eˡ) without overflow
            height += cell.hits * logit - cell.total * (logit.max(0.0) + (-logit.abs()).exp().ln_1p());
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
        let rows = schur.factor()?;
        let mut step = rows.solve(reduced);
        for (j, ties) in ties.iter().enumerate() {
            let pull: f64 = ties.iter().map(|(i, weight)| weight * step[*i]).sum();
            step.push((gradient[r + j] - pull) / diagonal[j]);
        }
        Some((Slope { height, step }, Information { rows, diagonal, ties }))
    }

    /// The spread of hardness that the data support best: golden-section search over its logarithm.
    fn spread(&self) -> Option<f64> {
        if self.columns.len() < 2 {
            return Some(1.0);
        }
        let mut start = self.start();
        let mut support = |log: f64| {
            let spread: f64 = log.exp();
            start = self.mode(spread, start.clone())?;
            let (slope, information) = self.slope(spread, &start)?;
            Some(slope.height - self.columns.len() as f64 * log - information.log_determinant() / 2.0)
        };
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (SPREAD.0.ln(), SPREAD.1.ln());
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
        Some(f64::midpoint(low, high).exp())
    }

    fn residuals(&self, x: &[f64]) -> Residuals {
        let mut square = 0.0;
        let mut sums = vec![(0.0, 0.0); x.len()];
        for cell in &self.cells {
            let chance = sigmoid(self.logit(cell, x));
            let value = (cell.hits - cell.total * chance).powi(2) / (cell.total * chance * (1.0 - chance));
            square += value;
            for place in [cell.row, self.rows.len() + cell.column] {
                sums[place].0 += value;
                sums[place].1 += 1.0;
            }
        }
        let mut means = sums.into_iter().map(|(sum, count)| sum / count);
        let rows = means.by_ref().take(self.rows.len()).collect();
        Residuals { square, rows, columns: means.collect() }
    }

    fn check(&self, spread: f64, mode: &[f64], square: f64) -> Option<f64> {
        if self.cells.len() < mode.len() {
            return None;
        }
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
            beyond += u32::from(replica.residuals(&fitted).square >= square);
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
    fn a_pair_with_one_session_leans_on_the_others() {
        let cell = |row, column, hits, total| Cell { row, column, hits, total };
        let cells =
            [cell(0, 0, 9, 10), cell(1, 0, 6, 10), cell(0, 1, 4, 10), cell(1, 1, 1, 10), cell(0, 2, 1, 1)];
        let fit = crossed(3, 3, &cells).unwrap();
        let [Some(better), Some(worse), None] = fit.skill[..] else { panic!("{fit:?}") };
        assert!((better.value + worse.value).abs() < 1e-9 && better.value > 0.3);
        let [Some(easy), Some(hard), Some(once)] = fit.hardness[..] else { panic!("{fit:?}") };
        assert!(easy.value < once.value && once.value < hard.value, "{fit:?}");
        assert!(once.half() > easy.half());
        assert_eq!(crossed(3, 3, &[]), None);
        assert_eq!(crossed(3, 3, &[cell(3, 0, 1, 1)]), None);
    }
}
