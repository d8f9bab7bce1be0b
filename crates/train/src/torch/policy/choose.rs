//! How the next tokens are chosen, on the device for all rows at once.

use aske_model::{ErrorCause, ProviderError, Sampling};
use tch::{Device, Kind, Tensor};

use crate::LearnError;

/// A temperature below this is 0: the likeliest token.
const GREEDY: f64 = 1e-6;

/// One request's way of choosing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    temperature: f64,
    top_p: f64,
    top_k: i64,
    min_p: f64,
}

/// A token, and how likely the network itself held it to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) token: u32,
    pub(super) logprob: f32,
}

impl Rules {
    /// What is absent is as in OpenAI's interface: temperature 1 and no limits.
    pub(super) fn new(sampling: &Sampling) -> Result<Self, ProviderError> {
        let penalised = sampling.presence_penalty.is_some_and(|penalty| penalty != 0.0)
            || sampling.frequency_penalty.is_some_and(|penalty| penalty != 0.0)
            || sampling.repetition_penalty.is_some_and(|penalty| penalty.to_bits() != 1.0_f64.to_bits());
        if penalised {
            return Err(ProviderError::new(ErrorCause::Rejected, "a policy is sampled without penalties"));
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

    /// Something but the temperature decides.
    fn is_limited(&self) -> bool {
        !self.is_greedy() && (self.top_p < 1.0 || self.top_k < i64::MAX || self.min_p > 0.0)
    }
}

/// Chooses a token for each row of logits `[rows, vocabulary]` by its rules and its point from 0 up to 1.
///
/// `never` marks the tokens that may not be written. The log-probability is that of the network's own
/// distribution over all tokens, before any rule.
pub(super) fn choose(
    logits: &Tensor,
    never: &Tensor,
    rules: &[Rules],
    points: &[f64],
) -> Result<Vec<Choice>, LearnError> {
    let device = logits.device();
    let column = |numbers: &[f64]| -> Result<Tensor, LearnError> {
        Ok(Tensor::f_from_slice(numbers)?.f_to_device(device)?.f_unsqueeze(1)?)
    };
    let scored = logits.f_masked_fill(never, f64::NEG_INFINITY)?;
    let (best, likeliest) = scored.f_max_dim(-1, true)?;
    let scales: Vec<f64> =
        rules.iter().map(|rule| if rule.is_greedy() { 1.0 } else { rule.temperature.recip() }).collect();
    let scales = column(&scales)?.f_to_kind(Kind::Float)?;
    // The weight of the likeliest token is 1.
    let weights = scored.f_sub(&best)?.f_mul_(&scales)?.f_exp_()?;
    drop(scored);
    let points = column(points)?;
    let mut tokens = drawn(&weights, &points)?;
    let limited: Vec<i64> =
        (0..).zip(rules).filter(|(_, rule)| rule.is_limited()).map(|(row, _)| row).collect();
    if !limited.is_empty() {
        let rows = Tensor::f_from_slice(&limited)?.f_to_device(device)?;
        let rules: Vec<Rules> = rules.iter().copied().filter(Rules::is_limited).collect();
        let found =
            drawn_within(&weights.f_index_select(0, &rows)?, &points.f_index_select(0, &rows)?, &rules)?;
        let _ = tokens.f_index_copy_(0, &rows, &found)?;
    }
    if rules.iter().any(Rules::is_greedy) {
        let greedy: Vec<bool> = rules.iter().map(Rules::is_greedy).collect();
        let greedy = Tensor::f_from_slice(&greedy)?.f_to_device(device)?.f_unsqueeze(1)?;
        tokens = likeliest.f_where_self(&greedy, &tokens)?;
    }
    let chosen = logits.f_gather(1, &tokens, false)?.f_sub(&logits.f_logsumexp(-1, true)?)?;
    told(&tokens, &chosen)
}

/// The token whose share of a row's whole weight covers the point.
fn drawn(weights: &Tensor, points: &Tensor) -> Result<Tensor, LearnError> {
    let sums = weights.f_cumsum(-1, Kind::Double)?;
    let last = weights.size2()?.1 - 1;
    let aims = sums.f_narrow(1, last, 1)?.f_mul(points)?;
    // The first sum beyond the point: a token without weight adds nothing, so it is never that.
    Ok(aims.f_searchsorted(&sums, false, true, "right", None::<Tensor>)?.f_clamp_max(last)?)
}

/// The same among what `min_p`, `top_k` and `top_p` leave, in this order.
fn drawn_within(weights: &Tensor, points: &Tensor, rules: &[Rules]) -> Result<Tensor, LearnError> {
    let device = weights.device();
    let column = |each: &dyn Fn(&Rules) -> f64| -> Result<Tensor, LearnError> {
        let numbers: Vec<f64> = rules.iter().map(each).collect();
        Ok(Tensor::f_from_slice(&numbers)?.f_to_device(device)?.f_unsqueeze(1)?)
    };
    let (mut sorted, order) = weights.f_sort_stable(true, -1, true)?;
    let rare = sorted.f_lt_tensor(&column(&|rule| rule.min_p.min(1.0))?)?;
    let ranks = Tensor::f_arange(sorted.size2()?.1, (Kind::Double, device))?.f_unsqueeze(0)?;
    let late = ranks.f_ge_tensor(&column(&|rule| rule.top_k as f64)?)?;
    let _ = sorted.f_masked_fill_(&rare.f_logical_or(&late)?, 0.0)?;
    let sums = sorted.f_cumsum(-1, Kind::Double)?;
    let whole = sums.f_narrow(1, sums.size2()?.1 - 1, 1)?;
    let before = sums.f_sub(&sorted)?;
    let beyond = before.f_ge_tensor(&whole.f_mul(&column(&|rule| rule.top_p)?)?)?;
    // The likeliest stays whatever is asked.
    let beyond = beyond.f_logical_and(&ranks.f_gt(0.0)?)?;
    let places = drawn(&sorted.f_masked_fill(&beyond, 0.0)?, points)?;
    Ok(order.f_gather(1, &places, false)?)
}

/// Both columns, brought over at once.
#[expect(clippy::cast_possible_truncation, reason = "they were narrower before")]
fn told(tokens: &Tensor, logprobs: &Tensor) -> Result<Vec<Choice>, LearnError> {
    let count = tokens.numel();
    let both = Tensor::f_cat(&[tokens.f_to_kind(Kind::Double)?, logprobs.f_to_kind(Kind::Double)?], 1)?;
    let mut numbers = vec![0.0_f64; 2 * count];
    both.f_to_device(Device::Cpu)?.f_copy_data(&mut numbers, 2 * count)?;
    let each = numbers.as_chunks::<2>().0.iter();
    #[expect(clippy::cast_sign_loss, reason = "a place in a row")]
    Ok(each.map(|[token, logprob]| Choice { token: *token as u32, logprob: *logprob as f32 }).collect())
}

#[cfg(test)]
mod tests {
    use super::{Choice, Rules, choose};
    use aske_model::Sampling;
    use tch::Tensor;

    const LOGITS: [f32; 5] = [1.0, 3.0, -1.0, 2.0, 2.0];

    fn run(sampling: &Sampling, never: [bool; 5], points: &[f64]) -> Vec<Choice> {
        let rules = vec![Rules::new(sampling).unwrap(); points.len()];
        let count = i64::try_from(points.len()).unwrap();
        let logits = Tensor::from_slice(&LOGITS).unsqueeze(0).expand([count, 5], false).contiguous();
        choose(&logits, &Tensor::from_slice(&never), &rules, points).unwrap()
    }

    /// How often each token is chosen over points that lie evenly.
    fn shares(sampling: &Sampling, never: [bool; 5]) -> [f64; 5] {
        let points: Vec<f64> = (0..2000).map(|at| (f64::from(at) + 0.5) / 2000.0).collect();
        let mut counts = [0.0; 5];
        for choice in run(sampling, never, &points) {
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
        assert!(Rules::new(&sampling).is_err());
    }
}
