//! From conversations to rows of tokens in which only what the policy wrote counts.

use super::Rollout;
use crate::{Batch, Objective};
use aske_chat::Message;
use aske_model::ProviderError;

/// A text that the policy has read and written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The tokens.
    pub tokens: Vec<u32>,
    /// The log-probability of each when the policy sampled it; not a number where it did not write it.
    pub before: Vec<f32>,
}

impl Row {
    fn read(&mut self, tokens: &[u32]) {
        self.tokens.extend_from_slice(tokens);
        self.before.resize(self.tokens.len(), f32::NAN);
    }

    /// Tokens that the policy wrote.
    pub fn own(&self) -> usize {
        self.before.iter().filter(|before| !before.is_nan()).count()
    }
}

/// The rows of a rollout.
///
/// A turn whose prompt begins with all that came before goes on in the same row, so that each token is read once;
/// where a tokenizer reads the policy's own words otherwise than it wrote them, or the conversation is shown without
/// its thinking, a turn is a row of its own. Either way every token stands after exactly what the policy saw.
pub fn rows(
    rollout: &Rollout,
    prompt: impl Fn(&[Message]) -> Result<Vec<u32>, ProviderError>,
) -> Result<Vec<Row>, ProviderError> {
    let mut rows: Vec<Row> = Vec::new();
    for (messages, trace) in &rollout.turns {
        let read = prompt(messages)?;
        match rows.last_mut() {
            Some(row) if read.starts_with(&row.tokens) => row.read(&read[row.tokens.len()..]),
            _ => {
                rows.push(Row::default());
                if let Some(row) = rows.last_mut() {
                    row.read(&read);
                }
            }
        }
        if let Some(row) = rows.last_mut() {
            row.tokens.extend_from_slice(&trace.tokens);
            row.before.extend_from_slice(&trace.logprobs);
        }
    }
    Ok(rows)
}

/// Batches of rows, each rollout's with its advantage.
///
/// Rows of about one length come together, as many as fit into `room` tokens, filling included; at least one. A
/// token's weight is its rollout's advantage times its share of the whole step: the same for every token, or for
/// every rollout.
pub fn batches(rollouts: &[(Vec<Row>, f64)], objective: Objective, room: usize) -> Vec<Batch> {
    let own = |rows: &[Row]| rows.iter().map(Row::own).sum::<usize>();
    let total: usize = rollouts.iter().map(|(rows, _)| own(rows)).sum();
    let mut all: Vec<(&Row, f64)> = Vec::new();
    for (rows, advantage) in rollouts {
        let share = if objective.by_rollout { rollouts.len() * own(rows) } else { total };
        all.extend(rows.iter().map(|row| (row, advantage / share.max(1) as f64)));
    }
    if room > 0 {
        all.sort_by_key(|(row, _)| row.tokens.len());
    }
    let mut batches: Vec<Batch> = Vec::new();
    let mut group: Vec<(&Row, f64)> = Vec::new();
    for row in all {
        let longest = group.iter().chain([&row]).map(|(row, _)| row.tokens.len()).max().unwrap_or(0);
        if !group.is_empty() && (group.len() + 1) * longest > room {
            batches.push(filled(&group));
            group.clear();
        }
        group.push(row);
    }
    if !group.is_empty() {
        batches.push(filled(&group));
    }
    batches
}

#[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
fn filled(rows: &[(&Row, f64)]) -> Batch {
    let length = rows.iter().map(|(row, _)| row.tokens.len()).max().unwrap_or(0);
    let mut batch = Batch { rows: rows.len(), length, ..Batch::default() };
    for (end, (row, weight)) in (1..).map(|count| count * length).zip(rows) {
        batch.tokens.extend_from_slice(&row.tokens);
        batch.before.extend_from_slice(&row.before);
        batch
            .weights
            .extend(row.before.iter().map(|before| if before.is_nan() { 0.0 } else { *weight as f32 }));
        batch.tokens.resize(end, 0);
        batch.before.resize(end, f32::NAN);
        batch.weights.resize(end, 0.0);
    }
    batch
}
