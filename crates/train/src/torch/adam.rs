//! AdamW over one row of numbers on the device, in about a dozen launches whatever the network.

use tch::Tensor;

use super::all_finite;
use super::network::whole;
use super::reinforce::numbers;
use crate::learner::Numbers;
use crate::{LearnError, Moments, Options};

pub(super) struct Adam {
    options: Options,
    /// Where the matrices begin: only they decay.
    norms: i64,
    first: Tensor,
    second: Tensor,
    average: Option<Tensor>,
    steps: u64,
}

impl Adam {
    pub(super) fn new(row: &Tensor, norms: usize, options: Options) -> Result<Self, LearnError> {
        let average = options.average.map(|_| row.f_detach_copy()).transpose()?;
        let (first, second) = (row.f_zeros_like()?, row.f_zeros_like()?);
        Ok(Self { options, norms: whole(norms), first, second, average, steps: 0 })
    }

    /// The moving average of the weights, where one is kept.
    pub(super) fn average(&self) -> Option<&Tensor> {
        self.average.as_ref()
    }

    /// What it remembers.
    pub(super) fn moments(&self) -> Result<Moments, LearnError> {
        Ok(Moments { steps: self.steps, first: numbers(&self.first)?, second: numbers(&self.second)? })
    }

    /// Remembers what an earlier one did.
    pub(super) fn restore(&mut self, moments: &Moments) -> Result<(), LearnError> {
        let size = self.first.numel();
        if moments.first.len() != size || moments.second.len() != size {
            return Err(LearnError::Weights("the optimiser's memory is of another network".to_owned()));
        }
        self.first.f_copy_(&Tensor::f_from_slice(&moments.first)?)?;
        self.second.f_copy_(&Tensor::f_from_slice(&moments.second)?)?;
        self.steps = moments.steps;
        Ok(())
    }

    /// Errs when one of its numbers is not finite.
    pub(super) fn check(&self) -> Result<(), LearnError> {
        if let Some(average) = &self.average {
            Numbers::Weights.finite(all_finite(average)?)?;
        }
        Numbers::Moments.finite(all_finite(&self.first)? && all_finite(&self.second)?)
    }

    /// One step; gives the gradient's norm before clipping. Gradients must be off.
    pub(super) fn step(
        &mut self,
        row: &mut Tensor,
        mut gradient: Tensor,
        rate: f64,
    ) -> Result<Tensor, LearnError> {
        let Options { betas, epsilon, decay, clip, average, .. } = self.options;
        self.steps += 1;
        let power = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let (first_scale, second_scale) = (1.0 - betas.0.powi(power), 1.0 - betas.1.powi(power));
        let norm = gradient.f_norm()?;
        if let Some(longest) = clip {
            // Stays on the device: whether to shorten is not asked, the factor is at most one.
            let factor = norm.f_clamp_min(longest)?.f_reciprocal_()?.f_mul_scalar_(longest)?;
            let _ = gradient.f_mul_(&factor)?;
        }
        let _ = self.first.f_lerp_(&gradient, 1.0 - betas.0)?;
        let _ = self.second.f_lerp_(&gradient.f_square_()?, 1.0 - betas.1)?;
        let mut change =
            self.second.f_sqrt()?.f_mul_scalar_(second_scale.sqrt().recip())?.f_add_scalar_(epsilon)?;
        change = change.f_reciprocal_()?.f_mul_(&self.first)?.f_mul_scalar_(-rate / first_scale)?;
        if decay != 0.0 {
            let size = row.size1()?;
            let _ = row.f_narrow(0, self.norms, size - self.norms)?.f_mul_scalar_(1.0 - rate * decay)?;
        }
        let _ = row.f_add_(&change)?;
        if let (Some(kept), Some(memory)) = (&mut self.average, average) {
            let _ = kept.f_lerp_(row, Options::fresh(memory, self.steps))?;
        }
        Ok(norm)
    }
}
