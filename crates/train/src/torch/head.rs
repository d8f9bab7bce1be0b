//! The output head: log-probabilities of the targets, their loss, and the gradient with respect to the hidden states.

use tch::{Kind, Tensor, no_grad_guard};

use super::gradient::Gradients;
use super::network::Network;
use super::{as_i64, to_device, to_vec};
use crate::policy::StatsSum;
use crate::{LearnError, Loss};

/// The targets of a batch.
pub(super) struct DeviceTargets {
    /// The tokens, on the device.
    pub(super) tokens: Tensor,
    /// Loss weights.
    pub(super) weights: Vec<f32>,
    /// Log-probabilities at sampling time.
    pub(super) old_logprobs: Vec<f32>,
}

/// Statistics and log-probabilities of the targets so far.
#[derive(Default)]
pub(super) struct Evaluation {
    pub(super) stats: StatsSum,
    pub(super) logprobs: Vec<f32>,
}

/// Evaluates the targets; with `gradients`, adds the gradients of the final norm and the head and returns the gradient with
/// respect to `hidden_states`, which holds the final hidden state of each target. Returns `None` if that is all zero.
///
/// The derivative of a log-probability with respect to the logits is written out (one-hot minus probabilities), so that
/// logits exist one chunk at a time and are not part of an autograd graph.
pub(super) fn evaluate_targets(
    network: &Network,
    hidden_states: &Tensor,
    targets: &DeviceTargets,
    loss: Loss,
    evaluation: &mut Evaluation,
    mut gradients: Option<&mut Gradients>,
) -> Result<Option<Tensor>, LearnError> {
    let config = &network.config;
    let (count, hidden_size) = hidden_states.size2()?;
    let hidden_states = hidden_states.f_detach()?.f_set_requires_grad(gradients.is_some())?;
    let norm_weight = network.final_norm().leaf()?;
    let normed = hidden_states.f_rms_norm(hidden_size, Some(&norm_weight), config.rms_norm_eps)?;
    let mut any_grad = false;
    let mut normed_grads = Vec::new();
    {
        let _no_grad = no_grad_guard();
        let head = network.lm_head();
        let detached = normed.f_detach()?;
        let chunk = (network.max_logits / as_i64(config.vocab_size)).max(1);
        let mut begin = 0;
        while begin < count {
            let length = chunk.min(count - begin);
            let normed = detached.f_narrow(0, begin, length)?.f_to_kind(head.f_kind()?)?;
            let tokens = targets.tokens.f_narrow(0, begin, length)?.f_unsqueeze(1)?;
            let mut log_probs = mm_single(&normed, &head.f_transpose(0, 1)?)?;
            let _ = log_probs.f_sub_(&log_probs.f_logsumexp(-1, true)?)?;
            let chosen = log_probs.f_gather(1, &tokens, false)?.f_view([-1])?;
            let mut probs = log_probs.f_exp()?;
            let entropies = probs.f_unsqueeze(1)?.f_bmm(&log_probs.f_unsqueeze(2)?)?.f_view([-1])?.f_neg()?;
            drop(log_probs);
            let first = usize::try_from(begin).unwrap_or(0);
            let grads = logprob_grads(&chosen, &entropies, targets, first, loss, evaluation)?;
            if let Some(gradients) = gradients.as_deref_mut() {
                any_grad |= grads.iter().any(|grad| *grad != 0.0);
                let grads = to_device(&grads, network.device)?.f_unsqueeze(1)?;
                let _ = probs.f_mul_(&grads.f_neg()?)?.f_scatter_add_(1, &tokens, &grads)?;
                let logit_grads = probs.f_to_kind(head.f_kind()?)?;
                normed_grads.push(mm_single(&logit_grads, head)?);
                if let Some(sum) = gradients.lm_head() {
                    let _ = sum.f_add_(&mm_single(&logit_grads.f_transpose(0, 1)?, &normed)?)?;
                }
            }
            begin += length;
        }
    }
    let Some(gradients) = gradients.filter(|_| any_grad) else { return Ok(None) };
    let root = normed.f_mul(&Tensor::f_cat(&normed_grads, 0)?)?.f_sum(Kind::Float)?;
    let mut found = Tensor::f_run_backward(&[&root], &[&hidden_states, &norm_weight], false, false)?;
    let _no_grad = no_grad_guard();
    if let (Some(sum), Some(more)) = (gradients.final_norm(), found.pop()) {
        let _ = sum.f_add_(&more)?;
    }
    Ok(found.into_iter().next())
}

/// The product of two matrices, in single precision: also of matrices in bfloat16, so that logits are not rounded to it.
fn mm_single(one: &Tensor, other: &Tensor) -> Result<Tensor, LearnError> {
    if one.device().is_cuda() && one.f_kind()? != Kind::Float {
        return Ok(one.f_mm_dtype(other, Kind::Float)?);
    }
    Ok(one.f_to_kind(Kind::Float)?.f_mm(&other.f_to_kind(Kind::Float)?)?)
}

/// The derivatives of the loss with respect to a chunk of log-probabilities; also updates the evaluation.
#[expect(clippy::cast_possible_truncation, reason = "the gradient is single precision")]
fn logprob_grads(
    chosen: &Tensor,
    entropies: &Tensor,
    targets: &DeviceTargets,
    first: usize,
    loss: Loss,
    evaluation: &mut Evaluation,
) -> Result<Vec<f32>, LearnError> {
    let values = to_vec(&Tensor::f_cat(&[chosen, entropies], 0)?)?;
    let (logprobs, entropies) = values.split_at(chosen.numel());
    evaluation.logprobs.extend(logprobs);
    let targets = targets.weights[first..].iter().zip(&targets.old_logprobs[first..]);
    let each = logprobs.iter().zip(entropies).zip(targets).map(|((logprob, entropy), (weight, old))| {
        let (logprob, old) = (f64::from(*logprob), f64::from(*old));
        let token = loss.token(logprob, old, f64::from(*weight));
        evaluation.stats.push(&token, logprob - old, f64::from(*entropy));
        token.grad as f32
    });
    Ok(each.collect())
}
