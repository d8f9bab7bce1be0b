//! Samples the next token of all rows at once, on the device.

use aske_model::{ErrorCause, ProviderError, SampledToken, Sampling};
use tch::{Device, Kind, Tensor};

use super::to_device;
use crate::LearnError;

/// Temperatures below this are greedy.
const GREEDY: f64 = 1e-6;

/// Sampling parameters of one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct SamplingParams {
    temperature: f64,
    top_p: f64,
    top_k: i64,
    min_p: f64,
}

impl SamplingParams {
    /// Defaults are those of OpenAI's interface: temperature 1 and no limits. Penalties are not supported.
    pub(super) fn new(sampling: &Sampling) -> Result<Self, ProviderError> {
        let penalized = sampling.presence_penalty.is_some_and(|penalty| penalty != 0.0)
            || sampling.frequency_penalty.is_some_and(|penalty| penalty != 0.0)
            || sampling.repetition_penalty.is_some_and(|penalty| penalty.to_bits() != 1.0_f64.to_bits());
        if penalized {
            return Err(ProviderError::new(
                ErrorCause::Rejected,
                "penalties are not supported when sampling a policy",
            ));
        }
        Ok(Self {
            temperature: sampling.temperature.unwrap_or(1.0),
            top_p: sampling.top_p.unwrap_or(1.0),
            top_k: sampling.top_k.filter(|k| *k > 0).unwrap_or(i64::MAX),
            min_p: sampling.min_p.unwrap_or(0.0),
        })
    }

    fn is_greedy(&self) -> bool {
        self.temperature < GREEDY
    }

    /// Whether top-p, top-k or min-p apply.
    fn is_limited(&self) -> bool {
        !self.is_greedy() && (self.top_p < 1.0 || self.top_k < i64::MAX || self.min_p > 0.0)
    }
}

/// Samples a token for each row of logits `[rows, vocab_size]`, given a uniform number in [0, 1) for each.
///
/// `banned` marks tokens that are never sampled. Log-probabilities are those of the network's own distribution over all
/// tokens, before temperature and limits.
pub(super) fn sample(
    logits: &Tensor,
    banned: &Tensor,
    params: &[SamplingParams],
    uniforms: &[f64],
) -> Result<Vec<SampledToken>, LearnError> {
    let device = logits.device();
    let column =
        |numbers: &[f64]| -> Result<Tensor, LearnError> { Ok(to_device(numbers, device)?.f_unsqueeze(1)?) };
    let scored = logits.f_masked_fill(banned, f64::NEG_INFINITY)?;
    let (best, likeliest) = scored.f_max_dim(-1, true)?;
    let scales: Vec<f64> = params
        .iter()
        .map(|params| if params.is_greedy() { 1.0 } else { params.temperature.recip() })
        .collect();
    let scales = column(&scales)?.f_to_kind(Kind::Float)?;
    // The weight of the likeliest token is 1.
    let weights = scored.f_sub(&best)?.f_mul_(&scales)?.f_exp_()?;
    drop(scored);
    let uniforms = column(uniforms)?;
    let mut tokens = draw(&weights, &uniforms)?;
    let limited: Vec<i64> =
        (0..).zip(params).filter(|(_, params)| params.is_limited()).map(|(row, _)| row).collect();
    if !limited.is_empty() {
        let rows = to_device(&limited, device)?;
        let params: Vec<SamplingParams> = params.iter().copied().filter(SamplingParams::is_limited).collect();
        let (weights, uniforms) = (weights.f_index_select(0, &rows)?, uniforms.f_index_select(0, &rows)?);
        let found = draw_limited(&weights, &uniforms, &params)?;
        let _ = tokens.f_index_copy_(0, &rows, &found)?;
    }
    if params.iter().any(SamplingParams::is_greedy) {
        let greedy: Vec<bool> = params.iter().map(SamplingParams::is_greedy).collect();
        let greedy = to_device(&greedy, device)?.f_unsqueeze(1)?;
        tokens = likeliest.f_where_self(&greedy, &tokens)?;
    }
    let chosen = logits.f_gather(1, &tokens, false)?.f_sub(&logits.f_logsumexp(-1, true)?)?;
    to_choices(&tokens, &chosen)
}

/// Inverse-transform sampling from unnormalized weights.
fn draw(weights: &Tensor, uniforms: &Tensor) -> Result<Tensor, LearnError> {
    let sums = weights.f_cumsum(-1, Kind::Double)?;
    let last = weights.size2()?.1 - 1;
    let thresholds = sums.f_narrow(1, last, 1)?.f_mul(uniforms)?;
    // The first cumulative sum above the threshold; a token without weight adds nothing, so it is never sampled.
    Ok(thresholds.f_searchsorted(&sums, false, true, "right", None::<Tensor>)?.f_clamp_max(last)?)
}

