//! The end of the network: what it makes of each token, what that costs, and the way back from there.

use tch::{Kind, Tensor, no_grad_guard};

use super::network::Network;
use super::pass::Gradients;
use crate::learner::Sums;
use crate::torch::network::whole;
use crate::{LearnError, Loss};

/// What is to be predicted.
pub(super) struct Opinion {
    /// The tokens, on the device.
    pub(super) tokens: Tensor,
    /// How much each counts.
    pub(super) weights: Vec<f32>,
    /// Its log-probability when it was sampled.
    pub(super) before: Vec<f32>,
}

/// What has been seen of the predictions so far.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) sums: Sums,
    /// The log-probability of each.
    pub(super) logps: Vec<f32>,
}

/// Counts what each prediction costs; where asked for, adds the gradients of norm and head and gives the slope by
/// `stream`, which holds the end of the residual stream at each prediction. None where every slope is nought.
///
/// The derivative of a log-probability by the logits is written out: one at the token, less all probabilities. So
/// a piece of the logits is needed once, and no graph holds it.
pub(super) fn judge(
    network: &Network,
    stream: &Tensor,
    opinion: &Opinion,
    loss: Loss,
    tally: &mut Tally,
    mut gradients: Option<&mut Gradients>,
) -> Result<Option<Tensor>, LearnError> {
    let shape = &network.shape;
    let (count, width) = stream.size2()?;
    let stream = stream.f_detach()?.f_set_requires_grad(gradients.is_some())?;
    let scale = network.norm().leaf()?;
    let read = stream.f_rms_norm(width, Some(&scale), shape.epsilon)?;
    let mut any = false;
    let mut back = Vec::new();
    {
        let _still = no_grad_guard();
        let head = network.head();
        let flat = read.f_detach()?;
        let most = (network.logits_at_once / whole(shape.vocabulary)).max(1);
        let mut begin = 0;
        while begin < count {
            let long = most.min(count - begin);
            let read = flat.f_narrow(0, begin, long)?;
            let tokens = opinion.tokens.f_narrow(0, begin, long)?.f_unsqueeze(1)?;
            let mut likely = read.f_linear(head, None::<Tensor>)?;
            let _ = likely.f_sub_(&likely.f_logsumexp(-1, true)?)?;
            let chosen = likely.f_gather(1, &tokens, false)?.f_view([-1])?;
            let mut chances = likely.f_exp()?;
            let entropies = chances.f_unsqueeze(1)?.f_bmm(&likely.f_unsqueeze(2)?)?.f_view([-1])?.f_neg()?;
            drop(likely);
            let place = usize::try_from(begin).unwrap_or(0);
            let slopes = slopes(&chosen, &entropies, opinion, place, loss, tally)?;
            if let Some(gradients) = gradients.as_deref_mut() {
                any |= slopes.iter().any(|slope| *slope != 0.0);
                let slopes = Tensor::f_from_slice(&slopes)?.f_to_device(network.device)?.f_unsqueeze(1)?;
                let _ = chances.f_mul_(&slopes.f_neg()?)?.f_scatter_add_(1, &tokens, &slopes)?;
                back.push(chances.f_mm(head)?);
                if let Some(sum) = gradients.head() {
                    let _ = sum.f_addmm_(&chances.f_transpose(0, 1)?, &read)?;
                }
            }
            begin += long;
        }
    }
    let Some(gradients) = gradients.filter(|_| any) else { return Ok(None) };
    let root = read.f_mul(&Tensor::f_cat(&back, 0)?)?.f_sum(Kind::Float)?;
    let mut found = Tensor::f_run_backward(&[&root], &[&stream, &scale], false, false)?;
    let _still = no_grad_guard();
    if let (Some(sum), Some(more)) = (gradients.norm(), found.pop()) {
        let _ = sum.f_add_(&more)?;
    }
    Ok(found.into_iter().next())
}

/// The slopes of the loss by some log-probabilities, which it counts.
#[expect(clippy::cast_possible_truncation, reason = "the gradient is single precision")]
fn slopes(
    chosen: &Tensor,
    entropies: &Tensor,
    opinion: &Opinion,
    begin: usize,
    loss: Loss,
    tally: &mut Tally,
) -> Result<Vec<f32>, LearnError> {
    let count = chosen.numel();
    let mut numbers = vec![0.0_f32; 2 * count];
    let both = Tensor::f_cat(&[chosen, entropies], 0)?.f_to_device(tch::Device::Cpu)?;
    both.f_copy_data(&mut numbers, 2 * count)?;
    let (logps, entropies) = numbers.split_at(count);
    tally.logps.extend(logps);
    let told = opinion.weights[begin..].iter().zip(&opinion.before[begin..]);
    let each = logps.iter().zip(entropies).zip(told).map(|((logp, entropy), (weight, before))| {
        let (logp, before) = (f64::from(*logp), f64::from(*before));
        let token = loss.token(logp, before, f64::from(*weight));
        tally.sums.count(&token, logp - before, f64::from(*entropy));
        token.slope as f32
    });
    Ok(each.collect())
}
