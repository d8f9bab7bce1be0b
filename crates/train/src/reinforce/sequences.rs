//! Turns rollouts into token sequences and batches; only tokens that the policy sampled have a weight.

use super::Rollout;
use crate::{Batch, Objective};
use aske_chat::Message;
use aske_model::ProviderError;

/// The tokens of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenSequence {
    /// The tokens.
    pub tokens: Vec<u32>,
    /// The log-probability of each when the policy sampled it; NaN for tokens it did not sample.
    pub old_logprobs: Vec<f32>,
}

impl TokenSequence {
    /// Number of tokens that the policy sampled.
    pub fn num_sampled(&self) -> usize {
        self.old_logprobs.iter().filter(|logprob| !logprob.is_nan()).count()
    }
}

/// The token sequences of a rollout.
///
/// A turn whose prompt starts with the whole previous sequence extends it, so that each token is read once. Otherwise (the
/// tokenizer re-tokenizes the policy's reply differently, or its reasoning is dropped) the turn starts a new sequence.
/// Either way every token follows exactly the context in which it was sampled.
pub fn token_sequences(
    rollout: &Rollout,
    prompt: impl Fn(&[Message]) -> Result<Vec<u32>, ProviderError>,
) -> Result<Vec<TokenSequence>, ProviderError> {
    let mut sequences: Vec<TokenSequence> = Vec::new();
    for (messages, trace) in &rollout.turns {
        let prompt = prompt(messages)?;
        let mut sequence = match sequences.pop() {
            Some(last) if prompt.starts_with(&last.tokens) => last,
            last => {
                sequences.extend(last);
                TokenSequence::default()
            }
        };
        sequence.tokens = prompt;
        sequence.old_logprobs.resize(sequence.tokens.len(), f32::NAN);
        sequence.tokens.extend_from_slice(&trace.tokens);
        sequence.old_logprobs.extend_from_slice(&trace.logprobs);
        sequences.push(sequence);
    }
    Ok(sequences)
}

/// Packs the sequences of rollouts, each with its advantage, into batches of up to `max_tokens`, but at least one sequence.
///
/// The weight of a token is its rollout's advantage times its share of the step.
pub fn pack_batches(
    rollouts: &[(Vec<TokenSequence>, f64)],
    objective: Objective,
    max_tokens: usize,
) -> Vec<Batch> {
    let sampled =
        |sequences: &[TokenSequence]| sequences.iter().map(TokenSequence::num_sampled).sum::<usize>();
    let total: usize = rollouts.iter().map(|(sequences, _)| sampled(sequences)).sum();
    let mut all: Vec<(&TokenSequence, f64)> = Vec::new();
    for (sequences, advantage) in rollouts {
        let tokens = if objective.rollout_mean { rollouts.len() * sampled(sequences) } else { total };
        all.extend(sequences.iter().map(|sequence| (sequence, advantage / tokens.max(1) as f64)));
    }
    if max_tokens > 0 {
        // Sequences of one length are computed together.
        all.sort_by_key(|(sequence, _)| sequence.tokens.len());
    }
    let mut batches: Vec<Batch> = Vec::new();
    for (sequence, weight) in all {
        let fits = |batch: &&mut Batch| batch.size() + sequence.tokens.len() <= max_tokens;
        if let Some(batch) = batches.last_mut().filter(fits) {
            push(batch, sequence, weight);
        } else {
            let mut batch = Batch::default();
            push(&mut batch, sequence, weight);
            batches.push(batch);
        }
    }
    batches
}

#[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
fn push(batch: &mut Batch, sequence: &TokenSequence, weight: f64) {
    batch.lengths.push(sequence.tokens.len());
    batch.tokens.extend_from_slice(&sequence.tokens);
    batch.old_logprobs.extend_from_slice(&sequence.old_logprobs);
    let weights = sequence.old_logprobs.iter();
    batch.weights.extend(weights.map(|logprob| if logprob.is_nan() { 0.0 } else { weight as f32 }));
}
