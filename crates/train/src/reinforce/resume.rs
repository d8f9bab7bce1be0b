//! Resumes training from the latest intact checkpoint whose next step has all of its rollouts.

use super::checkpoint::{self, Checkpoint, CheckpointError};
use super::trainer::StepRollouts;
use super::{TrainError, TrainObserver, Trainer};
use crate::{LearnError, Policy};
use aske_diversity::{NoveltyBuffer, NoveltyError};
use std::path::{Path, PathBuf};

/// Why training does not resume from a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// It is damaged, and was renamed.
    #[error("it is damaged ({reason}) and is now {}", aside.display())]
    Damaged {
        /// What is wrong.
        reason: String,
        /// Its new name.
        aside: PathBuf,
    },
    /// It ended a shorter training; the next step's rollouts come from the weights before it.
    #[error("it ended a shorter training")]
    EndOfShorterTraining,
    /// Rollouts of the next step are missing or incomplete.
    #[error("{missing} of {of} rollouts of step {step} are not in the folder; they are sampled again")]
    MissingRollouts {
        /// The next step.
        step: u64,
        /// Number of missing rollouts.
        missing: usize,
        /// Number of rollouts of the step.
        of: usize,
    },
}

/// Where training continues.
pub(super) struct ResumePoint {
    /// Steps taken.
    pub(super) step: u64,
    /// The rollouts of the next step; `None` after the last step.
    pub(super) rollouts: Option<StepRollouts>,
}

impl Trainer<'_> {
    /// Restores the latest checkpoint from which training continues exactly as if it had not been interrupted.
    ///
    /// `None` if there is no such checkpoint: then training starts over and reuses stored replies.
    pub(super) fn resume(
        &self,
        policy: &mut dyn Policy,
        buffer: &mut NoveltyBuffer,
        observer: &dyn TrainObserver,
    ) -> Result<Option<ResumePoint>, TrainError> {
        for path in checkpoint::latest_first(&self.checkpoints()) {
            let reason = match self.resume_from(&path, policy, buffer) {
                Ok(point) => {
                    observer.resumed(&path);
                    return Ok(Some(point));
                }
                Err(CheckpointError::Damaged(reason)) => {
                    ResumeError::Damaged { reason, aside: checkpoint::set_aside(&path)? }
                }
                Err(CheckpointError::Unsuitable(reason)) => reason,
                Err(CheckpointError::Fatal(error)) => return Err(error),
            };
            observer.checkpoint_skipped(&path, &reason);
        }
        Ok(None)
    }

    fn resume_from(
        &self,
        path: &Path,
        policy: &mut dyn Policy,
        buffer: &mut NoveltyBuffer,
    ) -> Result<ResumePoint, CheckpointError> {
        let found = checkpoint::read(path)?;
        let rollouts = self.stored_rollouts(&found)?;
        self.restore(path, &found, policy, buffer)?;
        Ok(ResumePoint { step: found.progress.step, rollouts })
    }

    /// The rollouts of the step after a checkpoint, or why they must be sampled again.
    fn stored_rollouts(&self, found: &Checkpoint) -> Result<Option<StepRollouts>, CheckpointError> {
        let (step, pending) = (found.progress.step, &found.progress.pending);
        if step > self.config.steps {
            return Err(TrainError::FewerSteps { taken: step, steps: self.config.steps }.into());
        }
        if step == self.config.steps {
            return Ok(None);
        }
        if pending.is_empty() {
            return Err(CheckpointError::Unsuitable(ResumeError::EndOfShorterTraining));
        }
        let planned = self.schedule.step(step);
        let (groups, missing) = self.sampler.stored(&planned, pending).map_err(TrainError::from)?;
        if missing > 0 {
            let reason = ResumeError::MissingRollouts { step: step + 1, missing, of: pending.len() };
            return Err(CheckpointError::Unsuitable(reason));
        }
        let all: usize = planned.iter().map(|group| group.sessions.len()).sum();
        Ok(Some(StepRollouts { groups, failures: all.saturating_sub(pending.len()) }))
    }

    /// Restores policy and buffer from a checkpoint.
    fn restore(
        &self,
        path: &Path,
        found: &Checkpoint,
        policy: &mut dyn Policy,
        buffer: &mut NoveltyBuffer,
    ) -> Result<(), CheckpointError> {
        let read = NoveltyBuffer::from_bytes(&found.buffer, &self.embedder).map_err(|error| match error {
            NoveltyError::Saved(reason) => CheckpointError::Damaged(reason),
            error => CheckpointError::Fatal(error.into()),
        })?;
        policy.load_checkpoint(path).map_err(|error| match error {
            // Not caused by the files.
            LearnError::Device(_) | LearnError::Library { library: "libtorch", .. } => {
                CheckpointError::Fatal(error.into())
            }
            error => CheckpointError::Damaged(error.to_string()),
        })?;
        *buffer = read;
        Ok(())
    }
}
