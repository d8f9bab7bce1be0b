//! Per-token losses and their derivatives, and the objectives built on them.

use aske_config::{PolicyLoss, ScaleRewards};

/// The loss of a batch, as a function of the log-probabilities of its targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Weighted negative log-likelihood: `Σ −weight·logp / Σ |weight|`.
    Likelihood,
    /// CISPO: `−clip(ratio)·weight·logp` with a stop-gradient on the clipped importance ratio. Every token
    /// contributes to the gradient, however far the policy has moved.
    Cispo {
        /// The ratio is clipped below at `1 − low`.
        low: f64,
        /// The ratio is clipped above at `1 + high`.
        high: f64,
    },
    /// PPO's clipped surrogate, as in GRPO and DAPO: `−min(ratio·weight, clip(ratio)·weight)`.
    Surrogate {
        /// The ratio is clipped below at `1 − low`.
        low: f64,
        /// The ratio is clipped above at `1 + high`.
        high: f64,
    },
}

/// The loss of one token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenLoss {
    /// Its value.
    pub loss: f64,
    /// Its derivative with respect to the token's log-probability.
    pub grad: f64,
    /// Importance ratio: current probability over the probability at sampling time.
    pub ratio: f64,
    /// Whether the ratio was outside the clipping range.
    pub clipped: bool,
}

impl Loss {
    /// The loss of a token with this log-probability, now and at sampling time (`old_logprob`, unused by the
    /// likelihood). The weight is the advantage times the token's share of the batch.
    pub fn token(&self, logprob: f64, old_logprob: f64, weight: f64) -> TokenLoss {
        let (low, high) = match *self {
            Self::Likelihood => {
                return TokenLoss { loss: -weight * logprob, grad: -weight, ratio: 1.0, clipped: false };
            }
            Self::Cispo { low, high } | Self::Surrogate { low, high } => (1.0 - low, 1.0 + high),
        };
        let ratio = (logprob - old_logprob).exp();
        let clamped = ratio.clamp(low, high);
        let clipped = ratio < low || ratio > high;
        let (loss, grad) = match self {
            Self::Surrogate { .. } if clamped * weight < ratio * weight => (-clamped * weight, 0.0),
            Self::Surrogate { .. } => (-ratio * weight, -ratio * weight),
            _ => (-clamped * weight * logprob, -clamped * weight),
        };
        TokenLoss { loss, grad, ratio, clipped }
    }
}

/// A policy-gradient objective: a loss, and how advantages and tokens are weighted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// The per-token loss.
    pub loss: Loss,
    /// What advantages are divided by.
    pub scale_rewards: ScaleRewards,
    /// Average over the tokens of each rollout and then over rollouts, instead of over all tokens.
    pub rollout_mean: bool,
}

/// CISPO's bounds in the paper: the importance ratio stays between 1 − 0.75 and 1 + 3.
const CISPO_CLIP: (f64, f64) = (0.75, 3.0);

impl Objective {
    /// The objective with this loss; `low` and `high` override its clipping range, and `scale_rewards` what advantages are
    /// divided by.
    ///
    /// `cispo` is the paper's. `grpo` (Shao et al. 2024) normalizes advantages, clips at 0.2 and averages per rollout;
    /// `dapo` (Yu et al. 2025) clips at 0.2 and 0.28 and averages over tokens. None has a KL term.
    pub fn new(
        loss: PolicyLoss,
        low: Option<f64>,
        high: Option<f64>,
        scale_rewards: Option<ScaleRewards>,
    ) -> Self {
        let (clip, scale, rollout_mean) = match loss {
            PolicyLoss::Cispo => (CISPO_CLIP, ScaleRewards::None, false),
            PolicyLoss::Grpo => ((0.2, 0.2), ScaleRewards::Group, true),
            PolicyLoss::Dapo => ((0.2, 0.28), ScaleRewards::Group, false),
        };
        let (low, high) = (low.unwrap_or(clip.0), high.unwrap_or(clip.1));
        let loss = match loss {
            PolicyLoss::Cispo => Loss::Cispo { low, high },
            PolicyLoss::Grpo | PolicyLoss::Dapo => Loss::Surrogate { low, high },
        };
        Self { loss, scale_rewards: scale_rewards.unwrap_or(scale), rollout_mean }
    }

    /// The advantages of the rollouts of a step, group by group: each reward minus the group mean, divided by the standard
    /// deviation that the objective asks for. Exactly zero in a group of equal rewards.
    pub fn advantages(&self, groups: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let all: Vec<f64> = groups.iter().flatten().copied().collect();
        let advantages = |rewards: &Vec<f64>| {
            // The mean of equal numbers can differ from them in the last bit.
            if rewards.iter().all(|reward| reward.to_bits() == rewards[0].to_bits()) {
                return vec![0.0; rewards.len()];
            }
            let scale = match self.scale_rewards {
                ScaleRewards::None => 1.0,
                ScaleRewards::Group => 1.0 / (standard_deviation(rewards) + STD_EPS),
                ScaleRewards::Batch => 1.0 / (standard_deviation(&all) + STD_EPS),
            };
            let mean = mean(rewards);
            rewards.iter().map(|reward| (reward - mean) * scale).collect()
        };
        groups.iter().map(advantages).collect()
    }
}

