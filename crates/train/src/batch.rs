//! What a learner learns from: rows of tokens, and how much each one counts.

use crate::{LearnError, Loss};

/// Rows of tokens, all of one length, and how much each token counts.
///
/// Short rows are filled at the end, with weights of nought: attention looks back only, so what follows the last
/// weighted token changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// How many rows.
    pub rows: usize,
    /// Tokens in each row.
    pub length: usize,
    /// The tokens, row after row.
    pub tokens: Vec<u32>,
    /// The weight of predicting each token from what stands before it, row after row.
    ///
    /// May be negative. The first of each row is ignored: nothing stands before it.
    pub weights: Vec<f32>,
    /// The log-probability of each token when the policy sampled it, row after row; not a number where the policy
    /// did not write the token. Empty where nothing was sampled.
    pub before: Vec<f32>,
}

/// The predictions of a batch that count.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Targets {
    /// Where each is made: the place of the token before, counted over all rows.
    pub(crate) places: Vec<i64>,
    /// What should be predicted there.
    pub(crate) tokens: Vec<i64>,
    /// How much it counts; of a likelihood scaled so that the absolute values sum to one.
    pub(crate) weights: Vec<f32>,
    /// Its log-probability when it was sampled; of a likelihood nought.
    pub(crate) before: Vec<f32>,
}

impl Batch {
    /// How many tokens are in the batch, filling included.
    pub fn size(&self) -> usize {
        self.rows * self.length
    }

    /// The predictions that count, or why the batch cannot be used with a network of this shape.
    ///
    /// For a likelihood those with a weight; else all that the policy wrote, also those without an advantage.
    pub(crate) fn targets(
        &self,
        vocabulary: usize,
        longest: usize,
        loss: Loss,
    ) -> Result<Targets, LearnError> {
        let size = self.size();
        let sampled = loss != Loss::Likelihood;
        let befores = if sampled { size } else { 0 };
        if size == 0 || self.tokens.len() != size || self.weights.len() != size || self.before.len() < befores
        {
            return Err(LearnError::Batch(format!(
                "{} tokens and {} weights for {} rows of {}",
                self.tokens.len(),
                self.weights.len(),
                self.rows,
                self.length
            )));
        }
        if self.length > longest {
            return Err(LearnError::Batch(format!("rows of {} tokens, at most {longest} fit", self.length)));
        }
        if let Some(token) = self.tokens.iter().find(|&&token| token as usize >= vocabulary) {
            return Err(LearnError::Batch(format!("token {token} of a vocabulary of {vocabulary}")));
        }
        let mut targets = Targets::default();
        let mut total = 0.0_f64;
        for (at, place) in (0..size).zip(0_i64..).filter(|(at, _)| !at.is_multiple_of(self.length)) {
            let (weight, before) = (self.weights[at], if sampled { self.before[at] } else { 0.0 });
            if if sampled { before.is_nan() } else { weight == 0.0 } {
                continue;
            }
            if !weight.is_finite() || !before.is_finite() {
                let row = at / self.length;
                return Err(LearnError::Batch(format!("a weight of {weight}, before {before} in row {row}")));
            }
            targets.places.push(place - 1);
            targets.tokens.push(i64::from(self.tokens[at]));
            targets.weights.push(weight);
            targets.before.push(before);
            total += f64::from(weight.abs());
        }
        if targets.places.is_empty() {
            return Err(LearnError::Batch("no token has a weight".to_owned()));
        }
        if !sampled {
            for weight in &mut targets.weights {
                *weight = narrow(f64::from(*weight) / total);
            }
        }
        Ok(targets)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a share of one fits well enough")]
fn narrow(share: f64) -> f32 {
    share as f32
}

#[cfg(test)]
mod tests {
    use super::{Batch, Loss};

    #[test]
    fn only_weighted_tokens_count_and_never_the_first() {
        let weights = vec![9.0, 0.0, 1.0, 9.0, -3.0, 0.0];
        let batch = Batch { rows: 2, length: 3, tokens: vec![1, 2, 3, 4, 5, 6], weights, before: Vec::new() };
        let targets = batch.targets(7, 3, Loss::Likelihood).unwrap();
        assert_eq!(targets.places, [1, 3]);
        assert_eq!(targets.tokens, [3, 5]);
        assert_eq!(targets.weights, [0.25, -0.75]);
    }

    #[test]
    fn a_batch_that_does_not_fit_is_refused() {
        let good =
            Batch { rows: 1, length: 2, tokens: vec![1, 2], weights: vec![0.0, 1.0], before: Vec::new() };
        let likely = Loss::Likelihood;
        assert!(good.targets(3, 2, likely).is_ok());
        assert!(good.targets(2, 2, likely).is_err(), "unknown token");
        assert!(good.targets(3, 1, likely).is_err(), "too long");
        assert!(Batch { rows: 2, ..good.clone() }.targets(3, 2, likely).is_err(), "too few tokens");
        assert!(
            Batch { weights: vec![1.0, 0.0], ..good.clone() }.targets(3, 2, likely).is_err(),
            "nothing to learn"
        );
        assert!(
            Batch { weights: vec![0.0, f32::NAN], ..good }.targets(3, 2, likely).is_err(),
            "not a number"
        );
    }
}