/// The same after `min_p`, `top_k` and `top_p`, in this order.
fn draw_limited(
    weights: &Tensor,
    uniforms: &Tensor,
    params: &[SamplingParams],
) -> Result<Tensor, LearnError> {
    let device = weights.device();
    let column = |each: &dyn Fn(&SamplingParams) -> f64| -> Result<Tensor, LearnError> {
        let values: Vec<f64> = params.iter().map(each).collect();
        Ok(to_device(&values, device)?.f_unsqueeze(1)?)
    };
    let (mut sorted, order) = weights.f_sort_stable(true, -1, true)?;
    let below_min_p = sorted.f_lt_tensor(&column(&|params| params.min_p.min(1.0))?)?;
    let ranks = Tensor::f_arange(sorted.size2()?.1, (Kind::Double, device))?.f_unsqueeze(0)?;
    let beyond_top_k = ranks.f_ge_tensor(&column(&|params| params.top_k as f64)?)?;
    let _ = sorted.f_masked_fill_(&below_min_p.f_logical_or(&beyond_top_k)?, 0.0)?;
    let sums = sorted.f_cumsum(-1, Kind::Double)?;
    let total = sums.f_narrow(1, sums.size2()?.1 - 1, 1)?;
    let before = sums.f_sub(&sorted)?;
    let beyond_top_p = before.f_ge_tensor(&total.f_mul(&column(&|params| params.top_p)?)?)?;
    // The likeliest token always stays.
    let beyond_top_p = beyond_top_p.f_logical_and(&ranks.f_gt(0.0)?)?;
    let ranks = draw(&sorted.f_masked_fill(&beyond_top_p, 0.0)?, uniforms)?;
    Ok(order.f_gather(1, &ranks, false)?)
}

/// Copies tokens and log-probabilities to the host in one transfer.
#[expect(clippy::cast_possible_truncation, reason = "converted from narrower types")]
fn to_choices(tokens: &Tensor, logprobs: &Tensor) -> Result<Vec<SampledToken>, LearnError> {
    let count = tokens.numel();
    let both = Tensor::f_cat(&[tokens.f_to_kind(Kind::Double)?, logprobs.f_to_kind(Kind::Double)?], 1)?;
    let mut values = vec![0.0_f64; 2 * count];
    both.f_to_device(Device::Cpu)?.f_copy_data(&mut values, 2 * count)?;
    let each = values.as_chunks::<2>().0.iter();
    #[expect(clippy::cast_sign_loss, reason = "a token is not negative")]
    Ok(each.map(|[token, logprob]| SampledToken { token: *token as u32, logprob: *logprob as f32 }).collect())
}

#[cfg(test)]
mod tests {
    use super::{SamplingParams, sample};
    use aske_model::{SampledToken, Sampling};
    use tch::Tensor;

    const LOGITS: [f32; 5] = [1.0, 3.0, -1.0, 2.0, 2.0];

    fn run(sampling: &Sampling, banned: [bool; 5], uniforms: &[f64]) -> Vec<SampledToken> {
        let params = vec![SamplingParams::new(sampling).unwrap(); uniforms.len()];
        let count = i64::try_from(uniforms.len()).unwrap();
        let logits = Tensor::from_slice(&LOGITS).unsqueeze(0).expand([count, 5], false).contiguous();
        sample(&logits, &Tensor::from_slice(&banned), &params, uniforms).unwrap()
    }

    /// The frequency of each token over evenly spaced uniforms.
    fn shares(sampling: &Sampling, banned: [bool; 5]) -> [f64; 5] {
        let uniforms: Vec<f64> = (0..2000).map(|at| (f64::from(at) + 0.5) / 2000.0).collect();
        let mut counts = [0.0; 5];
        for choice in run(sampling, banned, &uniforms) {
            counts[choice.token as usize] += 1.0 / 2000.0;
        }
        counts
    }

    fn assert_near(found: [f64; 5], weights: [f64; 5]) {
        let total: f64 = weights.iter().sum();
        for (found, weight) in found.iter().zip(weights) {
            assert!((found - weight / total).abs() < 1.1e-3, "{found} is not {}", weight / total);
        }
    }

    #[test]
    fn tokens_are_chosen_by_their_share_of_what_is_left() {
        let all = [false; 5];
        let e = |logit: f64| logit.exp();
        assert_near(shares(&Sampling::default(), all), [e(1.0), e(3.0), e(-1.0), e(2.0), e(2.0)]);
        let hot = Sampling { temperature: Some(2.0), ..Sampling::default() };
        assert_near(shares(&hot, all), [e(0.5), e(1.5), e(-0.5), e(1.0), e(1.0)]);
        let without = [false, true, false, false, false];
        assert_near(shares(&Sampling::default(), without), [e(1.0), 0.0, e(-1.0), e(2.0), e(2.0)]);
        let top_k = Sampling { top_k: Some(2), ..Sampling::default() };
        assert_near(shares(&top_k, all), [0.0, e(3.0), 0.0, e(2.0), 0.0]);
        // The shares are 0.072, 0.533, 0.010, 0.196 and 0.196: two do not reach 0.73, three do.
        let top_p = Sampling { top_p: Some(0.73), ..Sampling::default() };
        assert_near(shares(&top_p, all), [0.0, e(3.0), 0.0, e(2.0), e(2.0)]);
        let min_p = Sampling { min_p: Some(0.1), ..Sampling::default() };
        assert_near(shares(&min_p, all), [e(1.0), e(3.0), 0.0, e(2.0), e(2.0)]);
        let greedy = Sampling { temperature: Some(0.0), ..Sampling::default() };
        assert_near(shares(&greedy, without), [0.0, 0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_log_probability_is_the_networks_own() {
        let cold = Sampling { temperature: Some(0.3), top_k: Some(1), ..Sampling::default() };
        let total: f32 = LOGITS.iter().map(|logit| logit.exp()).sum();
        let choice = run(&cold, [false, true, false, false, false], &[0.9])[0];
        assert!(choice.token == 3 && (choice.logprob - (2.0 - total.ln())).abs() < 1e-6, "{choice:?}");
    }

    #[test]
    fn penalties_are_refused() {
        let sampling = Sampling { presence_penalty: Some(0.5), ..Sampling::default() };
        assert!(SamplingParams::new(&sampling).is_err());
    }
}