/// Added to a standard deviation before dividing by it, as in TRL.
const STD_EPS: f64 = 1e-4;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The standard deviation of a population: the root of the mean squared deviation.
fn standard_deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (squares / values.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CISPO: Loss = Loss::Cispo { low: 0.75, high: 3.0 };
    const PPO: Loss = Loss::Surrogate { low: 0.2, high: 0.28 };

    /// The derivative by finite differences; for CISPO with the ratio held constant.
    fn by_differences(loss: Loss, logp: f64, before: f64, weight: f64) -> f64 {
        let step = 1e-6;
        let value = |logp: f64| match loss {
            Loss::Cispo { .. } => -weight * logp,
            _ => loss.token(logp, before, weight).loss,
        };
        let held = match loss {
            Loss::Cispo { low, high } => (logp - before).exp().clamp(1.0 - low, 1.0 + high),
            _ => 1.0,
        };
        held * (value(logp + step) - value(logp - step)) / (2.0 * step)
    }

    #[test]
    fn grads_are_the_derivatives() {
        for loss in [Loss::Likelihood, CISPO, PPO] {
            for gap in [-3.0, -0.7, -0.1, 0.0, 0.1, 0.7, 3.0] {
                for weight in [-1.3, 0.4] {
                    let (logp, before) = (-4.0 + gap, -4.0);
                    let given = loss.token(logp, before, weight).grad;
                    let seen = by_differences(loss, logp, before, weight);
                    assert!((given - seen).abs() < 1e-6, "{loss:?} {gap} {weight}: {given} {seen}");
                }
            }
        }
    }

    #[test]
    fn the_paper_clips_the_weight_from_a_quarter_to_four_and_drops_no_token() {
        // 1 − 0.75 and 1 + 3.0.
        for (gap, weight) in [(-9.0, 0.25), (-1.0, (-1.0_f64).exp()), (1.0, 1.0_f64.exp()), (9.0, 4.0)] {
            let token = CISPO.token(-2.0 + gap, -2.0, 1.0);
            assert!((token.grad + weight).abs() < 1e-12, "{gap}");
            assert_eq!(token.clipped, gap.abs() > 2.0);
        }
    }

    #[test]
    fn the_surrogate_drops_a_token_that_has_moved_far_enough_and_no_other() {
        assert!(PPO.token(-1.0, -2.0, 1.0).grad == 0.0, "likelier than needed");
        assert!(PPO.token(-3.0, -2.0, -1.0).grad == 0.0, "rarer than needed");
        assert!(PPO.token(-3.0, -2.0, 1.0).grad != 0.0, "moved the wrong way");
        assert!(PPO.token(-1.0, -2.0, -1.0).grad != 0.0, "moved the wrong way");
    }

    /// A step of two groups with means 0.5 and 0.
    fn step() -> Vec<Vec<f64>> {
        vec![vec![1.0, 0.2, -0.2, 1.0], vec![1.0, -1.0]]
    }

    /// Each advantage is the one without division, divided by this number.
    fn divided_by(objective: Objective, divisors: [f64; 2]) {
        let plain = [vec![0.5, -0.3, -0.7, 0.5], vec![1.0, -1.0]];
        let given = objective.advantages(&step());
        for ((given, plain), divisor) in given.iter().zip(&plain).zip(divisors) {
            for (given, plain) in given.iter().zip(plain) {
                assert!((given - plain / divisor).abs() < 1e-12, "{objective:?}: {given} {plain}");
            }
        }
    }

    #[test]
    fn advantages_are_rewards_less_their_mean_over_a_standard_deviation() {
        let cispo = |scale| Objective::new(PolicyLoss::Cispo, None, None, scale);
        // Σ(r − 0.5)² / 4 = (0.25 + 0.09 + 0.49 + 0.25) / 4 = 0.27 and Σr² / 2 = 1.
        let by_group = [0.27_f64.sqrt() + 1e-4, 1.0 + 1e-4];
        // All six: the mean is 2/6, the mean square (1 + 0.04 + 0.04 + 1 + 1 + 1) / 6 = 0.68.
        let by_batch = [(0.68_f64 - 1.0 / 9.0).sqrt() + 1e-4; 2];
        divided_by(cispo(None), [1.0; 2]);
        divided_by(cispo(Some(ScaleRewards::Group)), by_group);
        divided_by(cispo(Some(ScaleRewards::Batch)), by_batch);
        for loss in [PolicyLoss::Grpo, PolicyLoss::Dapo] {
            let objective = |scale| Objective::new(loss, None, None, scale);
            divided_by(objective(None), by_group);
            divided_by(objective(Some(ScaleRewards::None)), [1.0; 2]);
        }
    }

    #[test]
    fn a_group_of_equal_rewards_has_no_advantage() {
        // (0.1 + 0.1 + 0.1) / 3 is not 0.1 in floating point.
        let groups = [vec![0.1; 3], vec![1.0, 0.0]];
        for scale in [ScaleRewards::None, ScaleRewards::Group, ScaleRewards::Batch] {
            let objective = Objective::new(PolicyLoss::Cispo, None, None, Some(scale));
            assert_eq!(objective.advantages(&groups)[0], [0.0; 3], "{scale:?}");
            assert!(objective.advantages(&groups)[1][0] > 0.0, "{scale:?}");
        }
    }
}
