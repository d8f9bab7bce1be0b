//! Rewards and advantages of a step's rollouts.

use super::Rollout;
use crate::Objective;
use aske_session::Reward;

/// The reward and the advantage of a rollout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredRollout {
    /// The reward.
    pub reward: Reward,
    /// The advantage.
    pub advantage: f64,
}

/// Scores groups of rollouts; `novelty` is the ungated diversity term of each, in the same order.
pub fn score_rollouts(
    groups: &[Vec<Rollout>],
    novelty: &[Vec<f64>],
    objective: Objective,
) -> Vec<Vec<ScoredRollout>> {
    let rewards: Vec<Vec<Reward>> = groups
        .iter()
        .zip(novelty)
        .map(|(rollouts, novelty)| {
            let each = rollouts.iter().zip(novelty);
            each.map(|(rollout, novelty)| Reward::of(rollout.grade.outcome, &rollout.transcript, *novelty))
                .collect()
        })
        .collect();
    let totals: Vec<Vec<f64>> =
        rewards.iter().map(|group| group.iter().map(Reward::total).collect()).collect();
    let advantages = objective.advantages(&totals);
    let scored = |(rewards, advantages): (Vec<Reward>, Vec<f64>)| {
        let each = rewards.into_iter().zip(advantages);
        each.map(|(reward, advantage)| ScoredRollout { reward, advantage }).collect()
    };
    rewards.into_iter().zip(advantages).map(scored).collect()
}
