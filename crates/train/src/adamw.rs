//! AdamW hyperparameters, shared by the CPU and the libtorch optimizer.

/// AdamW (Loshchilov and Hutter 2019) with gradient clipping and an optional moving average of the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamWConfig {
    /// Decay rates of the first and second moment.
    pub betas: (f64, f64),
    /// Added to the square root of the second moment.
    pub eps: f64,
    /// Decoupled weight decay, applied to matrices only.
    pub weight_decay: f64,
    /// Gradient norm is clipped to this value.
    pub max_grad_norm: Option<f64>,
    /// Decay of the exponential moving average of the weights, such as 0.999; lower during the first steps.
    pub ema_decay: Option<f64>,
}

impl Default for AdamWConfig {
    fn default() -> Self {
        Self { betas: (0.9, 0.98), eps: 1e-8, weight_decay: 0.01, max_grad_norm: Some(1.0), ema_decay: None }
    }
}

impl AdamWConfig {
    /// The weight of the newest parameters in the moving average at this step; the first step is 1.
    ///
    /// The decay grows as `(1 + step) / (10 + step)` up to `ema_decay`, so that the average forgets the initialization.
    pub(crate) fn ema_update(ema_decay: f64, step: u64) -> f64 {
        let step = step as f64;
        1.0 - ema_decay.min((1.0 + step) / (10.0 + step))
    }

    /// Bias corrections `1 − βⁿ` of both moments at this step.
    pub(crate) fn bias_corrections(&self, step: u64) -> (f64, f64) {
        let power = i32::try_from(step).unwrap_or(i32::MAX);
        (1.0 - self.betas.0.powi(power), 1.0 - self.betas.1.powi(power))
    }

    /// The factor that clips a gradient of this norm.
    pub(crate) fn clip_factor(&self, grad_norm: f64) -> f64 {
        self.max_grad_norm.map_or(1.0, |max| max / grad_norm.max(max))
    }
}
