//! AdamW over tensors of all shapes, with single-precision memory.

use tch::{Kind, Tensor};

use super::parameter::Parameter;
use crate::learner::Numbers;
use crate::torch::all_finite;
use crate::{LearnError, Options};

/// The optimiser's memory, in the order of what is trained.
pub(super) struct Adam {
    options: Options,
    pub(super) steps: u64,
    /// Running means, and running means of squares.
    pub(super) moments: Vec<[Tensor; 2]>,
}

/// The length of all gradients together.
pub(super) fn norm(gradients: &[Tensor]) -> Result<f64, LearnError> {
    let mut norms = Vec::new();
    for gradient in gradients {
        norms.push(gradient.f_norm()?.f_to_kind(Kind::Double)?);
    }
    if norms.is_empty() {
        return Ok(0.0);
    }
    Ok(Tensor::f_stack(&norms, 0)?.f_norm()?.f_double_value(&[])?)
}

impl Adam {
    pub(super) fn new(trained: &[&Parameter], options: Options) -> Result<Self, LearnError> {
        let mut moments = Vec::new();
        for parameter in trained {
            moments.push([parameter.value().f_zeros_like()?, parameter.value().f_zeros_like()?]);
        }
        Ok(Self { options, steps: 0, moments })
    }

    /// Errs when one of its numbers is not finite.
    pub(super) fn check(&self) -> Result<(), LearnError> {
        for moment in self.moments.iter().flatten() {
            Numbers::Moments.finite(all_finite(moment)?)?;
        }
        Ok(())
    }

    /// One step along gradients whose length is `norm`. Graphs must be off.
    pub(super) fn step(
        &mut self,
        trained: Vec<&mut Parameter>,
        gradients: Vec<Tensor>,
        norm: f64,
        rate: f64,
    ) -> Result<(), LearnError> {
        let Options { betas, epsilon, decay, clip, .. } = self.options;
        self.steps += 1;
        let power = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let (first_scale, second_scale) = (1.0 - betas.0.powi(power), 1.0 - betas.1.powi(power));
        let shorten = clip.map_or(1.0, |longest| longest / norm.max(longest));
        for ((parameter, mut gradient), [first, second]) in
            trained.into_iter().zip(gradients).zip(&mut self.moments)
        {
            let _ = gradient.f_mul_scalar_(shorten)?;
            let _ = first.f_lerp_(&gradient, 1.0 - betas.0)?;
            let _ = second.f_lerp_(&gradient.f_square_()?, 1.0 - betas.1)?;
            drop(gradient);
            let mut change = second.f_sqrt()?;
            let _ = change.f_mul_scalar_(second_scale.sqrt().recip())?.f_add_scalar_(epsilon)?;
            let _ = change.f_reciprocal_()?.f_mul_(first)?.f_mul_scalar_(-rate / first_scale)?;
            let keep = if parameter.decays() { 1.0 - rate * decay } else { 1.0 };
            parameter.change(|value| {
                let _ = value.f_mul_scalar_(keep)?.f_add_(&change)?;
                Ok(())
            })?;
        }
        Ok(())
    }
}
