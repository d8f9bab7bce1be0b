//! Small dense symmetric systems, and Newton's climb to a maximum.

/// A symmetric matrix, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Symmetric {
    size: usize,
    values: Vec<f64>,
}

impl Symmetric {
    /// All zero.
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

    /// The variances of centred coordinates, where this is their covariance: the diagonal of CΣC with C = I −
    /// 11ᵀ/n.
    pub(crate) fn centred(&self) -> Vec<f64> {
        let n = self.size as f64;
        let means: Vec<f64> = self.values.chunks(self.size).map(|row| row.iter().sum::<f64>() / n).collect();
        let all = means.iter().sum::<f64>() / n;
        (0..self.size).map(|i| (self.at(i, i) - 2.0 * means[i] + all).max(0.0)).collect()
    }

    /// Cholesky's factor L with A = LLᵀ; none where the matrix is not positive definite.
    pub(crate) fn factor(mut self) -> Option<Factor> {
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
        Some(Factor(self))
    }
}

/// The lower triangle of Cholesky's factorisation.
#[derive(Clone, Debug)]
pub(crate) struct Factor(Symmetric);

impl Factor {
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
    pub(crate) fn inverse(&self) -> Symmetric {
        let n = self.0.size;
        let mut values = Vec::with_capacity(n * n);
        for i in 0..n {
            let mut unit = vec![0.0; n];
            unit[i] = 1.0;
            values.extend(self.solve(unit));
        }
        Symmetric { size: n, values }
    }

    /// ln |A|.
    pub(crate) fn log_determinant(&self) -> f64 {
        (0..self.0.size).map(|i| 2.0 * self.0.at(i, i).ln()).sum()
    }
}

/// The height of a concave function at a point, and Newton's step from there.
pub(crate) struct Slope {
    /// The function's value.
    pub(crate) height: f64,
    /// H⁻¹g.
    pub(crate) step: Vec<f64>,
}

/// The top of a concave function by Newton's method; steps that lead down are halved. None where a step
/// fails.
pub(crate) fn climb(start: Vec<f64>, slope: impl Fn(&[f64]) -> Option<Slope>) -> Option<Vec<f64>> {
    let mut here = start;
    let mut now = slope(&here)?;
    for _ in 0..100 {
        let mut size = 1.0;
        let (there, next) = loop {
            let there: Vec<f64> = here.iter().zip(&now.step).map(|(x, step)| x + size * step).collect();
            let next = slope(&there)?;
            // Rounding may cost the last digits at the top: that is not down.
            if next.height >= now.height - 1e-9 * (1.0 + now.height.abs()) {
                break (there, next);
            }
            size /= 2.0;
            if size < 1e-6 {
                return Some(here);
            }
        };
        let largest = now.step.iter().fold(0.0, |most: f64, step| most.max(step.abs()));
        (here, now) = (there, next);
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
        let mut matrix = Symmetric::zero(2);
        for (row, column, value) in [(0, 0, 4.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 3.0)] {
            matrix.add(row, column, value);
        }
        let factor = matrix.factor().unwrap();
        // det = 8; A⁻¹ = [3, −2; −2, 4] / 8
        assert!((factor.log_determinant() - 8f64.ln()).abs() < 1e-12);
        assert!((factor.inverse().at(0, 1) + 0.25).abs() < 1e-12);
        let x = factor.solve(vec![8.0, 8.0]);
        assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12, "{x:?}");
    }

    #[test]
    fn a_matrix_without_a_root_has_no_factor() {
        assert!(Symmetric::zero(1).factor().is_none());
    }

    #[test]
    fn the_climb_ends_at_the_top() {
        // −cosh(x − 3): Newton's full step from 0 is fine, its height falls away steeply.
        let slope =
            |x: &[f64]| Some(Slope { height: -(x[0] - 3.0).cosh(), step: vec![-(x[0] - 3.0).tanh()] });
        assert!((climb(vec![0.0], slope).unwrap()[0] - 3.0).abs() < 1e-7);
    }
}
