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
    /// Restores the latest checkpoint from which this training can go on exactly as if it had never stopped.
    ///
    /// None where there is none: then it begins again, with the replies that are stored.
    pub(super) fn resume(
        &self,
        policy: &mut dyn Policy,
        buffer: &mut NoveltyBuffer,
        observer: &dyn TrainObserver,
    ) -> Result<Option<ResumePoint>, TrainError> {
        for path in checkpoint::latest_first(&self.checkpoints()) {
            let set_aside = |reason: String| {
                let aside = checkpoint::set_aside(&path)?;
                observer.checkpoint_skipped(&path, &ResumeError::Damaged { reason, aside });
                Ok::<_, TrainError>(())
            };
            let found = match checkpoint::read(&path) {
                Ok(found) => found,
                Err(CheckpointError::Damaged(reason)) => {
                    set_aside(reason)?;
                    continue;
                }
                Err(CheckpointError::Unreadable(error)) => return Err(error),
            };
            let rollouts = match self.stored_rollouts(&found)? {
                Ok(rollouts) => rollouts,
                Err(why) => {
                    observer.checkpoint_skipped(&path, &why);
                    continue;
                }
            };
            if let Err(reason) = self.restore(&path, &found, policy, buffer)? {
                set_aside(reason)?;
                continue;
            }
            observer.resumed(&path);
            return Ok(Some(ResumePoint { step: found.progress.step, rollouts }));
        }
        Ok(None)
    }

    /// The rollouts of the step after a checkpoint, or why they must be sampled again.
    fn stored_rollouts(
        &self,
        found: &Checkpoint,
    ) -> Result<Result<Option<StepRollouts>, ResumeError>, TrainError> {
        let (step, pending) = (found.progress.step, &found.progress.pending);
        if step > self.config.steps {
            return Err(TrainError::FewerSteps { taken: step, steps: self.config.steps });
        }
        if step == self.config.steps {
            return Ok(Ok(None));
        }
        if pending.is_empty() {
            return Ok(Err(ResumeError::EndOfShorterTraining));
        }
        let planned = self.schedule.step(step);
        let (groups, missing) = self.sampler.stored(&planned, pending)?;
        if missing > 0 {
            return Ok(Err(ResumeError::MissingRollouts { step: step + 1, missing, of: pending.len() }));
        }
        let all: usize = planned.iter().map(|group| group.sessions.len()).sum();
        Ok(Ok(Some(StepRollouts { groups, failures: all.saturating_sub(pending.len()) })))
    }

    /// Restores policy and buffer from a checkpoint, or returns the reason why it is damaged.
    fn restore(
        &self,
        path: &Path,
        found: &Checkpoint,
        policy: &mut dyn Policy,
        buffer: &mut NoveltyBuffer,
    ) -> Result<Result<(), String>, TrainError> {
        let read = match NoveltyBuffer::from_bytes(&found.buffer, &self.embedder) {
            Ok(read) => read,
            Err(NoveltyError::Saved(reason)) => return Ok(Err(reason)),
            Err(error) => return Err(error.into()),
        };
        match policy.load_checkpoint(path) {
            Ok(()) => {}
            // Not caused by the files.
            Err(error @ (LearnError::Device(_) | LearnError::Library { library: "libtorch", .. })) => {
                return Err(error.into());
            }
            Err(error) => return Ok(Err(error.to_string())),
        }
        *buffer = read;
        Ok(Ok(()))
    }
}
