//! AdamW over one row of numbers in memory.

use crate::learner::{Numbers, finite};
use crate::{LearnError, Moments, Options};

/// The length of a gradient.
pub(crate) fn norm(gradient: &[f32]) -> f64 {
    gradient.iter().map(|&slope| f64::from(slope).powi(2)).sum::<f64>().sqrt()
}

/// The optimiser's memory.
pub(crate) struct Adam {
    options: Options,
    /// Where the matrices begin: only they decay.
    norms: usize,
    first: Vec<f32>,
    second: Vec<f32>,
    average: Option<Vec<f32>>,
    steps: u64,
}

impl Adam {
    pub(crate) fn new(row: &[f32], norms: usize, options: Options) -> Self {
        let average = options.average.map(|_| row.to_vec());
        let blank = vec![0.0; row.len()];
        Self { options, norms, first: blank.clone(), second: blank, average, steps: 0 }
    }

    /// The moving average of the weights, where one is kept.
    pub(crate) fn average(&self) -> Option<&[f32]> {
        self.average.as_deref()
    }

    /// What it remembers.
    pub(crate) fn moments(&self) -> Moments {
        Moments { steps: self.steps, first: self.first.clone(), second: self.second.clone() }
    }

    /// Remembers what an earlier one did.
    pub(crate) fn restore(&mut self, moments: &Moments) -> Result<(), LearnError> {
        if moments.first.len() != self.first.len() || moments.second.len() != self.second.len() {
            return Err(LearnError::Weights("the optimiser's memory is of another network".to_owned()));
        }
        self.steps = moments.steps;
        self.first.copy_from_slice(&moments.first);
        self.second.copy_from_slice(&moments.second);
        Ok(())
    }

    /// Errs when one of its numbers is not finite.
    pub(crate) fn check(&self) -> Result<(), LearnError> {
        finite(Numbers::Weights, self.average().unwrap_or_default())?;
        finite(Numbers::Moments, &self.first)?;
        finite(Numbers::Moments, &self.second)
    }

    /// One step; gives the gradient's norm before clipping.
    #[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
    pub(crate) fn step(&mut self, row: &mut [f32], gradient: &[f32], rate: f64) -> f64 {
        let Options { betas, epsilon, decay, clip, average, .. } = self.options;
        self.steps += 1;
        let power = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let norm = norm(gradient);
        let shorten = clip.map_or(1.0, |longest| longest / norm.max(longest)) as f32;
        let (fresh_first, fresh_second) = ((1.0 - betas.0) as f32, (1.0 - betas.1) as f32);
        let unbias = (1.0 - betas.1.powi(power)).sqrt().recip() as f32;
        let epsilon = epsilon as f32;
        let pace = (rate / (1.0 - betas.0.powi(power))) as f32;
        let keep = (1.0 - rate * decay) as f32;
        let moments = self.first.iter_mut().zip(&mut self.second);
        for (at, ((weight, &slope), (first, second))) in row.iter_mut().zip(gradient).zip(moments).enumerate()
        {
            let slope = slope * shorten;
            *first += fresh_first * (slope - *first);
            *second += fresh_second * (slope * slope - *second);
            let kept = if at < self.norms { *weight } else { *weight * keep };
            *weight = kept - pace * *first / (second.sqrt() * unbias + epsilon);
        }
        if let (Some(kept), Some(memory)) = (&mut self.average, average) {
            let fresh = Options::fresh(memory, self.steps) as f32;
            for (mean, weight) in kept.iter_mut().zip(row) {
                *mean += fresh * (*weight - *mean);
            }
        }
        norm
    }
}

#[cfg(test)]
mod tests {
    use super::Adam;
    use crate::Options;

    fn options() -> Options {
        Options { decay: 0.5, clip: None, ..Options::default() }
    }

    #[test]
    fn the_first_step_is_the_rate_against_the_sign_and_only_matrices_decay() {
        // Bias correction makes the first step -rate·sign (Kingma and Ba 2015, section 2.1); decay is
        // decoupled, so it takes rate·decay·weight off on top (Loshchilov and Hutter 2019, algorithm 2).
        let mut row = [1.0, 1.0, -2.0];
        Adam::new(&row, 1, options()).step(&mut row, &[3.0, -0.01, 50.0], 0.1);
        for (got, want) in row.iter().zip([0.9, 1.0 - 0.05 + 0.1, -2.0 + 0.1 - 0.1]) {
            assert!((got - want).abs() < 1e-4, "{got} {want}");
        }
    }

    #[test]
    fn a_long_gradient_is_shortened_and_its_norm_told() {
        // With the second moment made blind by a huge epsilon, the step is the clipped gradient itself.
        let blunt = Options { clip: Some(1.0), epsilon: 1e6, decay: 0.0, ..options() };
        let mut row = [0.0, 0.0];
        let norm = Adam::new(&row, 0, blunt).step(&mut row, &[30.0, 40.0], 1e6);
        assert!((norm - 50.0).abs() < 1e-9);
        assert!((row[0] + 0.6).abs() < 1e-5 && (row[1] + 0.8).abs() < 1e-5, "{row:?}");
    }

    #[test]
    fn moments_that_overflow_are_noticed_while_the_weights_are_still_finite() {
        // A square beyond single precision: the step is first/inf = 0, and the weights do not show it.
        let mut row = [1.0];
        let mut adam = Adam::new(&row, 1, Options { decay: 0.0, ..options() });
        adam.step(&mut row, &[1e-3], 0.1);
        assert!(adam.check().is_ok());
        adam.step(&mut row, &[1e25], 0.1);
        assert!(row[0].is_finite());
        let error = adam.check().unwrap_err().to_string();
        assert!(error.contains("the optimiser's state is not finite"), "{error}");
    }

    #[test]
    fn the_average_follows_with_a_growing_memory() {
        let mut row = [0.0];
        let mut adam = Adam::new(&row, 1, Options { average: Some(0.5), ..options() });
        let mut mean = 0.0_f64;
        for step in 1..=30_u32 {
            adam.step(&mut row, &[-1.0], 0.1);
            let memory = 0.5_f64.min(f64::from(1 + step) / f64::from(10 + step));
            mean = memory * mean + (1.0 - memory) * f64::from(row[0]);
        }
        assert!((f64::from(adam.average().unwrap()[0]) - mean).abs() < 1e-5);
        assert!(mean > 1.0 && mean < f64::from(row[0]));
    }
}
