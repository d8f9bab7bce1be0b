//! The training reward of a finished session.

use crate::{Outcome, Transcript};
use serde::{Deserialize, Serialize};

/// What an asker turn without all its sections costs.
const MISSING_TAG: f64 = -0.05;

/// The three components; the reward is their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reward {
    /// +1.0 calibrated, +0.2 too easy, −0.2 otherwise.
    pub calibration: f64,
    /// −0.05 for each asker turn that lacks a required tag.
    pub format: f64,
    /// The diversity bonus, gated by the calibration reward.
    pub diversity: f64,
}

impl Reward {
    /// The reward of a session with this outcome; `novelty` is the ungated diversity term.
    pub fn of(outcome: Outcome, transcript: &Transcript, novelty: f64) -> Self {
        let calibration = match outcome {
            Outcome::Calibrated => 1.0,
            Outcome::TooEasy => 0.2,
            // The paper names only too hard here; silence and unstable questions must not pay more.
            Outcome::TooHard | Outcome::NoQuestion | Outcome::BadCrossCheck => -0.2,
        };
        let faulty = transcript.turns.iter().filter(|turn| !turn.missing.is_empty()).count();
        Self { calibration, format: MISSING_TAG * faulty as f64, diversity: 0.0 }.with_novelty(novelty)
    }

    /// The same session with this ungated diversity term.
    #[must_use]
    pub fn with_novelty(self, novelty: f64) -> Self {
        Self { diversity: novelty * self.calibration.max(0.0), ..self }
    }

    /// The sum of the components.
    pub fn total(&self) -> f64 {
        self.calibration + self.format + self.diversity
    }
}
