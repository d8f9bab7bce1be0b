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
    let group = |(rollouts, novelty): (&Vec<Rollout>, &Vec<f64>)| {
        let each = rollouts.iter().zip(novelty);
        let rewards: Vec<Reward> = each
            .map(|(rollout, novelty)| Reward::of(rollout.grade.outcome, &rollout.transcript, *novelty))
            .collect();
        let totals: Vec<f64> = rewards.iter().map(Reward::total).collect();
        let advantages = objective.advantages(&totals);
        rewards
            .into_iter()
            .zip(advantages)
            .map(|(reward, advantage)| ScoredRollout { reward, advantage })
            .collect()
    };
    groups.iter().zip(novelty).map(group).collect()
}
