//! AdamW over a list of tensors, with single-precision state.

use tch::{Device, Kind, Tensor};

use super::all_finite;
use super::parameter::Parameter;
use crate::error::{require_finite_state, require_finite_weights};
use crate::{AdamWConfig, LearnError};

/// Optimizer state, in the order of the trained parameters.
pub(super) struct AdamW {
    config: AdamWConfig,
    /// The moments are in the memory of the CPU.
    offload: bool,
    pub(super) steps: u64,
    /// First and second moments.
    pub(super) moments: Vec<[Tensor; 2]>,
    /// Moving average of the parameters, if enabled.
    pub(super) ema: Option<Vec<Tensor>>,
}

/// Norm of all gradients together; waits for the device.
pub(super) fn grad_norm(gradients: &[Tensor]) -> Result<f64, LearnError> {
    let mut norms = Vec::new();
    for gradient in gradients {
        norms.push(gradient.f_norm()?);
    }
    if norms.is_empty() {
        return Ok(0.0);
    }
    Ok(Tensor::f_stack(&norms, 0)?.f_to_kind(Kind::Double)?.f_norm()?.f_double_value(&[])?)
}

fn moments_device(parameter: &Parameter, offload: bool) -> Device {
    if offload { Device::Cpu } else { parameter.value().device() }
}

impl AdamW {
    /// Starts with zero moments, on the CPU if they are offloaded.
    pub(super) fn new(
        trained: &[&Parameter],
        config: AdamWConfig,
        offload: bool,
    ) -> Result<Self, LearnError> {
        let (mut moments, mut ema) = (Vec::new(), config.ema_decay.map(|_| Vec::new()));
        for parameter in trained {
            let device = moments_device(parameter, offload);
            let zeros = || Tensor::f_zeros(parameter.value().size(), (Kind::Float, device));
            moments.push([zeros()?, zeros()?]);
            if let Some(ema) = &mut ema {
                ema.push(parameter.value().f_detach_copy()?);
            }
        }
        Ok(Self { config, offload, steps: 0, moments, ema })
    }

    /// Where the moments of a parameter are.
    pub(super) fn device(&self, parameter: &Parameter) -> Device {
        moments_device(parameter, self.offload)
    }

    /// Returns an error if the state is not finite.
    pub(super) fn check_finite(&self) -> Result<(), LearnError> {
        for average in self.ema.iter().flatten() {
            require_finite_weights(all_finite(average)?)?;
        }
        for moment in self.moments.iter().flatten() {
            require_finite_state(all_finite(moment)?)?;
        }
        Ok(())
    }

    /// Updates the parameters with gradients of norm `grad_norm`. Requires `no_grad`.
    pub(super) fn step(
        &mut self,
        trained: Vec<&mut Parameter>,
        gradients: Vec<Tensor>,
        grad_norm: f64,
        learning_rate: f64,
    ) -> Result<(), LearnError> {
        let AdamWConfig { betas, eps, weight_decay, ema_decay, .. } = self.config;
        self.steps += 1;
        let (bias1, bias2) = self.config.bias_corrections(self.steps);
        let clip = self.config.clip_factor(grad_norm);
        let ema_update = ema_decay.map(|decay| AdamWConfig::ema_update(decay, self.steps));
        let mut averages = self.ema.iter_mut().flatten();
        for ((parameter, mut gradient), moments) in trained.into_iter().zip(gradients).zip(&mut self.moments)
        {
            // The moments themselves where they are on the same device.
            let device = gradient.device();
            let (mut exp_avg, mut exp_avg_sq) =
                (moments[0].f_to_device(device)?, moments[1].f_to_device(device)?);
            if clip < 1.0 {
                let _ = gradient.f_mul_scalar_(clip)?;
            }
            let _ = exp_avg.f_lerp_(&gradient, 1.0 - betas.0)?;
            let _ = exp_avg_sq.f_lerp_(&gradient.f_square_()?, 1.0 - betas.1)?;
            drop(gradient);
            if moments[0].device() != device {
                moments[0].f_copy_(&exp_avg)?;
                moments[1].f_copy_(&exp_avg_sq)?;
            }
            let mut denominator = exp_avg_sq.f_sqrt()?;
            let _ = denominator.f_mul_scalar_(bias2.sqrt().recip())?.f_add_scalar_(eps)?;
            let change = exp_avg.f_div(&denominator)?.f_mul_scalar_(-learning_rate / bias1)?;
            let decay = if parameter.has_weight_decay() { 1.0 - learning_rate * weight_decay } else { 1.0 };
            parameter.update(|value| {
                if decay < 1.0 {
                    let _ = value.f_mul_scalar_(decay)?;
                }
                let _ = value.f_add_(&change)?;
                Ok(())
            })?;
            if let (Some(average), Some(update)) = (averages.next(), ema_update) {
                let _ = average.f_lerp_(parameter.value(), update)?;
            }
        }
        Ok(())
    }
}
