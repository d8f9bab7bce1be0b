//! Small dense symmetric matrices, and maximisation by Newton's method. Used by `rasch` and `grid`.

/// A symmetric matrix, row by row.
#[derive(Clone, Debug)]
pub(crate) struct SymmetricMatrix {
    size: usize,
    values: Vec<f64>,
}

impl SymmetricMatrix {
    /// The zero matrix.
    pub(crate) fn zero(size: usize) -> Self {
        Self { size, values: vec![0.0; size * size] }
    }

    /// The entry at `row`, `column`.
    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    /// Adds to one entry; the caller keeps the matrix symmetric.
    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.size + column] += value;
    }

    /// The variances of centred coordinates with this covariance: the diagonal of CΣC with C = I − 11ᵀ/n.
    pub(crate) fn centred_variances(&self) -> Vec<f64> {
        let n = self.size as f64;
        let means: Vec<f64> = self.values.chunks(self.size).map(|row| row.iter().sum::<f64>() / n).collect();
        let all = means.iter().sum::<f64>() / n;
        (0..self.size).map(|i| (self.at(i, i) - 2.0 * means[i] + all).max(0.0)).collect()
    }

    /// The Cholesky factor L with A = LLᵀ; none if the matrix is not positive definite.
    pub(crate) fn cholesky(mut self) -> Option<Cholesky> {
        let n = self.size;
        for j in 0..n {
            for i in j..n {
                let dot: f64 = (0..j).map(|k| self.at(i, k) * self.at(j, k)).sum();
                let rest = self.at(i, j) - dot;
                self.values[i * n + j] = if i > j {
                    rest / self.at(j, j)
                } else if rest > 0.0 {
                    rest.sqrt()
                } else {
                    return None;
                };
            }
        }
        Some(Cholesky(self))
    }
}

/// A Cholesky factor.
#[derive(Clone, Debug)]
pub(crate) struct Cholesky(SymmetricMatrix);

impl Cholesky {
    /// x with Ax = b.
    pub(crate) fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        let (l, n) = (&self.0, self.0.size);
        for i in 0..n {
            let dot: f64 = (0..i).map(|k| l.at(i, k) * b[k]).sum();
            b[i] = (b[i] - dot) / l.at(i, i);
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|k| l.at(k, i) * b[k]).sum();
            b[i] = (b[i] - dot) / l.at(i, i);
        }
        b
    }

    /// A⁻¹.
    pub(crate) fn inverse(&self) -> SymmetricMatrix {
        let n = self.0.size;
        let mut values = Vec::with_capacity(n * n);
        for i in 0..n {
            let mut unit = vec![0.0; n];
            unit[i] = 1.0;
            values.extend(self.solve(unit));
        }
        SymmetricMatrix { size: n, values }
    }

    /// ln |A|.
    pub(crate) fn log_determinant(&self) -> f64 {
        (0..self.0.size).map(|i| 2.0 * self.0.at(i, i).ln()).sum()
    }
}

/// The value of a concave function at a point, and the Newton step from there.
pub(crate) struct NewtonStep {
    /// The function's value.
    pub(crate) value: f64,
    /// H⁻¹g.
    pub(crate) step: Vec<f64>,
}

/// The maximum of a concave function by Newton's method with step halving; none if a step fails.
pub(crate) fn maximize(
    start: Vec<f64>,
    newton_step: impl Fn(&[f64]) -> Option<NewtonStep>,
) -> Option<Vec<f64>> {
    let mut here = start;
    let mut current = newton_step(&here)?;
    for _ in 0..100 {
        let mut size = 1.0;
        let (there, next) = loop {
            let there: Vec<f64> = here.iter().zip(&current.step).map(|(x, step)| x + size * step).collect();
            let next = newton_step(&there)?;
            // The tolerance is for rounding near the maximum.
            if next.value >= current.value - 1e-9 * (1.0 + current.value.abs()) {
                break (there, next);
            }
            size /= 2.0;
            if size < 1e-6 {
                return Some(here);
            }
        };
        let largest = current.step.iter().fold(0.0, |most: f64, step| most.max(step.abs()));
        (here, current) = (there, next);
        if largest < 1e-8 {
            break;
        }
    }
    Some(here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved_and_inverted() {
        let mut matrix = SymmetricMatrix::zero(2);
        for (row, column, value) in [(0, 0, 4.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 3.0)] {
            matrix.add(row, column, value);
        }
        let factor = matrix.cholesky().unwrap();
        // det = 8; A⁻¹ = [3, −2; −2, 4] / 8
        assert!((factor.log_determinant() - 8f64.ln()).abs() < 1e-12);
        assert!((factor.inverse().at(0, 1) + 0.25).abs() < 1e-12);
        let x = factor.solve(vec![8.0, 8.0]);
        assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12, "{x:?}");
    }

    #[test]
    fn a_matrix_without_a_root_has_no_factor() {
        assert!(SymmetricMatrix::zero(1).cholesky().is_none());
    }

    #[test]
    fn the_climb_ends_at_the_top() {
        // −cosh(x − 3): Newton's full step from 0 is fine, its value falls away steeply.
        let slope =
            |x: &[f64]| Some(NewtonStep { value: -(x[0] - 3.0).cosh(), step: vec![-(x[0] - 3.0).tanh()] });
        assert!((maximize(vec![0.0], slope).unwrap()[0] - 3.0).abs() < 1e-7);
    }
}
