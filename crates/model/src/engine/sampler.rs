//! Samples the next token.
#![expect(
    clippy::inline_always,
    reason = "a kernel gets its instruction set from the caller it is inlined into"
)]

use crate::Sampling;
use aske_kernels::exp;
use aske_kernels::{Arch, Simd, WithSimd};
use std::cmp::Ordering;

/// A sampled token and its log-probability under the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SampledToken {
    /// The token.
    pub(crate) token: u32,
    /// Its log-probability before temperature, limits and penalties.
    pub(crate) logprob: f32,
}

/// A mask over the vocabulary: 1 for allowed tokens, 0 for suppressed ones.
pub(crate) fn mask(suppressed: &[bool]) -> Vec<f32> {
    suppressed.iter().map(|suppressed| if *suppressed { 0.0 } else { 1.0 }).collect()
}

/// The sampler of one request.
pub(crate) struct Sampler {
    temperature: f32,
    top_p: f32,
    top_k: usize,
    min_p: f32,
    presence: f32,
    frequency: f32,
    repetition: f32,
    seed: u64,
    logprobs: bool,
    /// For every token: whether it is in the prompt, and how often it was generated. Only with a penalty.
    counts: Option<Vec<(bool, u16)>>,
}

/// Buffers that requests share, one after the other.
#[derive(Default)]
pub(crate) struct SamplerBuffers {
    all: Vec<f32>,
    sorted: Vec<(u32, f32)>,
}

/// Lower temperatures are greedy: dividing by them would overflow.
const GREEDY: f32 = 1e-6;

impl Sampler {
    /// Absent parameters have OpenAI's defaults: temperature 1 and no limits.
    #[expect(clippy::cast_possible_truncation, reason = "logits are in single precision")]
    pub(crate) fn new(sampling: &Sampling, seed: u64, logprobs: bool, prompt: &[u32], size: usize) -> Self {
        let presence = sampling.presence_penalty.unwrap_or(0.0) as f32;
        let frequency = sampling.frequency_penalty.unwrap_or(0.0) as f32;
        let repetition = sampling.repetition_penalty.unwrap_or(1.0) as f32;
        let penalises = (presence, frequency, repetition) != (0.0, 0.0, 1.0);
        let counts = penalises.then(|| {
            let mut counts = vec![(false, 0); size];
            for token in prompt {
                counts[*token as usize].0 = true;
            }
            counts
        });
        Self {
            temperature: sampling.temperature.unwrap_or(1.0) as f32,
            top_p: sampling.top_p.unwrap_or(1.0) as f32,
            top_k: sampling
                .top_k
                .and_then(|k| usize::try_from(k).ok())
                .filter(|k| *k > 0)
                .unwrap_or(usize::MAX),
            min_p: sampling.min_p.unwrap_or(0.0) as f32,
            presence,
            frequency,
            repetition,
            seed,
            logprobs,
            counts,
        }
    }

    /// Samples the token at this position of the reply; `None` where a logit is not finite or no token is allowed.
    ///
    /// Penalties, temperature, `top_k`, `top_p` and `min_p` apply in this order. The log-probability is that of the model's
    /// distribution before any of these.
    pub(crate) fn sample(
        &mut self,
        arch: Arch,
        logits: &[f32],
        allowed: &[f32],
        position: usize,
        buffers: &mut SamplerBuffers,
    ) -> Option<SampledToken> {
        let penalised = self.counts.as_ref().map(|counts| self.penalise(logits, counts));
        let scored = penalised.as_deref().unwrap_or(logits);
        // The likeliest token has weight 1; greedy sampling takes the first of that weight.
        let greedy = self.temperature < GREEDY;
        let scale = if greedy { 1.0 } else { 1.0 / self.temperature };
        buffers.all.resize(logits.len(), 0.0);
        let token =
            match arch.dispatch(Weigh { logits: scored, allowed, scale, weights: &mut buffers.all })? {
                largest if greedy => (0..)
                    .zip(scored.iter().zip(allowed))
                    .find(|(_, (logit, allowed))| **logit >= largest && **allowed > 0.0)
                    .map(|(token, _)| token),
                _ => self.draw(buffers, position),
            }?;
        if let Some(counts) = &mut self.counts {
            counts[token as usize].1 = counts[token as usize].1.saturating_add(1);
        }
        let logprob = if self.logprobs { logprob(logits, token) } else { 0.0 };
        Some(SampledToken { token, logprob })
    }

