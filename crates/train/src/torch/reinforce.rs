//! A learner on libtorch that is rewarded.

use tch::{Device, Tensor, no_grad, no_grad_guard};

use super::TorchLearner;
use crate::learner::Sums;
use crate::{Batch, LearnError, Loss, Moments, Reinforce, Reinforced, Weights};

impl TorchLearner {
    /// The loss of some batches and, where asked for, the gradient by every weight.
    fn slope(&self, batches: &[Batch], loss: Loss, learn: bool) -> Result<(Sums, Tensor), LearnError> {
        let mut sums = Sums::default();
        let mut gradient = no_grad(|| self.row.f_zeros_like())?;
        for batch in batches {
            if learn {
                let root = self.judged(batch, loss, &mut sums)?;
                for more in Tensor::f_run_backward(&[&root], &[&self.row], false, false)? {
                    let _still = no_grad_guard();
                    let _ = gradient.f_add_(&more)?;
                }
            } else {
                let _ = no_grad(|| self.judged(batch, loss, &mut sums))?;
            }
        }
        Ok((sums, gradient))
    }

    /// A tensor whose gradient is that of the loss of a batch, which it counts.
    #[expect(clippy::cast_possible_truncation, reason = "the gradient is single precision")]
    fn judged(&self, batch: &Batch, loss: Loss, sums: &mut Sums) -> Result<Tensor, LearnError> {
        let targets = self.targets(batch, loss)?;
        let (logits, tokens) = self.logits(&self.row, batch, &targets)?;
        let likely = logits.f_log_softmax(-1, None)?;
        let chosen = likely.f_gather(1, &tokens.f_unsqueeze(1)?, false)?.f_view([-1])?;
        let likely = likely.f_detach()?;
        let entropies = likely.f_exp()?.f_mul(&likely)?.f_sum_dim_intlist(-1, false, None)?;
        let numbers = numbers(&Tensor::f_cat(&[&chosen.f_detach()?, &entropies], 0)?)?;
        let (logps, entropies) = numbers.split_at(targets.places.len());
        let told = targets.weights.iter().zip(&targets.before);
        let slopes: Vec<f32> = logps
            .iter()
            .zip(entropies)
            .zip(told)
            .map(|((logp, entropy), (weight, before))| {
                let (logp, before) = (f64::from(*logp), f64::from(*before));
                let token = loss.token(logp, before, f64::from(*weight));
                sums.count(&token, logp - before, -f64::from(*entropy));
                token.slope as f32
            })
            .collect();
        Ok(chosen.f_dot(&self.sent(Tensor::f_from_slice(&slopes)?)?)?)
    }
}

impl Reinforce for TorchLearner {
    fn reinforce(
        &mut self,
        batches: &[Batch],
        loss: Loss,
        rate: f64,
        longest: f64,
    ) -> Result<Reinforced, LearnError> {
        let (sums, gradient) = self.slope(batches, loss, true)?;
        let _still = no_grad_guard();
        let told = sums.told(gradient.f_norm()?.f_double_value(&[])?, longest)?;
        let _ = self.adam.step(&mut self.row, gradient, rate)?;
        Ok(told)
    }

    fn score(&mut self, batches: &[Batch], loss: Loss) -> Result<Reinforced, LearnError> {
        self.slope(batches, loss, false)?.0.told(0.0, f64::INFINITY)
    }

    fn gradient(&mut self, batches: &[Batch], loss: Loss) -> Result<Weights, LearnError> {
        let (_, gradient) = self.slope(batches, loss, true)?;
        self.layout.unpack(&self.config, &numbers(&gradient)?)
    }

    fn moments(&self) -> Result<Moments, LearnError> {
        self.adam.moments()
    }

    fn remember(&mut self, moments: &Moments) -> Result<(), LearnError> {
        self.adam.restore(moments)
    }
}

/// A tensor's numbers, one after the other.
pub(super) fn numbers(tensor: &Tensor) -> Result<Vec<f32>, LearnError> {
    let mut numbers = vec![0.0; tensor.numel()];
    tensor.f_to_device(Device::Cpu)?.f_copy_data(&mut numbers, tensor.numel())?;
    Ok(numbers)
}
