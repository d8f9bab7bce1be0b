//! Training batches: packed sequences of tokens with a weight for each.

use std::ops::Range;

use crate::{LearnError, Loss};

/// Sequences of tokens, one after the other without padding, with a loss weight for each token.
///
/// No token attends to another sequence. A sequence may end in padding with weight zero: attention is causal, so it does
/// not affect earlier tokens. Sequences of one length that follow each other are computed together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The length of each sequence; at least one token.
    pub lengths: Vec<usize>,
    /// The tokens of all sequences.
    pub tokens: Vec<u32>,
    /// The loss weight of predicting each token from its prefix.
    ///
    /// May be negative. The first of each sequence is ignored: it has no prefix.
    pub weights: Vec<f32>,
    /// The log-probability of each token when it was sampled; NaN for tokens the policy did not sample. Empty for
    /// supervised batches.
    pub old_logprobs: Vec<f32>,
}

/// The tokens of a batch to be predicted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Targets {
    /// Index of the preceding token in the batch, ascending.
    pub(crate) positions: Vec<usize>,
    /// The target tokens.
    pub(crate) tokens: Vec<i64>,
    /// Loss weights; for a likelihood, scaled so that the absolute values sum to one.
    pub(crate) weights: Vec<f32>,
    /// Log-probabilities at sampling time; zero for a likelihood.
    pub(crate) old_logprobs: Vec<f32>,
}

impl Batch {
    /// Number of tokens.
    pub fn size(&self) -> usize {
        self.tokens.len()
    }

    /// The position of each sequence in the batch.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.lengths.iter().scan(0, |end, length| {
            let begin = *end;
            *end += length;
            Some(begin..*end)
        })
    }

    /// The targets, or an error if the batch does not fit a network with this vocabulary and context length.
    ///
    /// For a likelihood these are the tokens with a weight; otherwise all tokens that the policy sampled, including those
    /// with zero advantage.
    pub(crate) fn targets(
        &self,
        vocab_size: usize,
        max_length: usize,
        loss: Loss,
    ) -> Result<Targets, LearnError> {
        let size = self.size();
        let sampled = loss != Loss::Likelihood;
        let expected = if sampled { size } else { 0 };
        if size == 0
            || self.lengths.iter().sum::<usize>() != size
            || self.lengths.contains(&0)
            || self.weights.len() != size
            || self.old_logprobs.len() < expected
        {
            return Err(LearnError::Batch(format!(
                "{size} tokens and {} weights for sequences of {:?}",
                self.weights.len(),
                self.lengths
            )));
        }
        if let Some(length) = self.lengths.iter().find(|length| **length > max_length) {
            return Err(LearnError::Batch(format!(
                "a sequence of {length} tokens exceeds the maximum of {max_length}"
            )));
        }
        if let Some(token) = self.tokens.iter().find(|&&token| token as usize >= vocab_size) {
            return Err(LearnError::Batch(format!(
                "token {token} is outside the vocabulary of {vocab_size}"
            )));
        }
        let mut targets = Targets::default();
        let mut total = 0.0_f64;
        for at in self.ranges().flat_map(|range| range.skip(1)) {
            let (weight, old) = (self.weights[at], if sampled { self.old_logprobs[at] } else { 0.0 });
            if if sampled { old.is_nan() } else { weight == 0.0 } {
                continue;
            }
            if !weight.is_finite() || !old.is_finite() {
                let message = format!("token {at} has a weight of {weight} and a log-probability of {old}");
                return Err(LearnError::Batch(message));
            }
            targets.positions.push(at - 1);
            targets.tokens.push(i64::from(self.tokens[at]));
            targets.weights.push(weight);
            targets.old_logprobs.push(old);
            total += f64::from(weight.abs());
        }
        if targets.positions.is_empty() {
            return Err(LearnError::Batch("no token has a weight".to_owned()));
        }
        if !sampled {
            for weight in &mut targets.weights {
                *weight = to_f32(f64::from(*weight) / total);
            }
        }
        Ok(targets)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
fn to_f32(weight: f64) -> f32 {
    weight as f32
}

#[cfg(test)]
mod tests {
    use super::{Batch, Loss};

    #[test]
    fn only_weighted_tokens_count_and_never_the_first() {
        let weights = vec![9.0, 0.0, 1.0, 9.0, -3.0, 0.0];
        let batch =
            Batch { lengths: vec![3; 2], tokens: vec![1, 2, 3, 4, 5, 6], weights, old_logprobs: Vec::new() };
        let targets = batch.targets(7, 3, Loss::Likelihood).unwrap();
        assert_eq!(targets.positions, [1, 3]);
        assert_eq!(targets.tokens, [3, 5]);
        assert_eq!(targets.weights, [0.25, -0.75]);
    }

    #[test]
    fn a_batch_that_does_not_fit_is_refused() {
        let good =
            Batch { lengths: vec![2], tokens: vec![1, 2], weights: vec![0.0, 1.0], old_logprobs: Vec::new() };
        let loss = Loss::Likelihood;
        assert!(good.targets(3, 2, loss).is_ok());
        assert!(good.targets(2, 2, loss).is_err(), "unknown token");
        assert!(good.targets(3, 1, loss).is_err(), "too long");
        assert!(Batch { lengths: vec![2, 2], ..good.clone() }.targets(3, 2, loss).is_err(), "too few tokens");
        assert!(
            Batch { weights: vec![1.0, 0.0], ..good.clone() }.targets(3, 2, loss).is_err(),
            "nothing to learn"
        );
        assert!(Batch { weights: vec![0.0, f32::NAN], ..good }.targets(3, 2, loss).is_err(), "not a number");
    }
}