    fn penalise(&self, logits: &[f32], counts: &[(bool, u16)]) -> Vec<f32> {
        let each = logits.iter().zip(counts).map(|(logit, (prompted, written))| {
            let repeated = *prompted || *written > 0;
            let factor = if *logit > 0.0 { 1.0 / self.repetition } else { self.repetition };
            let logit = if repeated { logit * factor } else { *logit };
            if *written > 0 { logit - self.presence - self.frequency * f32::from(*written) } else { logit }
        });
        each.collect()
    }

    fn draw(&self, buffers: &mut SamplerBuffers, position: usize) -> Option<u32> {
        let point = uniform(self.seed, position);
        let weighed = (0..).zip(buffers.all.iter().copied());
        if self.top_k >= buffers.all.len() && self.top_p >= 1.0 && self.min_p <= 0.0 {
            return pick(weighed, point);
        }
        buffers.sorted.clear();
        buffers.sorted.extend(weighed.filter(|(_, weight)| *weight > 0.0 && *weight >= self.min_p.min(1.0)));
        if self.top_k < buffers.sorted.len() {
            buffers.sorted.select_nth_unstable_by(self.top_k, likelier);
            buffers.sorted.truncate(self.top_k);
        }
        if self.top_p < 1.0 {
            nucleus(&mut buffers.sorted, self.top_p);
        } else {
            buffers.sorted.sort_unstable_by(likelier);
        }
        pick(buffers.sorted.iter().copied(), point)
    }
}

/// Orders by descending probability, ties by id, so that the order is the same on every machine.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as sorting wants it")]
fn likelier(a: &(u32, f32), b: &(u32, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// Keeps the smallest set of likeliest tokens whose probability reaches `top_p`, in descending order.
///
/// Few tokens have most of the probability, so only as many as needed are sorted.
fn nucleus(weighed: &mut Vec<(u32, f32)>, top_p: f32) {
    let wanted = f64::from(top_p) * weighed.iter().map(|(_, weight)| f64::from(*weight)).sum::<f64>();
    let mut head = 64;
    loop {
        if head < weighed.len() {
            weighed.select_nth_unstable_by(head, likelier);
        }
        head = head.min(weighed.len());
        weighed[..head].sort_unstable_by(likelier);
        let (mut rest, mut kept) = (wanted, 0);
        while kept < head && (kept == 0 || rest > 0.0) {
            rest -= f64::from(weighed[kept].1);
            kept += 1;
        }
        if rest <= 0.0 || head == weighed.len() {
            return weighed.truncate(kept);
        }
        head *= 8;
    }
}

/// Inverse transform sampling: the token whose interval of the total weight contains the point in [0, 1).
fn pick(weighed: impl Iterator<Item = (u32, f32)> + Clone, point: f64) -> Option<u32> {
    let mut rest = point * weighed.clone().map(|(_, weight)| f64::from(weight)).sum::<f64>();
    let mut last = None;
    for (token, weight) in weighed.filter(|(_, weight)| *weight > 0.0) {
        last = Some(token);
        rest -= f64::from(weight);
        if rest < 0.0 {
            break;
        }
    }
    last
}

fn logprob(logits: &[f32], token: u32) -> f32 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 = logits.iter().map(|logit| f64::from(logit - largest).exp()).sum();
    #[expect(clippy::cast_possible_truncation, reason = "a log-probability needs no more")]
    let normal = total.ln() as f32;
    logits[token as usize] - largest - normal
}

/// Weights e^(scale · (logit − largest)) of the allowed tokens, and the largest logit among them.
struct Weigh<'a> {
    logits: &'a [f32],
    allowed: &'a [f32],
    scale: f32,
    weights: &'a mut [f32],
}

impl WithSimd for Weigh<'_> {
    type Output = Option<f32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Option<f32> {
        let mut sound = true;
        let mut largest = f32::NEG_INFINITY;
        for (logit, allowed) in self.logits.iter().zip(self.allowed) {
            sound &= logit.is_finite();
            largest = if *allowed > 0.0 && *logit > largest { *logit } else { largest };
        }
        for ((weight, logit), allowed) in self.weights.iter_mut().zip(self.logits).zip(self.allowed) {
            *weight = exp::<S>((logit - largest) * self.scale) * allowed;
        }
        (sound && largest.is_finite()).then_some(largest)
    }
}

