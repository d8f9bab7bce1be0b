//! Rewards of a step's rollouts, and the advantages that follow.

use super::Rollout;
use crate::Objective;
use aske_session::Reward;

/// A rollout's reward and how much better it is than its group's mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rewarded {
    /// The reward.
    pub reward: Reward,
    /// The advantage.
    pub advantage: f64,
}

/// The rewards of groups of rollouts; `novelty` is the ungated diversity term of each, in the same order.
pub fn rewards(groups: &[Vec<Rollout>], novelty: &[Vec<f64>], objective: Objective) -> Vec<Vec<Rewarded>> {
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
            .map(|(reward, advantage)| Rewarded { reward, advantage })
            .collect()
    };
    groups.iter().zip(novelty).map(group).collect()
}
