//! AdamW over all parameters in one vector.

use super::all_finite;
use crate::error::{require_finite_state, require_finite_weights};
use crate::{AdamWConfig, LearnError};

/// Euclidean norm of a gradient.
pub(super) fn grad_norm(gradient: &[f32]) -> f64 {
    gradient.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

/// Optimizer state, in the order of the parameters.
pub(super) struct AdamW {
    pub(super) config: AdamWConfig,
    /// Number of leading parameters without weight decay.
    no_decay: usize,
    pub(super) steps: u64,
    /// First moment.
    pub(super) exp_avg: Vec<f32>,
    /// Second moment.
    pub(super) exp_avg_sq: Vec<f32>,
    /// Moving average of the parameters, if enabled.
    pub(super) ema: Option<Vec<f32>>,
}

impl AdamW {
    pub(super) fn new(parameters: &[f32], no_decay: usize, config: AdamWConfig) -> Self {
        let ema = config.ema_decay.map(|_| parameters.to_vec());
        let zeros = vec![0.0; parameters.len()];
        Self { config, no_decay, steps: 0, exp_avg: zeros.clone(), exp_avg_sq: zeros, ema }
    }

    /// Continues from a saved state.
    pub(super) fn restore(
        &mut self,
        steps: u64,
        exp_avg: Vec<f32>,
        exp_avg_sq: Vec<f32>,
    ) -> Result<(), LearnError> {
        if exp_avg.len() != self.exp_avg.len() || exp_avg_sq.len() != self.exp_avg_sq.len() {
            return Err(LearnError::Weights("the optimizer state belongs to another network".to_owned()));
        }
        (self.steps, self.exp_avg, self.exp_avg_sq) = (steps, exp_avg, exp_avg_sq);
        Ok(())
    }

    /// Returns an error if the state is not finite.
    pub(super) fn check_finite(&self) -> Result<(), LearnError> {
        require_finite_weights(all_finite(self.ema.as_deref().unwrap_or_default()))?;
        require_finite_state(all_finite(&self.exp_avg) && all_finite(&self.exp_avg_sq))
    }

    /// Updates the parameters with a gradient of norm `grad_norm`.
    #[expect(clippy::cast_possible_truncation, reason = "parameters are single precision")]
    pub(super) fn step(
        &mut self,
        parameters: &mut [f32],
        gradient: &[f32],
        grad_norm: f64,
        learning_rate: f64,
    ) {
        let AdamWConfig { betas, eps, weight_decay, ema_decay, .. } = self.config;
        self.steps += 1;
        let clip = self.config.clip_factor(grad_norm) as f32;
        let (bias1, bias2) = self.config.bias_corrections(self.steps);
        let (weight1, weight2) = ((1.0 - betas.0) as f32, (1.0 - betas.1) as f32);
        let denominator_scale = bias2.sqrt().recip() as f32;
        let eps = eps as f32;
        let step_size = (learning_rate / bias1) as f32;
        let decay = (1.0 - learning_rate * weight_decay) as f32;
        let moments = self.exp_avg.iter_mut().zip(&mut self.exp_avg_sq);
        for (at, ((parameter, &gradient), (exp_avg, exp_avg_sq))) in
            parameters.iter_mut().zip(gradient).zip(moments).enumerate()
        {
            let gradient = gradient * clip;
            *exp_avg += weight1 * (gradient - *exp_avg);
            *exp_avg_sq += weight2 * (gradient * gradient - *exp_avg_sq);
            let decayed = if at < self.no_decay { *parameter } else { *parameter * decay };
            *parameter = decayed - step_size * *exp_avg / (exp_avg_sq.sqrt() * denominator_scale + eps);
        }
        if let (Some(ema), Some(ema_decay)) = (&mut self.ema, ema_decay) {
            let update = AdamWConfig::ema_update(ema_decay, self.steps) as f32;
            for (mean, parameter) in ema.iter_mut().zip(parameters) {
                *mean += update * (*parameter - *mean);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AdamW, grad_norm};
    use crate::AdamWConfig;

    fn config() -> AdamWConfig {
        AdamWConfig { weight_decay: 0.5, max_grad_norm: None, ..AdamWConfig::default() }
    }

    fn step(optimizer: &mut AdamW, parameters: &mut [f32], gradient: &[f32], learning_rate: f64) {
        optimizer.step(parameters, gradient, grad_norm(gradient), learning_rate);
    }

    #[test]
    fn the_first_step_is_the_rate_against_the_sign_and_only_matrices_decay() {
        // Bias correction makes the first step -rate·sign (Kingma and Ba 2015, section 2.1); decay is
        // decoupled, so it takes rate·decay·weight off on top (Loshchilov and Hutter 2019, algorithm 2).
        let mut parameters = [1.0, 1.0, -2.0];
        let mut optimizer = AdamW::new(&parameters, 1, config());
        step(&mut optimizer, &mut parameters, &[3.0, -0.01, 50.0], 0.1);
        for (got, want) in parameters.iter().zip([0.9, 1.0 - 0.05 + 0.1, -2.0 + 0.1 - 0.1]) {
            assert!((got - want).abs() < 1e-4, "{got} {want}");
        }
    }

    #[test]
    fn a_large_gradient_is_clipped() {
        // With the second moment hidden by a huge eps, the step is the clipped gradient itself.
        let plain = AdamWConfig { max_grad_norm: Some(1.0), eps: 1e6, weight_decay: 0.0, ..config() };
        let mut parameters = [0.0, 0.0];
        assert!((grad_norm(&[30.0, 40.0]) - 50.0).abs() < 1e-9);
        step(&mut AdamW::new(&parameters, 0, plain), &mut parameters, &[30.0, 40.0], 1e6);
        assert!((parameters[0] + 0.6).abs() < 1e-5 && (parameters[1] + 0.8).abs() < 1e-5, "{parameters:?}");
    }

    #[test]
    fn moments_that_overflow_are_noticed_while_the_weights_are_still_finite() {
        // A square beyond single precision: the step is exp_avg/inf = 0, and the weights do not show it.
        let mut parameters = [1.0];
        let mut optimizer = AdamW::new(&parameters, 1, AdamWConfig { weight_decay: 0.0, ..config() });
        step(&mut optimizer, &mut parameters, &[1e-3], 0.1);
        assert!(optimizer.check_finite().is_ok());
        step(&mut optimizer, &mut parameters, &[1e25], 0.1);
        assert!(parameters[0].is_finite());
        let error = optimizer.check_finite().unwrap_err().to_string();
        assert!(error.contains("the optimizer state is not finite"), "{error}");
    }

    #[test]
    fn the_average_follows_with_a_growing_decay() {
        let mut parameters = [0.0];
        let mut optimizer = AdamW::new(&parameters, 1, AdamWConfig { ema_decay: Some(0.5), ..config() });
        let mut mean = 0.0_f64;
        for at in 1..=30_u32 {
            step(&mut optimizer, &mut parameters, &[-1.0], 0.1);
            let decay = 0.5_f64.min(f64::from(1 + at) / f64::from(10 + at));
            mean = decay * mean + (1.0 - decay) * f64::from(parameters[0]);
        }
        assert!((f64::from(optimizer.ema.as_ref().unwrap()[0]) - mean).abs() < 1e-5);
        assert!(mean > 1.0 && mean < f64::from(parameters[0]));
    }
}
