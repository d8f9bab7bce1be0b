//! The losses, token by token: what a log-probability costs, and which way it should move.

use crate::LearnError;

/// How a batch is learnt from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Likelihood: `Σ −weight·logp / Σ |weight|`.
    Likelihood,
    /// CISPO: `−clip(ratio)·weight·logp`, the clipped importance ratio held constant. Every token keeps a
    /// gradient, however far the policy has moved.
    Cispo {
        /// The ratio is at least `1 − low`.
        low: f64,
        /// The ratio is at most `1 + high`.
        high: f64,
    },
    /// PPO's clipped surrogate, as in GRPO and DAPO: `−min(ratio·weight, clip(ratio)·weight)`.
    Surrogate {
        /// The ratio is at least `1 − low`.
        low: f64,
        /// The ratio is at most `1 + high`.
        high: f64,
    },
}

/// One token's part of the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenLoss {
    /// Its value.
    pub loss: f64,
    /// Its derivative by the token's log-probability.
    pub slope: f64,
    /// How much likelier the token is now than when it was sampled.
    pub ratio: f64,
    /// The ratio lay outside the bounds.
    pub clipped: bool,
}

impl Loss {
    /// The loss of a token of this log-probability, which was `before` when it was sampled.
    ///
    /// The weight is the advantage times the token's share of the batch; a likelihood has no `before`.
    pub fn token(&self, logp: f64, before: f64, weight: f64) -> TokenLoss {
        let (low, high) = match *self {
            Self::Likelihood => {
                return TokenLoss { loss: -weight * logp, slope: -weight, ratio: 1.0, clipped: false };
            }
            Self::Cispo { low, high } | Self::Surrogate { low, high } => (1.0 - low, 1.0 + high),
        };
        let ratio = (logp - before).exp();
        let bounded = ratio.clamp(low, high);
        let clipped = ratio < low || ratio > high;
        let (loss, slope) = match self {
            Self::Surrogate { .. } if bounded * weight < ratio * weight => (-bounded * weight, 0.0),
            Self::Surrogate { .. } => (-ratio * weight, -ratio * weight),
            _ => (-bounded * weight * logp, -bounded * weight),
        };
        TokenLoss { loss, slope, ratio, clipped }
    }
}

/// A loss by name, with all that goes with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// What a token costs.
    pub loss: Loss,
    /// Advantages are divided by the standard deviation of their group.
    pub scaled: bool,
    /// Every rollout weighs the same, however long; else every token does.
    pub by_rollout: bool,
}

impl Objective {
    /// The objective of this name; bounds that are given replace its own.
    ///
    /// `cispo` is the paper's. `grpo` (Shao et al. 2024) scales advantages, clips at 0.2 and weighs rollouts
    /// alike; `dapo` (Yu et al. 2025) clips at 0.2 and 0.28 and weighs tokens alike. None has a KL term.
    pub fn named(name: &str, low: Option<f64>, high: Option<f64>) -> Result<Self, LearnError> {
        let bounds = |usual: (f64, f64)| (low.unwrap_or(usual.0), high.unwrap_or(usual.1));
        match name {
            "cispo" => {
                let (low, high) = bounds((0.75, 3.0));
                Ok(Self { loss: Loss::Cispo { low, high }, scaled: false, by_rollout: false })
            }
            "grpo" => {
                let (low, high) = bounds((0.2, 0.2));
                Ok(Self { loss: Loss::Surrogate { low, high }, scaled: true, by_rollout: true })
            }
            "dapo" => {
                let (low, high) = bounds((0.2, 0.28));
                Ok(Self { loss: Loss::Surrogate { low, high }, scaled: true, by_rollout: false })
            }
            _ => Err(LearnError::Loss(name.to_owned())),
        }
    }

    /// The advantages of a group: each reward less the group's mean.
    pub fn advantages(&self, rewards: &[f64]) -> Vec<f64> {
        let count = rewards.len().max(1) as f64;
        let mean = rewards.iter().sum::<f64>() / count;
        let variance = rewards.iter().map(|reward| (reward - mean).powi(2)).sum::<f64>() / count;
        // GRPO's own guard against a group of equal rewards.
        let scale = if self.scaled { 1.0 / (variance.sqrt() + 1e-4) } else { 1.0 };
        rewards.iter().map(|reward| (reward - mean) * scale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CISPO: Loss = Loss::Cispo { low: 0.75, high: 3.0 };
    const PPO: Loss = Loss::Surrogate { low: 0.2, high: 0.28 };

    /// The derivative of the loss by differences; of CISPO with the ratio held at its value.
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
    fn slopes_are_the_derivatives() {
        for loss in [Loss::Likelihood, CISPO, PPO] {
            for gap in [-3.0, -0.7, -0.1, 0.0, 0.1, 0.7, 3.0] {
                for weight in [-1.3, 0.4] {
                    let (logp, before) = (-4.0 + gap, -4.0);
                    let told = loss.token(logp, before, weight).slope;
                    let seen = by_differences(loss, logp, before, weight);
                    assert!((told - seen).abs() < 1e-6, "{loss:?} {gap} {weight}: {told} {seen}");
                }
            }
        }
    }

    #[test]
    fn the_paper_clips_the_weight_from_a_quarter_to_four_and_drops_no_token() {
        // 1 − 0.75 and 1 + 3.0.
        for (gap, weight) in [(-9.0, 0.25), (-1.0, (-1.0_f64).exp()), (1.0, 1.0_f64.exp()), (9.0, 4.0)] {
            let token = CISPO.token(-2.0 + gap, -2.0, 1.0);
            assert!((token.slope + weight).abs() < 1e-12, "{gap}");
            assert_eq!(token.clipped, gap.abs() > 2.0);
        }
    }

    #[test]
    fn the_surrogate_drops_a_token_that_has_moved_far_enough_and_no_other() {
        assert!(PPO.token(-1.0, -2.0, 1.0).slope == 0.0, "likelier than needed");
        assert!(PPO.token(-3.0, -2.0, -1.0).slope == 0.0, "rarer than needed");
        assert!(PPO.token(-3.0, -2.0, 1.0).slope != 0.0, "moved the wrong way");
        assert!(PPO.token(-1.0, -2.0, -1.0).slope != 0.0, "moved the wrong way");
    }

    #[test]
    fn advantages_are_rewards_less_their_mean() {
        let cispo = Objective::named("cispo", None, None).unwrap();
        assert_eq!(cispo.advantages(&[1.0, 0.2, -0.2, 1.0]), [0.5, -0.3, -0.7, 0.5]);
        let grpo = Objective::named("grpo", None, None).unwrap();
        let scaled = grpo.advantages(&[3.0, 1.0]);
        assert!((scaled[0] - 1.0).abs() < 1e-3 && (scaled[0] + scaled[1]).abs() < 1e-12);
        assert!(grpo.advantages(&[0.2; 5]).iter().all(|advantage| *advantage == 0.0));
        assert!(Objective::named("ppo", None, None).is_err());
    }
}