/// A uniform number in [0, 1) that depends on the seed and the position only: two rounds of the SplitMix64 mixer.
fn uniform(seed: u64, position: usize) -> f64 {
    let bits = mix(mix(seed) ^ position as u64);
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 5] = [1.0, 3.0, -1.0, 2.0, 2.0];

    /// How often each token is chosen over many places.
    fn shares(sampling: &Sampling, never: [bool; 5]) -> [f64; 5] {
        let mut sampler = Sampler::new(sampling, 7, false, &[], 5);
        let (allowed, mut buffers) = (mask(&never), SamplerBuffers::default());
        let mut counts = [0.0; 5];
        for position in 0..40_000 {
            let choice = sampler.sample(Arch::new(), &LOGITS, &allowed, position, &mut buffers).unwrap();
            counts[choice.token as usize] += 1.0 / 40_000.0;
        }
        counts
    }

    /// The shares that these weights should give, within five standard errors.
    fn assert_near(found: [f64; 5], weights: [f64; 5]) {
        let total: f64 = weights.iter().sum();
        for (found, weight) in found.iter().zip(weights) {
            let share = weight / total;
            let bound = 5.0 * (share * (1.0 - share) / 40_000.0).sqrt() + 1e-12;
            assert!((found - share).abs() <= bound, "{found} is not {share}");
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
    }

    #[test]
    fn penalties_count_what_was_read_and_written() {
        let sampling = Sampling {
            temperature: Some(0.0),
            presence_penalty: Some(0.5),
            frequency_penalty: Some(0.25),
            repetition_penalty: Some(2.0),
            ..Sampling::default()
        };
        let mut sampler = Sampler::new(&sampling, 0, true, &[3, 2], 5);
        let counts = sampler.counts.as_mut().unwrap();
        counts[1].1 = 2;
        counts[2].1 = 1;
        // Read or written: divided by 2, or times 2 below zero; written n times: less 0.5 and n times 0.25.
        assert_eq!(sampler.penalise(&LOGITS, sampler.counts.as_ref().unwrap()), [1.0, 0.5, -2.75, 1.0, 2.0]);
        let mut buffers = SamplerBuffers::default();
        let choice = sampler.sample(Arch::new(), &LOGITS, &[1.0; 5], 0, &mut buffers).unwrap();
        let total: f32 = LOGITS.iter().map(|logit| logit.exp()).sum();
        assert_eq!(choice.token, 4);
        assert!((choice.logprob - (2.0 - total.ln())).abs() < 1e-6, "of the network's own distribution");
    }

    #[test]
    fn logits_that_are_not_finite_give_no_choice() {
        let mut sampler = Sampler::new(&Sampling::default(), 0, false, &[], 2);
        let mut buffers = SamplerBuffers::default();
        for logits in [[f32::NAN, 0.0], [f32::INFINITY, 0.0]] {
            assert_eq!(sampler.sample(Arch::new(), &logits, &[1.0; 2], 0, &mut buffers), None);
        }
        assert_eq!(
            sampler.sample(Arch::new(), &[0.0; 2], &[0.0; 2], 0, &mut buffers),
            None,
            "nothing may be written"
        );
    }

    #[test]
    fn a_nucleus_is_that_of_the_whole_sorted_list() {
        let mut random = fastrand::Rng::with_seed(3);
        for size in [1, 5, 64, 65, 500, 3000] {
            for flat in [0.0, 8.0] {
                let weight = |random: &mut fastrand::Rng| (-flat * random.f32()).exp();
                let weighed: Vec<(u32, f32)> = (0..size).map(|token| (token, weight(&mut random))).collect();
                let mut sorted = weighed.clone();
                sorted.sort_by(likelier);
                let all: f64 = sorted.iter().map(|(_, weight)| f64::from(*weight)).sum();
                let (mut sum, mut kept) = (0.0, 0);
                while kept == 0 || (sum < 0.9 * all && kept < sorted.len()) {
                    sum += f64::from(sorted[kept].1);
                    kept += 1;
                }
                let mut found = weighed;
                nucleus(&mut found, 0.9);
                // A sum of many may round one token in or out.
                assert!(found.len().abs_diff(kept) <= 1, "{} {kept}", found.len());
                assert_eq!(found, sorted[..found.len()]);
            }
        }
    }
}
